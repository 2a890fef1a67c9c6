package reproduce

import (
	"math"
	"strings"
	"testing"

	"hubbub/audit"
	"hubbub/audit/sums"
	"hubbub/internal/experiment"
)

// madeUp is what an attack on a cohort might have found.
func madeUp(cohort int, fpr, fnr, epsilon float64) experiment.Leak {
	l := experiment.Leak{Others: cohort - 1, Distance: 3, Gaussianity: sums.Gaussianity{Deviate: 0.5}, Balanced: experiment.LeakRates{FalsePositive: fpr, FalseNegative: fnr}}
	l.Errors = audit.Errors{FalsePositives: 1, FalseNegatives: 2, Negatives: 100, Positives: 100}
	l.Bound = audit.Bound{Epsilon: epsilon, Delta: 1e-5, Confidence: 0.95, Largest: 3}
	for i := range 3 {
		l.Curve = append(l.Curve, experiment.LeakRates{FalsePositive: fpr * math.Pow(10, float64(i)), FalseNegative: fnr * math.Pow(10, float64(2-i))})
	}
	for _, delta := range []float64{0, 1e-3, 0.1} {
		l.ByDelta = append(l.ByDelta, experiment.LeakPoint{Delta: delta, Epsilon: epsilon * (1 - delta)})
	}
	return l
}

// Tables hold means over initial models, the larger of the two mean rates, and the paper's value beside them.
func TestLeaksAreAveragedOverInitialModels(t *testing.T) {
	r := &reading{name: "data"}
	for _, cohort := range cohorts001 {
		r.leaks = append(r.leaks, madeUp(cohort, 0.002, 0.001, 2), madeUp(cohort, 0.004, 0.003, 2.5))
	}
	out := leakOutcome("figure-2", "Adult", 0.005, []*reading{r, r})
	rates, epsilons := out.Tables[0].Rows[0], out.Tables[1].Rows[0]
	if math.Abs(*rates.Ours-0.3) > 1e-12 || *rates.Paper != 0.5 || rates.Runs != 2 || !strings.Contains(rates.Note, "6.00 standard deviations") {
		t.Errorf("rates %+v: %g%%, the paper %g%%", rates, *rates.Ours, *rates.Paper)
	}
	if math.Abs(*epsilons.Ours-2.25) > 1e-12 || *epsilons.Paper != 3 || math.Abs(epsilons.Error-0.25) > 1e-12 || epsilons.Note != "6 mistakes in 400 guesses" {
		t.Errorf("epsilons %+v: %g, the largest %g", epsilons, *epsilons.Ours, *epsilons.Paper)
	}
	var names []string
	for _, f := range out.Figures {
		names = append(names, f.Name)
		if _, err := f.Drawing.SVG(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	if got := strings.Join(names, " "); got != "figure-2a figure-2b figure-2c figure-2d" {
		t.Errorf("pictures %s", got)
	}
	if out = leakOutcome("figure-3", "MNIST", math.NaN(), []*reading{r}); out.Tables[0].Rows[0].Paper != nil {
		t.Error("a rate that the paper does not give")
	}
}

// The attack with an error more is outside: the line that audited curves are held against is that of no mistake at all.
func TestTheLargestAuditableCurve(t *testing.T) {
	s := largestSeries(madeUp(60, 0.002, 0.001, 2))
	// 100 trials: 1-0.025^(1/100) = 0.0362, and log((1-0.1-0.0362)/0.0362) = 3.172.
	if len(s.X) != 2 || s.Y[1] != 0.1 || math.Abs(s.X[1]-3.172) > 0.001 {
		t.Errorf("%+v", s)
	}
}
