package sums

import (
	"math"

	"hubbub/accountant/pld"
)

// The sum of n uniform variables has the cardinal B-spline as its density. Its printed form (the paper's section 4.4)
// alternates in sign and is useless beyond n = 20 or so; the recurrence below adds positive terms only.

// splines returns f_n(t), f_n(t+1), ..., f_n(t+n-1) for a t in [0, 1): the density of the sum of n variables uniform in [0, 1].
func splines(n int, t float64) []float64 {
	f := make([]float64, n)
	f[0] = 1
	for k := 2; k <= n; k++ {
		for j := k - 1; j >= 0; j-- {
			x := t + float64(j)
			sum := x * f[j]
			if j > 0 {
				sum += (float64(k) - x) * f[j-1]
			}
			f[j] = sum / float64(k-1)
		}
	}
	return f
}

// Five points of Gauss and Legendre on [0, 1] (Abramowitz and Stegun, table 25.4): exact for a polynomial of degree 9.
var (
	legendrePoints  = [5]float64{.04691007703066800, .23076534494715845, .5, .76923465505284155, .95308992296933200}
	legendreWeights = [5]float64{.11846344252809454, .23931433524968324, .28444444444444444, .23931433524968324, .11846344252809454}
)

// cellsPerDeviation is how finely the law is cut. The lower and the upper pair below then differ by some 1e-5 in delta.
const cellsPerDeviation = 400

// irwinHallPairs compares the sum with the sum moved by one, cut into cells. The lower pair tells only in which cell the sum
// lies: a post-processing, so its delta is at most the truth. The upper pair tells more than the sum: in each cell it
// moves the likelihood ratio to one of the cell's two ends, with both masses kept, so its delta is at least the truth
// (Blackwell's theorem; the discretisation of Doroshenko et al. 2022).
func irwinHallPairs(clients int) (lower, upper pld.Pair, err error) {
	perUnit := max(16, int(math.Ceil(cellsPerDeviation/math.Sqrt(float64(clients)/12))))
	mass := make([]float64, clients*perUnit) // of each cell
	density := make([]float64, len(mass)+1)  // at each cell's lower end
	if clients == 1 {
		density[len(mass)] = 1 // of the uniform density seen from the left; all others end at 0
	}
	for i := range perUnit {
		for j, f := range splines(clients, float64(i)/float64(perUnit)) {
			density[j*perUnit+i] = f
		}
		for k, x := range legendrePoints {
			for j, f := range splines(clients, (float64(i)+x)/float64(perUnit)) {
				mass[j*perUnit+i] += legendreWeights[k] * f / float64(perUnit)
			}
		}
	}
	symmetric(mass)
	symmetric(density)
	total := 0.0
	for _, m := range mass {
		total += m
	}
	logs := make([]float64, len(mass))
	for i := range mass {
		mass[i] /= total
		logs[i] = math.Log(mass[i])
	}
	lower, err = pld.Shifted(pld.PMF{LogMass: logs}, int64(perUnit))
	if err != nil {
		return lower, upper, err
	}
	p, q := spread(mass, density, perUnit)
	upper, err = pld.Integers(pld.PMF{LogMass: p}, pld.PMF{LogMass: q})
	return lower, upper, err
}

// symmetric takes the mean with the mirror image, so that rounding does not make the law one-sided.
func symmetric(x []float64) {
	for i, j := 0, len(x)-1; i < j; i, j = i+1, j-1 {
		x[i] = (x[i] + x[j]) / 2
		x[j] = x[i]
	}
}

// spread puts the masses of P = the sum and Q = the sum moved by perUnit cells at the two ends of each cell, two outputs for each.
func spread(mass, density []float64, perUnit int) (p, q []float64) {
	at := func(x []float64, i int) float64 {
		if i < 0 || i >= len(x) {
			return 0
		}
		return x[i]
	}
	loss := func(i int) float64 { return math.Log(at(density, i)) - math.Log(at(density, i-perUnit)) }
	for i := range len(mass) + perUnit {
		inP, inQ := at(mass, i), at(mass, i-perUnit)
		if inQ == 0 || inP == 0 { // only one of the two can lead here
			p, q = append(p, math.Log(inP)), append(q, math.Log(inQ))
			continue
		}
		// Log-concave noise: the loss falls from the cell's lower end to its upper one.
		high, low := loss(i), loss(i+1)
		// p_high + p_low = p and p_high·e^-high + p_low·e^-low = q.
		share := (1 - inQ/inP*math.Exp(low)) / -math.Expm1(low-high)
		if math.IsInf(low, -1) { // at the upper end P has no density: all of Q that is left goes there
			share = 1
		}
		share = min(1, max(0, share))
		if math.IsNaN(share) { // the two ends are alike
			share = .5
		}
		pHigh, pLow := inP*share, inP*(1-share)
		qHigh := min(inQ, pHigh*math.Exp(-high))
		p = append(p, math.Log(pHigh), math.Log(pLow))
		q = append(q, math.Log(qHigh), math.Log(max(0, inQ-qHigh)))
	}
	return p, q
}
