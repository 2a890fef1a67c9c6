package fdp

import "math"

const (
	sqrt2Pi    = 2.50662827463100050241576528481104525
	logSqrt2Pi = 0.91893853320467274178032973640561764
)

// survival is the standard normal mass above x.
func survival(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// mills is the ratio m(x) = survival(x)/density(x), and slope is -m'(x) = 1 - x·m(x). Both are positive, and exact to a
// few units of round-off for x >= -30.
func mills(x float64) (m, slope float64) {
	if x < 5 {
		m = survival(x) * sqrt2Pi * math.Exp(x*x/2)
		return m, 1 - x*m
	}
	// m = 1/(x+1/(x+2/(x+3/...))): all terms are positive, so nothing cancels. 60 terms are plenty from 5 on.
	var t float64
	for k := 60.; k >= 2; k-- {
		t = k / (x + t)
	}
	t = 1 / (x + t)
	m = 1 / (x + t)
	return m, t * m
}

// logSurvival is the logarithm of survival, which itself underflows beyond 38.
func logSurvival(x float64) float64 {
	if x < 5 {
		return math.Log(survival(x))
	}
	m, _ := mills(x)
	return math.Log(m) - x*x/2 - logSqrt2Pi
}

// quantile is the x with survival(x) = p, for 0 < p < 1. Unlike math.Erfcinv it is exact for the smallest p.
func quantile(p float64) float64 {
	if p > 0.5 {
		return -quantile(1 - p) // 1-p is exact here
	}
	goal := math.Log(p)
	x := math.Sqrt(-2 * goal) // above the solution, from where Newton's steps on a concave function do not overshoot
	for range 100 {
		// d/dx ln survival = -1/m.
		m, _ := mills(x)
		step := (logSurvival(x) - goal) * m
		x += step
		if math.Abs(step) <= 1e-15*max(1, math.Abs(x)) {
			break
		}
	}
	return x
}
