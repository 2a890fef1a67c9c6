package strictyaml

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxWhole is 2^53: up to here a float64, and so every reader of JSON, holds each whole number exactly.
const maxWhole = 1 << 53

// The forms of the YAML 1.2 core schema (section 10.3.2), which readers agree on, and those they do not.
var (
	numberForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	digitsForm = regexp.MustCompile(`^[-+]?[0-9]+$`)
	paddedForm = regexp.MustCompile(`^[-+]?0[0-9]`)
	basedForm  = regexp.MustCompile(`^[-+]?0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)$`)
	notFinite  = regexp.MustCompile(`^(?i)[-+]?\.?(nan|inf|infinity)$`)
)

// readAs says how YAML reads a plain scalar.
func readAs(text string) string {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return "null"
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "true or false"
	}
	dotted := strings.TrimLeft(text, "+-")
	if numberForm.MatchString(text) || basedForm.MatchString(text) ||
		strings.HasPrefix(dotted, ".") && notFinite.MatchString(text) {
		return "a number"
	}
	return "text"
}

// refusal is why a scalar was not taken.
type refusal struct{ rule, guess string }

// parseReal reads a finite number.
func parseReal(n *node) (float64, *refusal) {
	if why := notDecimal(n, "a number"); why != nil {
		return 0, why
	}
	x, err := strconv.ParseFloat(n.text, 64)
	if err != nil || math.IsInf(x, 0) {
		return 0, &refusal{rule: fmt.Sprintf("is too large: the largest number is %g", math.MaxFloat64)}
	}
	// A delta that silently became zero would be a different experiment.
	mantissa, _, _ := strings.Cut(strings.ToLower(n.text), "e")
	if x == 0 && strings.ContainsAny(mantissa, "123456789") {
		return 0, &refusal{rule: fmt.Sprintf("is too close to zero: the smallest number is %g", math.SmallestNonzeroFloat64)}
	}
	return x, nil
}

// parseWhole reads a whole number, however it is written.
func parseWhole(n *node) (int64, *refusal) {
	if why := notDecimal(n, "a whole number"); why != nil {
		return 0, why
	}
	tooLarge := &refusal{rule: "is too large: whole numbers go up to 2^53 = 9007199254740992"}
	if digitsForm.MatchString(n.text) {
		whole, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil || whole > maxWhole || whole < -maxWhole {
			return 0, tooLarge
		}
		return whole, nil
	}
	x, why := parseReal(n)
	if why != nil {
		return 0, why
	}
	if x != math.Trunc(x) {
		return 0, &refusal{rule: "is not a whole number"}
	}
	if math.Abs(x) > maxWhole {
		return 0, tooLarge
	}
	return int64(x), nil
}

// notDecimal explains why a scalar is not a decimal number, or returns nil.
func notDecimal(n *node, wanted string) *refusal {
	if n.form == quoted {
		why := &refusal{rule: "is text, not " + wanted}
		if numberForm.MatchString(n.text) {
			why.guess = "remove the quotes"
		}
		return why
	}
	if numberForm.MatchString(n.text) {
		if paddedForm.MatchString(n.text) {
			return &refusal{rule: "must not start with 0: some readers take that for octal"}
		}
		return nil
	}
	if notFinite.MatchString(n.text) {
		return &refusal{rule: "is not a finite number"}
	}
	if basedForm.MatchString(n.text) {
		return &refusal{rule: "is not decimal: write the number in decimal digits"}
	}
	if bare := strings.ReplaceAll(n.text, "_", ""); bare != n.text && numberForm.MatchString(bare) {
		return &refusal{"must not have underscores", "write " + shorten(bare)}
	}
	return &refusal{rule: "is not " + wanted}
}

// parseTruth reads true or false; the yes, no, on and off of YAML 1.1 are refused, with a guess.
func parseTruth(n *node) (bool, *refusal) {
	word := strings.ToLower(n.text)
	if n.form == plain && readAs(n.text) == "true or false" {
		return word == "true", nil
	}
	why := &refusal{rule: "is not true or false"}
	switch word {
	case "yes", "on", "y", "1", "true":
		why.guess = "did you mean true?"
	case "no", "off", "n", "0", "false":
		why.guess = "did you mean false?"
	}
	return false, why
}

// parseText reads text; what YAML reads as something else needs quotes, except on the command line.
func parseText(n *node) (string, *refusal) {
	if n.form == quoted || n.at.override > 0 || n.at.byDefault {
		return n.text, nil
	}
	if read := readAs(n.text); read != "text" {
		return "", &refusal{"is read as " + read + ", not as text", fmt.Sprintf("write %q", shorten(n.text))}
	}
	return n.text, nil
}
