package kernel

import "encoding/binary"

// Round sets dst to scale·x, rounded up with a probability of the fraction. scale counts in units of 2^-32: the product is cut towards
// zero to 32 bits after the point, and four bytes of coins for each element decide. Products must be below 2^62.
func Round(dst []int64, x []float32, scale float64, coins []byte) {
	x, coins = x[:len(dst)], coins[:4*len(dst)]
	for i := roundFast(dst, x, scale, coins); i < len(dst); i++ {
		dst[i] = (int64(float64(x[i])*scale) + int64(binary.LittleEndian.Uint32(coins[4*i:]))) >> 32
	}
}

// AddWrapped adds x to sum, each element modulo mask+1 and centred: half is half of that, mask one less.
func AddWrapped(sum, x []int64, half, mask int64) {
	x = x[:len(sum)]
	for i := addWrappedFast(sum, x, half, mask); i < len(sum); i++ {
		sum[i] += (x[i]+half)&mask - half
	}
}

// SumSquares is the squared L2 norm, summed in float64: a clip must not lose a small coordinate beside a large one. Element i goes to
// partial sum i mod 8, whatever the processor, so that every one gives the same bits.
func SumSquares(x []float32) float64 {
	var s Squares
	s.Add(x)
	return s.Sum()
}

// Squares are the partial sums of SumSquares. Parts of a vector that is zero elsewhere, each beginning at a multiple of 8, add up to the
// same bits as the whole.
type Squares [8]float64

// Add takes further elements.
func (s *Squares) Add(x []float32) {
	i := addSquaresFast(s, x)
	for ; len(x)-i >= 8; i += 8 {
		y := x[i : i+8 : i+8]
		for j := range s {
			v := float64(y[j])
			s[j] += float64(v * v) // the conversion keeps compilers from fusing the two operations
		}
	}
	for j, v := range x[i:] {
		s[j] += float64(float64(v) * float64(v))
	}
}

// Sum is that of all.
func (s *Squares) Sum() float64 {
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
