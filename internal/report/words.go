package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// against is an adversary of the statement in words.
func against(adversary string) string {
	switch adversary {
	case "server":
		return "the server"
	case "clients":
		return "the other clients"
	case "public":
		return "those who see only the models"
	}
	return adversary
}

// protects is a unit of privacy in words.
func protects(unit string) string {
	switch unit {
	case "client":
		return "one client"
	case "record":
		return "one record"
	}
	return unit
}

// roundUp writes a privacy parameter with three digits, never below its value: 2.9812 is 2.99, and 1e-5 stays 1e-5.
// It works on the decimal digits, because in binary 2.99 would be a little more than 2.99 and come out as 3.00.
func roundUp(v float64) string {
	if v == 0 {
		return "0"
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	exponent, err := strconv.Atoi(power)
	if err != nil {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	const keep = 3
	if len(digits) > keep {
		n, err := strconv.Atoi(digits[:keep])
		if err != nil {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		digits = strconv.Itoa(n + 1) // the shortest digits end in one that is not zero: something is cut off, so go up
		if len(digits) > keep {
			exponent++
			digits = digits[:keep]
		}
	}
	return place(digits, exponent)
}

// place sets the decimal point: digits "299" with exponent 0 are 2.99. Small and large values get an exponent.
func place(digits string, exponent int) string {
	if exponent < -3 || exponent > 6 {
		digits = strings.TrimRight(digits, "0")
		mantissa := digits[:min(1, len(digits))]
		if len(digits) > 1 {
			mantissa += "." + digits[1:]
		}
		return mantissa + "e" + strconv.Itoa(exponent)
	}
	if exponent < 0 {
		return "0." + strings.Repeat("0", -exponent-1) + strings.TrimRight(digits, "0")
	}
	if whole := exponent + 1; len(digits) <= whole {
		return digits + strings.Repeat("0", whole-len(digits))
	}
	return digits[:exponent+1] + "." + digits[exponent+1:]
}

// percent writes a fraction as per cent.
func percent(v float64) string {
	if math.IsNaN(v) {
		return "not measured"
	}
	return strconv.FormatFloat(100*v, 'f', 2, 64) + "%"
}

// plain writes a measured number with four digits.
func plain(v float64) string {
	switch {
	case math.IsNaN(v):
		return "not measured"
	case math.IsInf(v, 0):
		return "infinite"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// duration writes seconds as people say them.
func duration(seconds float64) string {
	switch {
	case seconds < 60:
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	case seconds < 3600:
		whole := int(math.Round(seconds))
		return fmt.Sprintf("%d min %d s", whole/60, whole%60)
	}
	minutes := int(math.Round(seconds / 60))
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}

// size writes a number of bytes, in powers of a thousand and exactly.
func size(n int64) string {
	exact := grouped(n) + " bytes"
	if n < 1000 {
		return exact
	}
	v, units := float64(n), []string{"", "kB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + units[i] + " (" + exact + ")"
}

// grouped sets commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// reason makes a reason end in one full stop.
func reason(why string) string {
	why = strings.TrimRight(strings.TrimSpace(why), ".")
	if why == "" {
		return "the run recorded no reason."
	}
	return why + "."
}
