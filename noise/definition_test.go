package noise

import "math"

// The laws in float64, by formulas that share nothing with the code that they check.

// Far from zero, differences of log-gammas would cancel: there the saddle-point form of Loader 2000, "Fast and Accurate
// Computation of Binomial Probabilities", is used.
const loaderFrom = 1000

func poissonLogP(rate, x float64) float64 {
	switch {
	case x < 0:
		return math.Inf(-1)
	case x < loaderFrom || rate < loaderFrom:
		return x*math.Log(rate) - rate - logFactorial(x)
	}
	return -math.Log(2*math.Pi*x)/2 - stirlingError(x) - deviance(x, rate)
}

func binomialLogP(n, p, x float64) float64 {
	if x < loaderFrom || n-x < loaderFrom {
		return logFactorial(n) - logFactorial(x) - logFactorial(n-x) + x*math.Log(p) + (n-x)*math.Log1p(-p)
	}
	return math.Log(n/(2*math.Pi*x*(n-x)))/2 + stirlingError(n) - stirlingError(x) - stirlingError(n-x) -
		deviance(x, n*p) - deviance(n-x, n-n*p)
}

func logFactorial(x float64) float64 {
	y, _ := math.Lgamma(x + 1)
	return y
}

// stirlingError is log n! minus Stirling's formula, for large n.
func stirlingError(n float64) float64 { return 1/(12*n) - 1/(360*n*n*n) }

// deviance is x·log(x/m) + m - x.
func deviance(x, m float64) float64 {
	t := (x - m) / m
	if math.Abs(t) > 0.01 {
		return m * ((1+t)*math.Log1p(t) - t)
	}
	sum, power := 0.0, -t
	for k := 2.0; k < 12; k++ {
		power *= -t
		sum += power / (k * (k - 1))
	}
	return m * sum
}

// skellamLogP is the integral (1/2π)∫exp(2·rate·(cos θ - 1))cos(xθ)dθ. With m points on the circle the sum is the
// probability plus those of x ± m, x ± 2m, ..., which are nothing.
func skellamLogP(rate, x float64) float64 {
	m := 2*math.Ceil(20*math.Sqrt(2*rate)+100) + 1 // odd: every point but the first has its mirror image
	sum := 0.5
	for i := 1.0; i < m/2; i++ {
		s := math.Sin(math.Pi * i / m)
		factor := math.Exp(-4 * rate * s * s)
		if factor < 1e-20 {
			break
		}
		sum += factor * math.Cos(2*math.Pi*math.Mod(x*i, m)/m)
	}
	return math.Log(math.Max(2*sum/m, 1e-18)) // cancellation leaves about 1e-17
}
