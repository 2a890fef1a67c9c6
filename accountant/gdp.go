package accountant

import (
	"fmt"
	"math"

	"hubbub/accountant/fdp"
)

// GaussianDelta is the exact delta of mu-GDP at epsilon, rounded up; 1 for a mu past all privacy.
func GaussianDelta(mu, epsilon float64) float64 {
	if mu == 0 {
		return 0
	}
	delta, err := fdp.Delta(mu, epsilon)
	if err != nil {
		return 1
	}
	return delta
}

// GaussianEpsilon is the smallest epsilon of mu-GDP at delta, rounded up; +Inf for a mu past all privacy.
func GaussianEpsilon(mu, delta float64) float64 {
	if mu == 0 {
		return 0
	}
	epsilon, err := fdp.Epsilon(mu, delta)
	if err != nil {
		return math.Inf(1)
	}
	return epsilon
}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// tight is how far a closed form may lie above the truth, relatively: its rounding, taken outward.
const tight = 1e-9

// gdpEpsilon serves trees that are exactly Gaussian, where the trade-off function is known in closed form.
func gdpEpsilon(a About, delta float64, _ []float64) (Bound, error) {
	mu, ok := asGaussian(a.Event)
	if !ok {
		return Bound{}, notGaussian(a.Event)
	}
	epsilon := GaussianEpsilon(mu, delta)
	return Bound{Epsilon: epsilon, Lower: epsilon * (1 - tight), Accountant: string(ByFDP)}, nil
}

func gdpDelta(a About, epsilon float64) (Bound, error) {
	mu, ok := asGaussian(a.Event)
	if !ok {
		return Bound{}, notGaussian(a.Event)
	}
	delta := GaussianDelta(mu, epsilon)
	return Bound{Delta: delta, Lower: delta * (1 - tight), Accountant: string(ByFDP)}, nil
}

func notGaussian(e Event) error {
	return fmt.Errorf("accountant: fdp: %s is not a composition of Gaussian mechanisms: use rdp or best (%w)", e.kind(), ErrNotApplicable)
}

// mu is the event's exact GDP parameter, or else the one that the central limit theorem suggests (+Inf when the noise is
// that small). Not ok: it has neither.
func mu(e Event) (exact, limit float64, ok bool) {
	if mu, ok := asGaussian(e); ok {
		return mu, 0, true
	}
	square, ok := limitSquare(e)
	return 0, math.Sqrt(square), ok
}

// limitSquare is mu squared in the limit of many rounds ([DRS19] and Bu, Dong, Long, Su 2019 for Poisson sampling). The
// limit can lie below the truth, so it is never used as a bound.
func limitSquare(e Event) (float64, bool) {
	if mu, ok := asGaussian(e); ok {
		return mu * mu, true
	}
	switch e := e.(type) {
	case Poisson:
		if mu, ok := asGaussian(e.Event); ok {
			return e.Rate * e.Rate * math.Expm1(mu*mu), true
		}
	case WithoutReplacement:
		if mu, ok := asGaussian(e.Event); ok {
			// e^(mu^2) Phi(1.5mu) + 3 Phi(-mu/2) - 2, arranged so that small mu keep their digits
			bracket := math.Expm1(mu*mu)*phi(1.5*mu) + (math.Erf(1.5*mu/math.Sqrt2)-3*math.Erf(0.5*mu/math.Sqrt2))/2
			return 2 * e.Rate * e.Rate * max(0, bracket), true
		}
	case Repeat:
		square, ok := limitSquare(e.Event)
		return square * float64(e.Count), ok
	case Compose:
		sum := 0.0
		for _, part := range e {
			square, ok := limitSquare(part)
			if !ok {
				return 0, false
			}
			sum += square
		}
		return sum, true
	}
	return 0, false
}
