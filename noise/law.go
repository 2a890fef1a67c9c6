package noise

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
)

// A law is an integer distribution written down as whole multiples of 2^-128, before anything is drawn.
//
// All laws here are log-concave: the ratio of neighbouring probabilities only falls on the way out from the mode. So a
// law is its ratios, and what lies beyond the last weight kept is at most a geometric series.
type law struct {
	lowest    int64     // the value that weights[0] belongs to
	symmetric bool      // weights[i] is the probability that |x| = i; the sign is a fair coin
	weights   []uint128 // in units of 2^-128; they sum to exactly 2^128
}

// uint128 is hi·2^64 + lo.
type uint128 struct{ hi, lo uint64 }

func (a uint128) add(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) sub(b uint128) uint128 {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return uint128{hi, lo}
}

func (a uint128) less(b uint128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a uint128) shiftLeft(n uint) uint128 {
	if n >= 64 {
		return uint128{a.lo << (n - 64), 0}
	}
	return uint128{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

func (a uint128) shiftRight(n uint) uint128 {
	if n >= 64 {
		return uint128{0, a.hi >> (n - 64)}
	}
	return uint128{a.hi >> n, a.lo>>n | a.hi<<(64-n)}
}

const (
	minVariance = 1e-9
	maxVariance = 1e9

	// precision is the number of bits that weights are computed with. A weight is a product of fewer than 2^20 ratios, each
	// wrong by a factor of at most 1 ± 2^20·2^-189 (Skellam's, which come from as long a recurrence; the others are far
	// better), so it is wrong by a factor within 1 ± 2^-148, and so is the sum that it is divided by.
	precision = 192

	arithmeticError = 0x1p-146 // total variation: half the sum of |error| over weights that are each within 1 ± 2^-147
	droppedError    = 0x1p-130 // both tails, each below 2^-131 of the largest weight
	roundingError   = 0x1p-128 // per weight; what rounding down loses is given to the largest
)

// distance bounds the total variation distance between the law and the ideal one.
func (l law) distance() float64 {
	return arithmeticError + droppedError + roundingError*float64(len(l.weights))
}

func checkVariance(law, parameter string, value, variance float64) error {
	if !(variance >= minVariance && variance <= maxVariance) { // NaN fails too
		return fmt.Errorf("noise: %s with %s %g has variance %g: outside [%g, %g]", law, parameter, value, variance, minVariance, maxVariance)
	}
	return nil
}

// outward multiplies ratios: 1, ratio(0), ratio(0)·ratio(1), ... It stops where all that would follow is below 2^-131.
// The ratios must fall, and reach below one.
func outward(ratio func(i int) *big.Float) []big.Float {
	weights := []big.Float{*newFloat().SetInt64(1)}
	for i := 0; ; i++ {
		r := ratio(i)
		next := newFloat().Mul(&weights[i], r)
		// next·(1 + r + r² + ...) bounds what follows. Float64 rounds to nearest, 0x1p-132 leaves room for that.
		w, _ := next.Float64()
		if q, _ := r.Float64(); w <= 0x1p-132*(1-q) {
			return weights
		}
		weights = append(weights, *next)
	}
}

func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

func exact(x float64) *big.Float { return newFloat().SetFloat64(x) }

// symmetricLaw is the law with weights outward[|x|].
func symmetricLaw(outward []big.Float) law {
	two := exact(2)
	for i := 1; i < len(outward); i++ {
		outward[i].Mul(&outward[i], two)
	}
	return law{symmetric: true, weights: inUnits(outward)}
}

// twoSidedLaw is the law with weights up[i] at start + i and down[i] at start - i.
func twoSidedLaw(start int64, up, down []big.Float) law {
	weights := make([]big.Float, 0, len(up)+len(down)-1)
	for i := len(down) - 1; i > 0; i-- {
		weights = append(weights, down[i])
	}
	return law{lowest: start - int64(len(down)-1), weights: inUnits(append(weights, up...))}
}

// inUnits divides the weights by their sum and rounds them down to multiples of 2^-128; the rest goes to the largest.
func inUnits(weights []big.Float) []uint128 {
	sum, largest := newFloat(), 0
	for i := range weights {
		sum.Add(sum, &weights[i])
		if weights[i].Cmp(&weights[largest]) > 0 {
			largest = i
		}
	}
	scale := newFloat().Quo(newFloat().SetMantExp(exact(1), 128), sum)
	units := make([]uint128, max(2, len(weights)))
	var total uint128
	product, whole := newFloat(), new(big.Int)
	for i := range weights {
		if i != largest {
			product.Mul(&weights[i], scale).Int(whole)
			var b [16]byte
			whole.FillBytes(b[:])
			units[i] = uint128{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
			total = total.add(units[i])
		}
	}
	if total == (uint128{}) { // one value has all the mass: 2^128 is one more than fits
		units[1-min(largest, 1)].lo, total.lo = 1, 1
	}
	units[largest] = uint128{}.sub(total) // 2^128 - total
	return units
}

// expNeg is e^-x for x >= 0, within a factor of 1 ± 2^-191 for x as given.
//
// The argument is halved until it is small, the series summed with enough bits, and the result squared back.
func expNeg(x *big.Float) *big.Float {
	const wide = precision + 64 // each squaring doubles the relative error; there are fewer than 40
	small := new(big.Float).SetPrec(wide).Neg(x)
	halvings := max(0, small.MantExp(nil)+8) // below 2^-8
	small.SetMantExp(small, -halvings)
	sum, term := new(big.Float).SetPrec(wide).SetInt64(1), new(big.Float).SetPrec(wide).SetInt64(1)
	for n := int64(1); n <= 32; n++ { // 2^-256/32! is below the precision
		term.Mul(term, small)
		term.Quo(term, new(big.Float).SetPrec(wide).SetInt64(n))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return newFloat().Set(sum)
}
