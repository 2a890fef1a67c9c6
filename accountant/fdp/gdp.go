package fdp

import (
	"fmt"
	"math"
)

// outward covers the relative error of the closed forms, whose exponents reach some hundred.
const outward = 1e-12

// Delta is the smallest delta for which every mu-GDP mechanism is (epsilon, delta)-private, rounded up [DRS22,
// Corollary 2.13].
func Delta(mu, epsilon float64) (float64, error) {
	if err := checkMu(mu); err != nil {
		return 0, err
	}
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	return deltaUp(mu, epsilon), nil
}

// Epsilon is the smallest epsilon for which every mu-GDP mechanism is (epsilon, delta)-private, rounded up.
func Epsilon(mu, delta float64) (float64, error) {
	if err := checkMu(mu); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if deltaUp(mu, 0) <= delta {
		return 0, nil
	}
	// delta <= survival(epsilon/mu - mu/2) <= e^(-x²/2) at the upper end.
	high := mu*mu/2 + mu*math.Sqrt(-2*math.Log(delta))
	_, high = bisect(0, high*(1+1e-9), func(epsilon float64) bool { return deltaUp(mu, epsilon) <= delta })
	return high, nil
}

// Mu is the largest mu whose GDP implies (epsilon, delta)-privacy, rounded down: the target for a calibration.
func Mu(epsilon, delta float64) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	high := 1.
	for deltaUp(high, epsilon) <= delta {
		high *= 2
	}
	for low := high / 2; ; low /= 2 {
		if deltaUp(low, epsilon) <= delta {
			low, _ = bisect(low, high, func(mu float64) bool { return deltaUp(mu, epsilon) > delta })
			return low, nil
		}
		high = low
	}
}

func checkMu(mu float64) error {
	if !(mu > 0 && mu < 1e6) {
		return fmt.Errorf("fdp: mu %g outside (0, 1e6)", mu)
	}
	return nil
}

func checkEpsilon(epsilon float64) error {
	if math.IsNaN(epsilon) || math.IsInf(epsilon, 0) || epsilon < 0 {
		return fmt.Errorf("fdp: epsilon %g is not a number of at least zero", epsilon)
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("fdp: delta %g outside (0, 1)", delta)
	}
	return nil
}

func deltaUp(mu, epsilon float64) float64 {
	d := math.Exp(logDelta(mu, epsilon)) * (1 + outward)
	return min(1, max(d, math.SmallestNonzeroFloat64)) // underflow is not privacy
}

// logDelta is ln(survival(a) - e^epsilon·survival(b)) with a = epsilon/mu - mu/2 and b = a + mu. As e^epsilon is
// density(a)/density(b), this is ln(density(a)·(m(a) - m(b))), where m is Mills' ratio.
func logDelta(mu, epsilon float64) float64 {
	a := epsilon/mu - mu/2
	b := epsilon/mu + mu/2
	if a < -5 { // delta is near one
		m, _ := mills(b)
		return math.Log1p(-survival(-a) - m*math.Exp(-a*a/2)/sqrt2Pi)
	}
	var drop float64
	if mu > 0.5 {
		ma, _ := mills(a)
		mb, _ := mills(b)
		drop = ma - mb
	} else { // the difference of nearly equal values is the integral of the slope
		for i, x := range gaussLegendre.nodes {
			_, slope := mills((a+b)/2 + x*mu/2)
			drop += gaussLegendre.weights[i] * slope * mu / 2
		}
	}
	return math.Log(drop) - a*a/2 - logSqrt2Pi
}

// gaussLegendre integrates over [-1, 1]. On an interval of half a standard deviation eight points leave an error below
// round-off. Source: Abramowitz and Stegun, table 25.4.
var gaussLegendre = struct{ nodes, weights [8]float64 }{
	[8]float64{
		-0.960289856497536, -0.796666477413627, -0.525532409916329, -0.183434642495650,
		0.183434642495650, 0.525532409916329, 0.796666477413627, 0.960289856497536},
	[8]float64{
		0.101228536290376, 0.222381034453374, 0.313706645877887, 0.362683783378362,
		0.362683783378362, 0.313706645877887, 0.222381034453374, 0.101228536290376},
}

// bisect narrows down where a condition begins to hold, given that it fails at low and holds at high.
func bisect(low, high float64, holds func(float64) bool) (float64, float64) {
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low, high
}
