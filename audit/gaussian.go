package audit

import (
	"math"

	"hubbub/accountant/fdp"
)

// GaussianBound is what the mistakes show of a mechanism whose trade-off between them is that of two normal laws, Mu apart. It says
// nothing of other mechanisms: an assumption, not evidence, fills in the tails that no trial reached.
type GaussianBound struct {
	Epsilon    float64 `json:"epsilon"`
	Mu         float64 `json:"mu"`
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"`
	Assumes    string  `json:"assumes"`
}

// GaussianAssumption is what a [GaussianBound] rests on.
const GaussianAssumption = "the trade-off between false positives and false negatives is that of a Gaussian mechanism"

// Gaussian bounds mu, and with it epsilon, from below under that assumption: mu >= Q(FPR) + Q(FNR), Q(p) being the normal
// quantile with mass p above it. So the threshold should be where both are about equal, where mistakes are many and well known.
func (e Errors) Gaussian(delta, confidence float64) (GaussianBound, error) {
	if err := e.check(); err != nil {
		return GaussianBound{}, err
	}
	if err := checkLevel(delta, confidence); err != nil {
		return GaussianBound{}, err
	}
	tail := (1 - confidence) / 2
	fpr, fnr := upperRate(e.FalsePositives, e.Negatives, tail), upperRate(e.FalseNegatives, e.Positives, tail)
	b := GaussianBound{Delta: delta, Confidence: confidence, Assumes: GaussianAssumption}
	if fpr+fnr >= 1 {
		return b, nil
	}
	b.Mu = normalQuantile(1-fpr) + normalQuantile(1-fnr)
	b.Epsilon = GaussianEpsilon(b.Mu, delta)
	return b, nil
}

// Evenly is the value of mistakes for [Scores.Choose] that suits [Errors.Gaussian]: about as many of one kind as of the other.
func Evenly(e Errors) float64 {
	fpr, fnr := float64(e.FalsePositives)/float64(e.Negatives), float64(e.FalseNegatives)/float64(e.Positives)
	return -math.Abs(fpr - fnr)
}

// GaussianEpsilon is epsilon of two normal laws mu apart, rounded down: 0 where no epsilon above 0 is needed. At delta 0 no
// finite one is enough.
func GaussianEpsilon(mu, delta float64) float64 {
	switch {
	case !(mu > 0):
		return 0
	case delta == 0:
		return math.Inf(1)
	}
	epsilon, err := fdp.Epsilon(mu, delta)
	if err != nil { // a mu beyond all measure
		return 0
	}
	return epsilon * (1 - 1e-9)
}

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
