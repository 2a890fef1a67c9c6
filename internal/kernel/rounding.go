package kernel

import (
	"encoding/binary"
	"math"
)

// Round sets dst to scale·x, rounded up with a probability of the fraction. scale counts in units of 2^-32: the product is cut towards
// zero to 32 bits after the point, and four bytes of coins for each element decide. Products must be below 2^62.
func Round(dst []int64, x []float32, scale float64, coins []byte) {
	x, coins = x[:len(dst)], coins[:4*len(dst)]
	for i := roundFast(dst, x, scale, coins); i < len(dst); i++ {
		dst[i] = (int64(float64(x[i])*scale) + int64(binary.LittleEndian.Uint32(coins[4*i:]))) >> 32
	}
}

// AddNearest adds scale·x, rounded to the nearest whole number (the even one of two), to sum. Products must be below 2^62.
func AddNearest(sum []int64, x []float32, scale float64) {
	x = x[:len(sum)]
	for i := addNearestFast(sum, x, scale); i < len(sum); i++ {
		sum[i] += int64(math.RoundToEven(float64(x[i]) * scale))
	}
}

// AddNearest64 is AddNearest for float64.
func AddNearest64(sum []int64, x []float64, scale float64) {
	x = x[:len(sum)]
	for i := addNearest64Fast(sum, x, scale); i < len(sum); i++ {
		sum[i] += int64(math.RoundToEven(x[i] * scale))
	}
}

// Truncate sets dst to scale·x without its fraction. Products must be below 2^62.
func Truncate(dst []int64, x []float32, scale float64) {
	x = x[:len(dst)]
	for i := truncateFast(dst, x, scale); i < len(dst); i++ {
		dst[i] = int64(float64(x[i]) * scale)
	}
}

// AddClamped adds x to sum, each element cut to [-limit, limit].
func AddClamped(sum, x []int64, limit int64) {
	x = x[:len(sum)]
	for i := addClampedFast(sum, x, limit); i < len(sum); i++ {
		sum[i] += max(-limit, min(limit, x[i]))
	}
}

// AddWrapped adds x to sum, each element modulo mask+1 and centred: half is half of that, mask one less.
func AddWrapped(sum, x []int64, half, mask int64) {
	x = x[:len(sum)]
	for i := addWrappedFast(sum, x, half, mask); i < len(sum); i++ {
		sum[i] += (x[i]+half)&mask - half
	}
}

// Unwrap sets dst to scale times the sum modulo mask+1, centred: what AddWrapped's sums stand for.
func Unwrap(dst []float32, sum []int64, half, mask int64, scale float64) {
	sum = sum[:len(dst)]
	for i := unwrapFast(dst, sum, half, mask, scale); i < len(dst); i++ {
		dst[i] = float32(float64((sum[i]+half)&mask-half) * scale)
	}
}

// SumSquares is the squared L2 norm, summed in float64: a clip must not lose a small coordinate beside a large one. Element i goes to
// partial sum i mod 32, whatever the processor, so that every one gives the same bits.
func SumSquares(x []float32) float64 {
	if sum, ok := sumSquaresFast(x); ok {
		return sum
	}
	var s Squares
	s.Add(x)
	return s.Sum()
}

// RoughSquares sets each of squares to the squared L2 norm of a row of x, summed mostly in float32, and off by less than 2^-17 of it: for a
// clip that keeps back more.
//
// Each block of 4096 has 64 partial sums. A square is rounded once, the up to 64 squares of a partial sum and the 64 partial sums are added
// in 63 and 6 steps, and no term is negative: the error is below 71·2^-24. Squares below the normal float32 numbers are off by 2^-150 at
// the most; where that could matter, and where squares overflow, the sum is made in float64.
func RoughSquares(squares []float64, x []float32) {
	if len(squares) == 0 || len(x) == 0 {
		clear(squares)
		return
	}
	columns := len(x) / len(squares)
	if columns <= roughLength {
		roughRows(squares, x, columns)
	}
	for i, sum := range squares {
		row := x[i*columns : (i+1)*columns]
		if columns > roughLength {
			sum = roughBlocks(row)
		}
		if !(sum >= leastRough && sum <= math.MaxFloat64) {
			sum = SumSquares(row)
		}
		squares[i] = sum
	}
}

const (
	roughLength = 4096
	leastRough  = 0x1p-90 // 2^36 elements would have to be off by 2^-150 for 2^-24 of it
)

// roughBlocks adds up the blocks of a long row.
func roughBlocks(x []float32) (sum float64) {
	var part [1]float64
	for at := 0; at < len(x); at += roughLength {
		block := x[at:min(at+roughLength, len(x))]
		roughRows(part[:], block, len(block))
		sum += part[0]
	}
	return sum
}

func roughRows(sums []float64, x []float32, columns int) {
	if roughRowsFast(sums, x[:len(sums)*columns], columns) {
		return
	}
	for i := range sums {
		sums[i] = float64(roughRow(x[i*columns : (i+1)*columns]))
	}
}

// roughRow is the definition that the faster versions are held against.
func roughRow(x []float32) float32 {
	var s [64]float32
	for len(x) > 0 {
		n := min(len(x), len(s))
		for j, v := range x[:n] {
			s[j] += float32(v * v) // the conversion keeps compilers from fusing the two operations
		}
		x = x[n:]
	}
	for half := len(s) / 2; half > 0; half /= 2 {
		for j := range half {
			s[j] += s[j+half]
		}
	}
	return s[0]
}

// Squares are the partial sums of SumSquares. Parts of a vector that is zero elsewhere, each beginning at a multiple of 32, add up to the
// same bits as the whole.
type Squares [32]float64

// Add takes further elements.
func (s *Squares) Add(x []float32) {
	if addSquaresFast(s, x) {
		return
	}
	for len(x) > 0 {
		n := min(len(x), len(s))
		for j, v := range x[:n] {
			s[j] += float64(float64(v) * float64(v)) // the conversion keeps compilers from fusing the two operations
		}
		x = x[n:]
	}
}

// Sum is that of all.
func (s Squares) Sum() float64 {
	for half := len(s) / 2; half > 0; half /= 2 {
		for j := range half {
			s[j] += s[j+half]
		}
	}
	return s[0]
}
