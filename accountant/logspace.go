package accountant

import "math"

// Sums here run over numbers like e^2500, so they are kept as logarithms.

var negInf = math.Inf(-1)

// logAdd is log(e^x + e^y).
func logAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(x, 0) { // -Inf: both are zero; +Inf: infinite whatever y is
		return x
	}
	return x + math.Log1p(math.Exp(y-x))
}

// logSub is log(e^x - e^y) for x >= y, and -Inf for anything that rounding made negative.
func logSub(x, y float64) float64 {
	if y >= x {
		return negInf
	}
	return x + math.Log(-math.Expm1(y-x))
}

// logExpm1 is log(e^x - 1) for x >= 0.
func logExpm1(x float64) float64 {
	if x > 40 {
		return x
	}
	return math.Log(math.Expm1(x))
}

// log1pExp is log(1 + e^x).
func log1pExp(x float64) float64 {
	if x > 40 {
		return x + math.Exp(-x)
	}
	return math.Log1p(math.Exp(x))
}

// logBinomial is the logarithm of |a over i| for real a, and the sign of it.
func logBinomial(a, i float64) (log float64, sign int) {
	x, s1 := math.Lgamma(a + 1)
	y, s2 := math.Lgamma(i + 1)
	z, s3 := math.Lgamma(a - i + 1)
	if s3 == 0 {
		s3 = 1
	}
	return x - y - z, s1 * s2 * s3
}

// logFactorial holds log k! for the whole orders of the standard grid.
var logFactorial = func() [4097]float64 {
	var table [4097]float64
	for k := range table {
		table[k], _ = math.Lgamma(float64(k) + 1)
	}
	return table
}()

// logChoose is the logarithm of n over k for whole n >= k.
func logChoose(n, k int) float64 {
	if n < len(logFactorial) {
		return logFactorial[n] - logFactorial[k] - logFactorial[n-k]
	}
	choose, _ := logBinomial(float64(n), float64(k))
	return choose
}

// logErfc is log(erfc(x)), also where erfc itself underflows.
func logErfc(x float64) float64 {
	if x < 20 {
		return math.Log(math.Erfc(x))
	}
	// Asymptotic series (DLMF 7.12.1); it alternates, and past x = 20 four terms are exact to rounding.
	u := 1 / (2 * x * x)
	return -x*x - math.Log(x*math.Sqrt(math.Pi)) + math.Log1p(u*(-1+u*(3+u*(-15+u*105))))
}

// slack is the relative amount by which results are raised, to stay above the error of rounding. The largest error
// comes from logBinomial at order 4096: three log-gammas near 3e4, 4e-12 each.
const slack = 1e-10

// up rounds a non-negative bound outward. NaN, which only overflow can bring, becomes +Inf.
func up(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	if x <= 0 {
		return 0
	}
	return x * (1 + slack)
}
