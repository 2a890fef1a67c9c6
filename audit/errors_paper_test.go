package audit

import (
	"math"
	"testing"
)

// Clopper and Pearson's upper ends at 95% for 5000 trials, as paper 001 uses them. Source: an independent implementation of the
// quantile of the beta distribution, ten digits.
func TestUpperRatesMatchKnownQuantiles(t *testing.T) {
	for _, c := range []struct {
		count       int
		want, digit float64
	}{
		{0, 7.3750380e-4, 1e-11}, {1, 1.1138194e-3, 1e-10}, {5, 2.3321106e-3, 1e-10}, {25, 7.3721959e-3, 1e-10},
		{100, .0242725698, 1e-10}, {500, .1086504173, 1e-10}, {5000, 1, 0},
	} {
		got, err := UpperRate(c.count, 5000, .025)
		if err != nil || math.Abs(got-c.want) > c.digit {
			t.Errorf("upper rate of %d in 5000 is %.12g (%v), want %g", c.count, got, err, c.want)
		}
	}
}

// Section 4 of paper 001: epsilon from (FPR, FNR) at 5000 trials and 95%, and the largest that can be seen. Same source.
func TestAuditedEpsilonMatchesKnownValues(t *testing.T) {
	for _, c := range []struct {
		name         string
		wrong, other int
		delta, want  float64
	}{
		{"no mistake at delta 0", 0, 0, 0, 7.2115015398},
		{"no mistake", 0, 0, 1e-5, 7.2114915324},
		{"no mistake at a large delta", 0, 0, .1, 7.1060590155},
		{"25 of either kind", 25, 25, 1e-5, 4.9026300846},
		{"100 of one and 50 of the other", 100, 50, 1e-5, 4.3057830475},
		{"50 of one and 100 of the other", 50, 100, 1e-5, 4.3057830475},
		{"always wrong shows nothing", 5000, 5000, 1e-5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Errors{FalsePositives: c.wrong, Negatives: 5000, FalseNegatives: c.other, Positives: 5000}.Bound(c.delta, .95)
			if err != nil || math.Abs(b.Epsilon-c.want) > 1e-9 {
				t.Errorf("epsilon %.12g (%v), want %.11g", b.Epsilon, err, c.want)
			}
		})
	}
}
