package accountant

import "math"

// Paper 000: Zhang and Psounis, Differentially private federated learning without noise addition, arXiv:2405.04551.
// Its theorems compare two normal distributions whose mean and covariance both move with one record.

// rdp of water-filling: the paper's Theorem 4 with its range and constants corrected, or the repaired bound,
// whichever is smaller. Eigenvalue clipping is not operator monotone, as the paper's proof needs; but it is 1-Lipschitz
// in Frobenius norm, so that the covariance moves by at most sqrt(2) C^2/(B D), and with x that over N s2
//
//	D_a <= (2aC^2/D^2) / (N s2 (1-ax)) + (a/4) x^2 / ((1-x)(1-ax))   for ax < 1.
func (e Waterfill) rdp(orders []float64) []float64 {
	n, d := float64(e.Clients), float64(e.Records)
	out := make([]float64, len(orders))
	for i, a := range orders {
		out[i] = up(min(waterfillPaper(n, d, e.Batch, e.Clip, e.Variance, a), waterfillRepaired(n, d, e.Batch, e.Clip, e.Variance, a)))
	}
	return out
}

// waterfillPaper is the paper's equation 35, valid for a < N s2 B D/(2C^2).
func waterfillPaper(n, d, batch, clip, variance, a float64) float64 {
	c2 := clip * clip
	room := n*variance - 2*a*c2/(batch*d)
	if !(room > 0) {
		return math.Inf(1)
	}
	return (2*a*c2/(d*d) + 2*a*c2/((a-1)*batch*d)) / room
}

func waterfillRepaired(n, d, batch, clip, variance, a float64) float64 {
	c2 := clip * clip
	x := math.Sqrt2 * c2 / (batch * d * n * variance)
	if !(a*x < 1) {
		return math.Inf(1)
	}
	return (2*a*c2/(d*d))/(n*variance*(1-a*x)) + a/4*x*x/((1-x)*(1-a*x))
}

// rdp of Gaussian gradient sampling over a covariance of at least variance: the paper's Theorem 2 with
// lambda_min = batch * variance, which is also its table's row for isotropic noise.
func (e GaussianSampling) rdp(orders []float64) []float64 {
	n, d, c2 := float64(e.Clients), float64(e.Records), e.Clip*e.Clip
	out := make([]float64, len(orders))
	for i, a := range orders {
		out[i] = up(gaussianSampling(n*e.Variance, d, e.Batch, c2, a))
	}
	return out
}

// rdp in a subspace: the paper's Theorem 3 as its own derivation (equation 34) has it; (31) divides once too often.
func (e Subspace) rdp(orders []float64) []float64 {
	n, d, c2 := float64(e.Clients), float64(e.Records), e.Clip*e.Clip
	out := make([]float64, len(orders))
	for i, a := range orders {
		out[i] = up(gaussianSampling(n*e.Eigenvalue/e.Batch, d, e.Batch, c2, a))
	}
	return out
}

func gaussianSampling(total, d, batch, c2, a float64) float64 {
	room := total - a*c2/(batch*d)
	if !(room > 0) {
		return math.Inf(1)
	}
	return (2*a*c2/(d*d) + a*c2/((a-1)*batch*d)) / room
}
