package accountant

import "math"

// [KLS21] Kairouz, Liu, Steinke, The distributed discrete Gaussian mechanism for federated learning with secure
// aggregation, arXiv:2102.06387. [SMM] Bao et al., Skellam mixture mechanism, VLDB 2022, and its public code.

// rdp of the discrete Gaussian: no more than the continuous one's at whole shifts [CKS20, Proposition 5], and it adds up
// over coordinates.
func (e DiscreteGaussian) rdp(orders []float64) []float64 {
	return gaussianRDP(e.L2/math.Sqrt(e.Sigma2), orders)
}

// rdp of a sum of discrete Gaussians: the least of the bounds of [KLS21, Theorem 1 and Proposition 14]. tau is how far
// the sum is from a discrete Gaussian of the same variance, per coordinate; the proof needs sigma >= 1/2.
func (e DiscreteGaussianSum) rdp(orders []float64) []float64 {
	out := filled(len(orders), math.Inf(1))
	if e.Sigma2 < 0.25 {
		return out
	}
	n, d := float64(e.Clients), float64(e.Dim)
	tau := sumDistance(e.Clients, e.Sigma2)
	scale := e.L2 / math.Sqrt(n*e.Sigma2)
	for i, a := range orders {
		if math.IsInf(a, 1) {
			continue
		}
		out[i] = up(min(
			a/2*scale*scale+tau*d,
			a/2*(scale*scale+tau*d/2),
			a/2*(scale+tau*math.Sqrt(d))*(scale+tau*math.Sqrt(d)),
		))
	}
	return out
}

// sumDistance is tau = 10 * sum over k < clients of exp(-2 pi^2 sigma2 k/(k+1)).
func sumDistance(clients int, sigma2 float64) float64 {
	const exact = 1 << 16
	sum := 0.0
	for k := 1; k < min(clients, exact); k++ {
		sum += math.Exp(-2 * math.Pi * math.Pi * sigma2 * float64(k) / float64(k+1))
	}
	if clients > exact { // the terms fall
		sum += float64(clients-exact) * math.Exp(-2*math.Pi*math.Pi*sigma2*exact/(exact+1))
	}
	return 10 * sum
}

// rdp of the Skellam mixture mechanism: (1.2a + 1)/(4L) * c at whole orders for which
// Linf <= min(2L/a, sqrt(4L/(10.9a^2 - 1.8a - 9.1))).
func (e SMM) rdp(orders []float64) []float64 {
	out := filled(len(orders), math.Inf(1))
	whole := func(a float64) float64 {
		if e.Linf > min(2*e.Rate/a, math.Sqrt(4*e.Rate/(10.9*a*a-1.8*a-9.1))) {
			return math.Inf(1)
		}
		return (1.2*a + 1) / (4 * e.Rate) * e.C
	}
	for i, a := range orders {
		if !math.IsInf(a, 1) {
			out[i] = up(between1(a, whole))
		}
	}
	return out
}

// Noise of bounded support rules some outputs out, so its Renyi divergence is infinite: see binomial.go.

func (Binomial) rdp(orders []float64) []float64 { return filled(len(orders), math.Inf(1)) }
func (CPSGD) rdp(orders []float64) []float64    { return filled(len(orders), math.Inf(1)) }
