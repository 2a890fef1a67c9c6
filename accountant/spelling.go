package accountant

import (
	"fmt"
	"slices"
	"strings"
)

// known spellings from other libraries, and what they are called here.
var elsewhere = map[string]string{
	"sigma": "noise_multiplier", "noise": "noise_multiplier", "z": "noise_multiplier", "sample_rate": "rate", "sampling_probability": "rate",
	"q": "rate", "steps": "count", "times": "count", "rounds": "count", "lambda": "rate", "variance": "sigma2", "max_grad_norm": "clip",
	"poisson_sampled": "poisson", "self_composed": "repeat", "composed": "compose", "substitute": "replace-one", "user": "client",
	"example": "record", "n": "trials", "b": "scale",
}

// didYouMean guesses which of the names was meant; empty when nothing is close.
func didYouMean(got string, names ...string) string {
	if known, ok := elsewhere[strings.ToLower(got)]; ok && slices.Contains(names, known) {
		return fmt.Sprintf(" (did you mean %s?)", known)
	}
	best, closest := "", 1+max(1, len(got)/3)
	for _, name := range names {
		if d := editDistance(strings.ToLower(got), name, closest); d < closest {
			best, closest = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// editDistance counts the letters to insert, delete or change; anything from limit on is returned as limit.
func editDistance(a, b string, limit int) int {
	if len(a) > 40 || len(b) > 40 {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return min(row[len(b)], limit)
}
