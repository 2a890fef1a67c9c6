// Package mechanism protects updates: clip, encode, noise, and decode of the sum.
//
// A contribution is a vector of integers: the update on a fixed grid. Integers add exactly and in any order, so a sum does
// not depend on who came first or on the number of cores; and noise that is rounded to the grid before it is added
// leaves no trace of the data in the low bits (the floating-point attacks of Mironov 2012 and Haney et al. 2022 need one).
//
// None, [Gaussian] and [Laplace] add what a trusted server, or each client for itself, adds. [Skellam], [DiscreteGaussian], [SMM]
// and [Binomial] are made for secure aggregation: clients add shares of integer noise, and what anybody sees is the sum modulo
// a power of two, which holds them all. They have the way of an update in common, see [Integer]; each names its paper.
//
// Each mechanism carries its price: what adds the noise returns the event that it costs.
package mechanism

import (
	"errors"
	"fmt"
	"math"

	"hubbub/internal/kernel"
)

// ErrNotFinite is returned for an update that holds a NaN or an infinity. Nothing was added to the sum.
var ErrNotFinite = errors.New("mechanism: the update holds a value that is not finite")

// MaxBatch is the largest number of clients whose clipped updates may be summed in float32 before they are encoded.
const MaxBatch = 64

// slack is what the clip norm keeps back for float32 and grid rounding, so that the integers obey the bound exactly.
//
// Summing k <= 64 vectors of norm C in float32 rounds each of k partial sums, of norm kC at the most, by 2^-24: an L2 error
// below (k+1)k·2^-24·C = 2.5e-4·C, in either of two neighbouring sums. The grid adds sqrt(d)·2^-30·C, 1e-6·C for a million weights.
// The squared norms that a network measures are off by up to 2^-16, so a scaled vector's norm is above what it should be by up to
// 2^-17 = 7.7e-6 of it. 2^-10 = 9.8e-4 covers all: (1 - 9.8e-4)(1 + 7.7e-6) + 2·2.5e-4 + 1e-6 < 1.
const slack = 0x1p-10

// ClipFactor is what a vector with this squared L2 norm is multiplied by so that its norm is at most clip, less the slack.
func ClipFactor(squaredNorm, clip float64) float64 {
	return clipFactor(squaredNorm, clip*(1-slack))
}

func clipFactor(squaredNorm, bound float64) float64 {
	if squaredNorm <= bound*bound {
		return 1
	}
	return bound / math.Sqrt(squaredNorm)
}

// grid is the step between two neighbouring integers.
type grid float64

// add rounds factor·x to the grid and adds it to sum.
func (g grid) add(sum []int64, x []float32, factor float64) {
	kernel.AddNearest(sum, x, factor/float64(g))
}

// decode turns a sum of contributions into a mean: sum·grid/divisor.
func (g grid) decode(mean []float32, sum []int64, divisor float64) {
	kernel.Unwrap(mean, sum, 0, -1, float64(g)/divisor) // modulo 2^64: as it is
}

func checkUpdate(update []float32, dimension int) error {
	if len(update) != dimension {
		return fmt.Errorf("mechanism: an update of %d values for a sum of %d", len(update), dimension)
	}
	if !kernel.Finite(update) {
		return ErrNotFinite
	}
	return nil
}
