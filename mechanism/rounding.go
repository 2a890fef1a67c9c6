package mechanism

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// Rounding says how real numbers become integers.
type Rounding string

// The ways of rounding.
const (
	// Stochastic rounds each coordinate by itself, up with a probability of its fraction: unbiased. It is the default.
	Stochastic Rounding = "stochastic"
	// Conditional repeats that until the norm is small enough, which biases the result towards zero.
	Conditional Rounding = "conditional"
)

// coins are the random bits of a block, four bytes for each coordinate: space that is kept, so that rounding allocates nothing.
type coins [4 * blockLength]byte

// roundStochastic sets dst to scale·x, rounded up with a probability of the fraction.
//
// scale·x is first cut, towards zero, to 32 bits after the point: an exact number that is no further from zero. From there on
// all is done in integers, so the chance of rounding up is the fraction itself. |scale·x| must be below 2^30.
//
// Every coordinate has its own coins, at its own place in the stream. A zero becomes a zero whatever they show, so those outside the runs
// are passed over, and dst is not set there.
func (coins *coins) roundStochastic(dst []int64, x []float32, runs Runs, scale float64, random *noise.Stream) {
	for at := 0; at < len(dst); at += blockLength {
		end := min(at+blockLength, len(dst))
		coins.roundBlock(dst[at:end], x[at:end], at, runs, scale, random)
	}
}

// roundBlock rounds the block that begins at coordinate at. It leaves dst as it is outside the runs.
func (coins *coins) roundBlock(dst []int64, x []float32, at int, runs Runs, scale float64, random *noise.Stream) {
	if runs == nil {
		coins.round(dst, x, scale, random)
		return
	}
	drawn := 0 // bytes of the block's coins
	for from, to := range runs.within(at, at+len(dst)) {
		from, to = from-at, to-at
		random.Skip(4*from - drawn)
		drawn = 4*from + coins.round(dst[from:to], x[from:to], scale, random)
	}
	random.Skip(coinBytes(len(dst)) - drawn)
}

// round draws the coins of a block or a part of it. It says how many bytes they were.
func (coins *coins) round(dst []int64, x []float32, scale float64, random *noise.Stream) int {
	n := coinBytes(len(dst))
	random.Fill(coins[:n])
	kernel.Round(dst, x, scale*(1<<32), coins[:])
	return n
}

// coinBytes is what so many coordinates take from a stream: whole blocks of the cipher.
func coinBytes(coordinates int) int { return (4*coordinates + 15) &^ 15 }

// maxTries is how often conditional rounding draws before it rounds towards zero instead.
const maxTries = 64

// roundConditional repeats roundStochastic until the squared norm is at most limit. After maxTries it rounds towards zero, so the
// bound holds in any case. The number of tries depends on the data: it must not be observable, nor the time it takes.
func (coins *coins) roundConditional(dst []int64, x []float32, runs Runs, scale float64, limit int64, random *noise.Stream) {
	parts := runs
	if runs == nil {
		parts = Runs{{0, len(dst)}}
	}
	for range maxTries {
		coins.roundStochastic(dst, x, runs, scale, random)
		norm := int64(0)
		for _, run := range parts {
			norm += squaredNorm(dst[run[0]:run[1]])
		}
		if norm <= limit {
			return
		}
	}
	for _, run := range parts {
		kernel.Truncate(dst[run[0]:run[1]], x[run[0]:run[1]], scale) // towards zero: the norm cannot grow
	}
}

// squaredNorm cannot overflow: encodings are limited to a norm of 2^30 before rounding and 2^26 coordinates.
func squaredNorm(x []int64) int64 {
	sum := int64(0)
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// minAcceptance is the least chance per try with which conditional rounding is allowed: 64 tries then fail in 4% of all cases.
const minAcceptance = 0.05

// Acceptance estimates the chance that stochastic rounding of a vector of norm l2 leaves a norm of at most limit, for the vector
// that gains most: the flat one.
//
// While its coordinates a = l2/sqrt(d) are below 1/2, they become 0 or 1, so the squared norm is Bin(d, a). Above, a coordinate's
// square gains f(1-f) <= 1/4 and varies by at most (2a)²/4, and the normal law stands in.
func Acceptance(dimension int, l2, limit float64) float64 {
	d := float64(dimension)
	if a := l2 / math.Sqrt(d); a <= 0.5 {
		return distuv.Binomial{N: d, P: a}.CDF(math.Floor(limit * limit))
	}
	return distuv.Normal{Mu: l2*l2 + d/4, Sigma: l2}.CDF(limit * limit)
}

// checkAcceptance refuses a limit that hardly any draw would meet, and says which would do.
func checkAcceptance(dimension int, l2, k float64) error {
	if !(k >= 1 && k <= 1e6) {
		return fmt.Errorf("mechanism: k %g outside [1, 1e6]: rounding must leave a vector at the clip norm somewhere to go", k)
	}
	p := Acceptance(dimension, l2, k*l2)
	if p >= minAcceptance {
		return nil
	}
	lo, hi := k, (l2+math.Sqrt(float64(dimension)))/l2 // at hi every draw is accepted
	for hi-lo > 1e-3*hi {
		if mid := (lo + hi) / 2; Acceptance(dimension, l2, mid*l2) < 0.5 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return fmt.Errorf("mechanism: conditional rounding is hopeless: a draw in %d coordinates with clip/granularity %g stays below %g times that with probability %.2g, less than %g: raise k to %.2f, use a smaller granularity, or rounding %q",
		dimension, l2, k, p, minAcceptance, math.Ceil(hi*100)/100, Stochastic)
}

// RoundedNorm bounds the norm after rounding a vector of norm l2, but for a probability beta below 1; with beta 0 always.
// (Kairouz, Liu, Steinke 2021, The distributed discrete Gaussian mechanism, arXiv:2102.06387, Section 4.)
func RoundedNorm(dimension int, l2, beta float64) float64 {
	d := float64(dimension)
	always := l2 + math.Sqrt(d)
	if beta <= 0 {
		return always
	}
	likely := math.Sqrt(l2*l2 + d/4 + math.Sqrt(2*math.Log(1/beta))*(l2+math.Sqrt(d)/2))
	return min(always, likely)
}
