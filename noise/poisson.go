package noise

import (
	"math"
	"math/big"
)

// Poisson counts rare events: probability e^-rate·rate^k/k! of k.
type Poisson struct {
	rate     float64
	table    *table
	distance float64
}

// NewPoisson prepares the law of mean and variance rate, which must lie in [1e-9, 1e9].
func NewPoisson(rate float64) (*Poisson, error) {
	if err := checkVariance("poisson", "rate", rate, rate); err != nil {
		return nil, err
	}
	mode := int64(math.Floor(rate))
	lambda := exact(rate)
	integer, ratio := newFloat(), newFloat()
	up := outward(func(i int) *big.Float {
		return ratio.Quo(lambda, integer.SetInt64(mode+int64(i)+1))
	})
	down := outward(func(i int) *big.Float {
		return ratio.Quo(integer.SetInt64(mode-int64(i)), lambda)
	})
	l := twoSidedLaw(mode, up, down)
	return &Poisson{rate, newTable(l), l.distance()}, nil
}

// Add adds one independent draw to each element of dst.
func (p *Poisson) Add(dst []int64, random *Stream) { p.table.add(dst, random) }

// Distance bounds the total variation distance of one draw from the ideal law.
func (p *Poisson) Distance() float64 { return p.distance }

// Variance is the rate.
func (p *Poisson) Variance() float64 { return p.rate }
