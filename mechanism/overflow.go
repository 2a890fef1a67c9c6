package mechanism

import (
	"errors"
	"fmt"
	"math"
)

// ErrTooFewBits marks settings whose sums do not fit their bits.
var ErrTooFewBits = errors.New("too few")

// maxOverflow is the accepted chance, per round, that any coordinate of the sum leaves the range of its bits.
const maxOverflow = 1e-6

// allowedOverflow is what a granularity is fitted to where overflows are allowed: a wrong coordinate every other round at the most, one
// of very many.
const allowedOverflow = 0.5

// maxBits keeps the plain sum of 2^20 contributions within an int64.
const maxBits = 40

// spread says how far a coordinate of the sum can lie from zero.
//
// The tail comes from the moment generating function (Chernoff's bound): parts add up in the exponent, and it holds for all
// updates within the clip. The tail bound of paper 002, A.3, does not: it asks for 2^B >= h·log(d) whatever the noise.
type spread struct {
	width   int                       // coordinates
	certain float64                   // what the random part comes on top of
	rest    []func(t float64) float64 // log E[exp(±tX)], the larger of the two signs, for each independent part X
	or      *spread                   // another way to bound the same; nil: none
	doubt   float64                   // probability that this way does not apply
}

// subGaussian is a part that is no wider than a normal number of this variance.
func subGaussian(variance float64) func(t float64) float64 {
	return func(t float64) float64 { return variance * t * t / 2 }
}

// skellamPart is the difference of two Poisson numbers of this rate.
func skellamPart(rate float64) func(t float64) float64 {
	return func(t float64) float64 { return 2 * rate * (math.Cosh(t) - 1) }
}

// binomialPart is Bin(trials, p) less its mean.
func binomialPart(trials, p float64) func(t float64) float64 {
	one := func(t float64) float64 { return math.Log1p(p*math.Expm1(t)) - p*t }
	return func(t float64) float64 { return trials * max(one(t), one(-t)) }
}

// roundingPart is a sum of independent roundings of numbers whose distances from the nearest integers add up to this: by log(1+x) <= x,
// p away from an integer costs at most p(e^t - 1 - t).
func roundingPart(distances float64) func(t float64) float64 {
	return func(t float64) float64 { return distances * (math.Expm1(t) - t) }
}

// overflow bounds the chance that any coordinate leaves [-2^(bits-1), 2^(bits-1)).
func (s spread) overflow(bits int) float64 {
	p := s.chernoff(bits)
	if s.or != nil {
		p = min(p, s.or.doubt+s.or.chernoff(bits))
	}
	return p
}

func (s spread) chernoff(bits int) float64 {
	room := math.Ldexp(1, bits-1) - s.certain
	if room <= 0 {
		return 1
	}
	exponent := func(t float64) float64 {
		sum := -room * t
		for _, part := range s.rest {
			sum += part(t)
		}
		return sum
	}
	// The exponent is convex in t and starts at 0: narrow down its least value.
	lo, hi := 0.0, 1.0
	for hi < 500 && exponent(2*hi) < exponent(hi) {
		hi *= 2
	}
	hi *= 2
	for range 100 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if exponent(a) < exponent(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return min(1, 2*float64(s.width)*math.Exp(exponent((lo+hi)/2)))
}

// bits is the least number of bits with which an overflow is rare enough; 0 if there is none.
func (s spread) bits() int {
	for b := 2; b <= maxBits; b++ {
		if s.overflow(b) <= maxOverflow {
			return b
		}
	}
	return 0
}

// check refuses too few bits, unless overflows were allowed.
func (s spread) check(e Encoding) error {
	p := s.overflow(e.Bits)
	if p <= maxOverflow || e.AllowOverflow {
		return nil
	}
	would := fmt.Sprintf("not even %d would do", maxBits)
	if b := s.bits(); b > 0 {
		would = fmt.Sprintf("%d bits would do", b)
	}
	if !e.Rotate {
		would += ", or rotation"
	}
	return fmt.Errorf("mechanism: %d bits are %w: a sum could overflow with probability %.2g a round, more than %g: %s, or a granularity above %g",
		e.Bits, ErrTooFewBits, p, maxOverflow, would, e.Granularity)
}

// Overflows counts the coordinates of a sum that left the range of its bits, and that Decode therefore gets wrong. Only who has the sum
// of whole contributions can tell, a simulation: a sum of remainders does not show it.
func (m *Integer) Overflows(sum []int64) int {
	count := 0
	for _, x := range sum {
		if x < -m.codec.half || x >= m.codec.half {
			count++
		}
	}
	return count
}

// NoiseOverflow is the chance that the noise of so many contributions alone takes a coordinate out of the range of its bits; updates and
// their rounding come on top. It is that of a normal number of the same variance, rounded: within 1% down to a chance of 10^-4.
func (m *Integer) NoiseOverflow(contributors int) float64 {
	deviation := math.Sqrt(m.NoiseVariance(contributors)) / m.codec.Granularity
	half := float64(m.codec.half)
	above := func(x float64) float64 { return math.Erfc(x/deviation/math.Sqrt2) / 2 }
	return above(half-0.5) + above(half+0.5) // the range ends at half-1 and begins at -half
}
