package noise

import (
	"fmt"
	"math"
	"math/big"
)

// Binomial counts the successes among independent trials. It is not centred: the mean is trials·p.
type Binomial struct {
	variance float64
	table    *table
	distance float64
}

// NewBinomial prepares the law of that many trials, each a success with probability p. The variance trials·p·(1-p) must
// lie in [1e-9, 1e9].
func NewBinomial(trials int, p float64) (*Binomial, error) {
	if trials < 1 || int64(trials) > 1<<50 {
		return nil, fmt.Errorf("noise: binomial with %d trials: outside [1, 2^50]", trials)
	}
	if !(p > 0 && p < 1) {
		return nil, fmt.Errorf("noise: binomial with success probability %g: outside (0, 1)", p)
	}
	variance := float64(trials) * p * (1 - p)
	if err := checkVariance("binomial", "probability", p, variance); err != nil {
		return nil, err
	}
	n := int64(trials)
	mode := min(n, int64(math.Floor(float64(trials)*p))) // near the mode is enough
	odds := newFloat().Quo(exact(p), newFloat().Sub(exact(1), exact(p)))
	integer, ratio := newFloat(), newFloat()
	up := outward(func(i int) *big.Float {
		k := mode + int64(i)
		ratio.Mul(odds, integer.SetInt64(n-k))
		return ratio.Quo(ratio, integer.SetInt64(k+1))
	})
	down := outward(func(i int) *big.Float {
		k := mode - int64(i)
		ratio.Quo(integer.SetInt64(k), odds)
		return ratio.Quo(ratio, integer.SetInt64(n-k+1))
	})
	l := twoSidedLaw(mode, up, down)
	return &Binomial{variance, newTable(l), l.distance()}, nil
}

// Add adds one independent draw to each element of dst.
func (b *Binomial) Add(dst []int64, random *Stream) { b.table.add(dst, random) }

// Distance bounds the total variation distance of one draw from the ideal law.
func (b *Binomial) Distance() float64 { return b.distance }

// Variance is trials·p·(1-p).
func (b *Binomial) Variance() float64 { return b.variance }
