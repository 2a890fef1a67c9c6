package accountant

import (
	"fmt"
	"math"
)

// GaussianDelta is the exact delta of mu-GDP at epsilon [DRS19, Corollary 1], rounded up:
// Phi(-e/mu + mu/2) - e^e Phi(-e/mu - mu/2).
func GaussianDelta(mu, epsilon float64) float64 {
	if mu == 0 {
		return 0
	}
	first := logPhi(mu/2 - epsilon/mu)
	second := epsilon + logPhi(-epsilon/mu-mu/2)
	d := math.Exp(logSub(first, second))
	// Near equality the difference keeps the rounding error of its terms: some 1e-15 of the first.
	d += math.Exp(first) * 1e-15 * (4 + math.Abs(first) + epsilon)
	if math.IsNaN(d) {
		return 1
	}
	return min(d*(1+slack), 1)
}

// GaussianEpsilon is the smallest epsilon of mu-GDP at delta, rounded up.
func GaussianEpsilon(mu, delta float64) float64 {
	if mu == 0 || GaussianDelta(mu, 0) <= delta {
		return 0
	}
	lo, hi := 0.0, 1.0
	for GaussianDelta(mu, hi) > delta {
		lo, hi = hi, 2*hi
		if hi > 1e300 {
			return math.Inf(1)
		}
	}
	for hi-lo > 1e-13*hi {
		mid := (lo + hi) / 2
		if mid == lo || mid == hi {
			break
		}
		if GaussianDelta(mu, mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return up(hi)
}

// logPhi is the logarithm of the standard normal distribution function.
func logPhi(x float64) float64 { return logErfc(-x/math.Sqrt2) - math.Ln2 }

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// gdpEpsilon serves trees that are exactly Gaussian, where the trade-off function is known in closed form.
func gdpEpsilon(a About, delta float64, _ []float64) (Bound, error) {
	mu, ok := asGaussian(a.Event)
	if !ok {
		return Bound{}, notGaussian(a.Event)
	}
	return Bound{Epsilon: GaussianEpsilon(mu, delta), Accountant: "fdp"}, nil
}

func gdpDelta(a About, epsilon float64) (Bound, error) {
	mu, ok := asGaussian(a.Event)
	if !ok {
		return Bound{}, notGaussian(a.Event)
	}
	return Bound{Delta: GaussianDelta(mu, epsilon), Accountant: "fdp"}, nil
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
