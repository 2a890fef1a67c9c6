package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// maxSteps is how many steps an axis is divided into at most.
const maxSteps = 5

// step is a distance between ticks: 1, 2 or 5 times a power of ten. It is kept as two whole numbers so that the third tenth
// is 3/10 and not 0.30000000000000004.
type step struct {
	factor   float64 // 1, 2 or 5
	exponent int
}

// stepFor is the smallest step that divides the span into at most maxSteps parts.
func stepFor(span float64, whole bool) step {
	exponent := int(math.Floor(math.Log10(span / maxSteps)))
	if whole && exponent < 0 {
		exponent = 0
	}
	for {
		for _, factor := range []float64{1, 2, 5} {
			s := step{factor, exponent}
			if s.count(span) <= maxSteps*(1+1e-9) {
				return s
			}
		}
		exponent++
	}
}

// count is how many steps a value is from zero.
func (s step) count(v float64) float64 {
	if s.exponent < 0 {
		return v * math.Pow10(-s.exponent) / s.factor
	}
	return v / math.Pow10(s.exponent) / s.factor
}

// at is the value n steps from zero.
func (s step) at(n float64) float64 {
	if s.exponent < 0 {
		return n * s.factor / math.Pow10(-s.exponent)
	}
	return n * s.factor * math.Pow10(s.exponent)
}

// linearTicks marks the multiples of one step.
func linearTicks(low, high float64, whole bool) []plot.Tick {
	s := stepFor(high-low, whole)
	extent := max(math.Abs(low), math.Abs(high))
	label := labels(extent, extent)
	var ticks []plot.Tick
	first, last := math.Ceil(s.count(low)-1e-9), math.Floor(s.count(high)+1e-9)
	for n := first; n <= last; n++ {
		v := s.at(n)
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v, s.exponent)})
	}
	return ticks
}

// logTicks marks powers of ten, some of them left out when there are many; below two decades, or where fewer than three powers lie in
// the range, it marks 1-2-5 steps, and where even those are fewer than three it marks even steps as on a linear axis.
func logTicks(low, high float64) []plot.Tick {
	decades := math.Log10(high) - math.Log10(low)
	every := max(1, int(math.Ceil(decades/7)))
	label := labels(low, high)
	marks := func(factors ...float64) (ticks []plot.Tick) {
		for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
			if decades >= 2 && e%every != 0 {
				continue
			}
			for _, f := range factors {
				if v := (step{f, e}).at(1); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
					ticks = append(ticks, plot.Tick{Value: v, Label: label(v, e)})
				}
			}
		}
		return ticks
	}
	if ticks := marks(1); decades >= 2 && len(ticks) >= 3 {
		return ticks
	}
	if ticks := marks(1, 2, 5); len(ticks) >= 3 {
		return ticks
	}
	return linearTicks(low, high, false)
}

// labels chooses how all ticks of one axis are written: plainly, or as 2e-5 where the smallest or the largest of them would
// be a long row of zeros. The second argument of what it returns is the place of the last digit that matters.
func labels(smallest, largest float64) func(v float64, exponent int) string {
	if smallest < 1e-3 || largest >= 1e7 {
		return scientific
	}
	return func(v float64, exponent int) string {
		return grouped(strconv.FormatFloat(v+0, 'f', max(0, -exponent), 64)) // + 0 turns -0 into 0
	}
}

// scientific writes 2e-5 and not 2e-05, with the digits down to the place of the given exponent, less the zeros at the end.
func scientific(v float64, exponent int) string {
	if v == 0 {
		return "0"
	}
	digits := int(math.Floor(math.Log10(math.Abs(v))+1e-9)) - exponent
	s := strconv.FormatFloat(v, 'e', min(max(digits, 0), 15), 64)
	mantissa, power, _ := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	sign := strings.TrimPrefix(power[:1], "+")
	if power = strings.TrimLeft(power[1:], "0"); power == "" {
		return mantissa
	}
	return mantissa + "e" + sign + power
}

// grouped sets a comma between thousands from 10,000 on.
func grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, dotted := strings.Cut(s, ".")
	if len(whole) > 4 {
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
	}
	if dotted {
		return sign + whole + "." + fraction
	}
	return sign + whole
}

// value writes a number for a sentence: four digits are enough to read, and a count is never rounded.
func value(v float64) string {
	magnitude := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case magnitude < 1e-4 || magnitude >= 1e7:
		place := int(math.Floor(math.Log10(magnitude)))
		return scientific(v, place-3)
	case v == math.Trunc(v) || magnitude >= 1e4:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	places := 3 - int(math.Floor(math.Log10(magnitude)))
	return decimals(v, places)
}
