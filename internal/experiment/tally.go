package experiment

import (
	"math"
	"slices"
)

// Tally is what came of one combination of settings: the mean over the seeds it was run with.
type Tally struct {
	Settings []Setting `json:"settings"` // without the seed
	Seeds    int       `json:"seeds"`
	Accuracy float64   `json:"accuracy"`
	Error    float64   `json:"standard_error"` // of the mean; 0 for a single seed
	Diverged int       `json:"diverged,omitempty"`
	Results  []Result  `json:"results"`
}

// Tallies groups the results of a sweep by everything but the seed, in the order in which the combinations appear.
func Tallies(variants []Combination, results []Result) []Tally {
	var all []Tally
	for i, r := range results {
		settings := slices.DeleteFunc(slices.Clone(variants[i].Settings), func(s Setting) bool { return s.Path == "seed" })
		at := slices.IndexFunc(all, func(t Tally) bool { return slices.Equal(t.Settings, settings) })
		if at < 0 {
			at = len(all)
			all = append(all, Tally{Settings: settings})
		}
		all[at].Results = append(all[at].Results, r)
	}
	for i := range all {
		all[i].sum()
	}
	return all
}

func (t *Tally) sum() {
	t.Seeds = len(t.Results)
	values := make([]float64, t.Seeds)
	for i, r := range t.Results {
		values[i] = r.Accuracy
		if r.Diverged {
			t.Diverged++
		}
	}
	t.Accuracy, t.Error = MeanError(values)
}

// MeanError is the mean and its standard error, which a single value does not have.
func MeanError(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	square := 0.0
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(square / (n - 1) / n)
}
