package noise

import (
	"math"
	"math/big"
)

// DiscreteGaussian has probabilities proportional to exp(-x²/(2·sigma2)) at the integers x.
//
// [CKS20] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, arXiv:2004.00010
type DiscreteGaussian struct {
	variance float64
	table    *table
	distance float64
}

// NewDiscreteGaussian prepares the law with parameter sigma2, which must lie in [1e-9, 1e9]. Below about 0.02 the law
// is zero but for less than a probability of 2^-36.
func NewDiscreteGaussian(sigma2 float64) (*DiscreteGaussian, error) {
	if err := checkVariance("discrete gaussian", "sigma2", sigma2, sigma2); err != nil {
		return nil, err
	}
	// p(k+1)/p(k) = e^{-(2k+1)/(2·sigma2)}: each ratio is the one before times e^{-1/sigma2}.
	ratio := expNeg(newFloat().Quo(exact(0.5), exact(sigma2)))
	shrink := newFloat().Mul(ratio, ratio)
	l := symmetricLaw(outward(func(i int) *big.Float {
		if i > 0 {
			ratio.Mul(ratio, shrink)
		}
		return ratio
	}))
	return &DiscreteGaussian{discreteGaussianVariance(sigma2), newTable(l), l.distance()}, nil
}

// Add adds one independent draw to each element of dst.
func (g *DiscreteGaussian) Add(dst []int64, random *Stream) { g.table.add(dst, random) }

// Distance bounds the total variation distance of one draw from the ideal law.
func (g *DiscreteGaussian) Distance() float64 { return g.distance }

// Variance is a little below sigma2 where sigma2 is small, and equal to it as far as a float can tell from 3 on.
func (g *DiscreteGaussian) Variance() float64 { return g.variance }

func discreteGaussianVariance(sigma2 float64) float64 {
	if sigma2 > 10 {
		return sigma2 // by Poisson summation within a factor of 1 ± 1e-80
	}
	square, sum := 0.0, 0.5
	for k := 1.0; ; k++ {
		p := math.Exp(-k * k / (2 * sigma2))
		if p == 0 {
			return square / sum
		}
		square += k * k * p
		sum += p
	}
}
