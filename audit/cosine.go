package audit

import (
	"fmt"
	"math"
)

// CosineEstimate is an estimate of epsilon from the cosines of canaries with a release. It is no bound: nothing says how far it
// may be off.
type CosineEstimate struct {
	Epsilon   float64 `json:"epsilon_estimate"`
	Delta     float64 `json:"delta"`
	Mean      float64 `json:"mean_cosine"`
	Deviation float64 `json:"cosine_deviation"`
	Expected  float64 `json:"deviation_without"` // of a direction that had no part in the release: one over the root of the dimension
}

// EstimateByCosines fits a normal law to the cosines of the canaries that took part, and gives the epsilon that tells it from
// N(0, 1/dimension), which is the law of a random direction that took no part.
//
// [AKOS23] Andrew, Kairouz, Oh, Oprea, McMahan, Suriyakumar, One-shot empirical privacy estimation for federated learning,
// arXiv:2302.03098
func EstimateByCosines(cosines []float64, dimension int, delta float64) (CosineEstimate, error) {
	switch {
	case len(cosines) < 2:
		return CosineEstimate{}, fmt.Errorf("audit: %d cosines: at least 2 are needed for a deviation", len(cosines))
	case dimension < 2:
		return CosineEstimate{}, fmt.Errorf("audit: dimension %d: at least 2", dimension)
	case !(delta > 0 && delta < 1):
		return CosineEstimate{}, fmt.Errorf("audit: delta %g outside (0, 1)", delta)
	}
	n := float64(len(cosines))
	e := CosineEstimate{Delta: delta, Expected: 1 / math.Sqrt(float64(dimension))}
	for i, c := range cosines {
		if !(c >= -1.001 && c <= 1.001) {
			return CosineEstimate{}, fmt.Errorf("audit: cosine %d is %g: it must lie in [-1, 1]", i, c)
		}
		e.Mean += c / n
	}
	square := 0.0
	for _, c := range cosines {
		square += (c - e.Mean) * (c - e.Mean)
	}
	e.Deviation = math.Sqrt(square / (n - 1))
	if e.Deviation == 0 {
		return CosineEstimate{}, fmt.Errorf("audit: all %d cosines are %g: there is no law to fit", len(cosines), e.Mean)
	}
	// In units of the deviation without: N(mean, ratio²) against N(0, 1).
	e.Epsilon = normalsEpsilon(e.Mean/e.Expected, e.Deviation/e.Expected, delta)
	return e, nil
}

// normalsEpsilon is the least epsilon at which N(mean, deviation²) and N(0, 1) are (epsilon, delta)-close in both directions.
func normalsEpsilon(mean, deviation, delta float64) float64 {
	apart := func(epsilon float64) float64 {
		return max(hockeyStick(mean, deviation, 0, 1, epsilon), hockeyStick(0, 1, mean, deviation, epsilon))
	}
	lo, hi := 0.0, 1.0
	if apart(0) <= delta {
		return 0
	}
	for apart(hi) > delta {
		if hi > 1e6 {
			return hi
		}
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-9*hi {
		if mid := (lo + hi) / 2; apart(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// hockeyStick is the integral of (p - e^epsilon q)+ for p = N(a, s²), q = N(b, t²). Where p exceeds e^epsilon q is the sign of a
// quadratic function, so between its roots or outside of them.
func hockeyStick(a, s, b, t, epsilon float64) float64 {
	// log p - log q - epsilon = k2 x² + k1 x + k0
	k2 := 1/(2*t*t) - 1/(2*s*s)
	k1 := a/(s*s) - b/(t*t)
	k0 := b*b/(2*t*t) - a*a/(2*s*s) + math.Log(t/s) - epsilon
	below := func(x float64) float64 { // mass of both below x
		return normalBelow((x-a)/s) - math.Exp(epsilon)*normalBelow((x-b)/t)
	}
	above := func(x float64) float64 {
		return normalBelow((a-x)/s) - math.Exp(epsilon)*normalBelow((b-x)/t)
	}
	if math.Abs(k2) < 1e-12*(1/(s*s)) {
		switch {
		case k1 > 0:
			return max(0, above(-k0/k1))
		case k1 < 0:
			return max(0, below(-k0/k1))
		}
		return 0
	}
	root := k1*k1 - 4*k2*k0
	if root <= 0 {
		if k2 > 0 { // p exceeds everywhere: only at epsilon 0 with equal laws
			return max(0, 1-math.Exp(epsilon))
		}
		return 0
	}
	// The form that does not cancel.
	h := -(k1 + math.Copysign(math.Sqrt(root), k1)) / 2
	x, y := h/k2, k0/h
	x, y = min(x, y), max(x, y)
	if k2 > 0 {
		return max(0, below(x)+above(y))
	}
	return max(0, above(x)-above(y))
}

func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
