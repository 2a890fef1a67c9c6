package span

import "math"

// Mix is a sum of Gaussian mixes of gradients, one from each client, without any other noise (paper 000, section 4).
type Mix struct {
	Smallest float64 // the least eigenvalues of the clients' covariances GGᵀ/D in the space that all gradients lie in, added up
	Records  int     // D, of each client
	Batch    float64 // B, the scale of the mix
	Clip     float64 // C, of each gradient
}

// Epsilon is the bound of Theorem 3, with equation 34's denominator (equation 31 prints one that is wrong):
//
//	(2αBC²/D² + αC²/((α-1)D)) / (Σλ - αC²/D) + ln(1/δ)/(α-1), the least over orders α in (1, DΣλ/C²)
//
// It is a guarantee only if Smallest is a lower bound for all data sets that differ in one record, all of whose gradients lie in that space:
// eigenvalues that were measured on the data, as here, prove nothing. It is +Inf where no order is left.
func (m Mix) Epsilon(delta float64) float64 {
	d, c2 := float64(m.Records), m.Clip*m.Clip
	most := d * m.Smallest / c2
	if !(most > 1) {
		return math.Inf(1)
	}
	at := func(order float64) float64 {
		return (2*order*m.Batch*c2/(d*d)+order*c2/((order-1)*d))/(m.Smallest-order*c2/d) + math.Log(1/delta)/(order-1)
	}
	// A sum of convex functions of the order, so its least value is found by cutting the interval in three.
	lo, hi := 1.0, most
	for range 200 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if at(a) < at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return at((lo + hi) / 2)
}
