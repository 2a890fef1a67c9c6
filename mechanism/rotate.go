package mechanism

import (
	"math"
	"math/bits"

	"hubbub/noise"
)

// rotation flattens vectors: signs that everybody knows, then a Walsh-Hadamard transform. It keeps lengths and adds up, so
// the sum of rotated updates is the rotated sum; and no coordinate of it is much larger than the others, whatever the updates
// were, which is what saves bits (Suresh et al. 2017, Distributed mean estimation with limited communication).
type rotation struct {
	signs []float32 // ±1, one for each coordinate of an update
	width int       // a power of two, at least len(signs): the length of a rotated vector
}

func newRotation(dimension int, key noise.Key) *rotation {
	r := &rotation{signs: make([]float32, dimension), width: powerOfTwo(dimension)}
	random := key.Derive("rotation signs").Stream()
	var word uint64
	for i := range r.signs {
		if i%64 == 0 {
			word = random.Uint64()
		}
		r.signs[i] = 1 - 2*float32(word&1)
		word >>= 1
	}
	return r
}

func powerOfTwo(atLeast int) int { return 1 << bits.Len(uint(atLeast-1)) }

// forward sets dst, of the rotation's width, to scale times the rotated x, which is zero outside the runs.
func (r *rotation) forward(dst, x []float32, runs Runs, scale float64) {
	if runs == nil {
		runs = Runs{{0, len(r.signs)}}
	}
	s := float32(scale / math.Sqrt(float64(r.width)))
	dst = dst[:r.width]
	clear(dst)
	for _, run := range runs {
		x, dst := x[run[0]:run[1]], dst[run[0]:run[1]]
		for i, sign := range r.signs[run[0]:run[1]] {
			dst[i] = x[i] * s * sign
		}
	}
	hadamard(dst)
}

// backward undoes forward and scales. It works in y, and sets dst to what is left without the padding.
func (r *rotation) backward(dst, y []float32, scale float64) {
	hadamard(y[:r.width])
	s := float32(scale / math.Sqrt(float64(r.width)))
	dst, y = dst[:len(r.signs)], y[:len(r.signs)]
	for i, sign := range r.signs {
		dst[i] = y[i] * s * sign
	}
}

// hadamard applies the Walsh-Hadamard matrix of ±1 to x, whose length is a power of two. It is its own inverse but for the
// factor len(x).
//
// Blocks that fit a core's first cache go through all their levels before the next block, most of the time three levels at
// a time, which stay in registers.
func hadamard(x []float32) {
	const block = 1 << 12
	for at := 0; at < len(x); at += block {
		levels(x[at:min(at+block, len(x))], 1)
	}
	if len(x) > block {
		levels(x, block)
	}
}

// levels applies the levels of stride half, 2·half, ... len(x)/2.
func levels(x []float32, half int) {
	if half == 1 && len(x) >= 8 {
		eights(x)
		half = 8
	}
	for half < len(x) {
		left := bits.TrailingZeros(uint(len(x) / half)) // levels
		rows := 2
		switch {
		case left%3 == 0:
			rows = 8
		case left > 1:
			rows = 4
		}
		for at := 0; at < len(x); at += rows * half {
			g := x[at : at+rows*half]
			switch rows {
			case 8:
				three(g[:half], g[half:2*half], g[2*half:3*half], g[3*half:4*half], g[4*half:5*half], g[5*half:6*half], g[6*half:7*half], g[7*half:])
			case 4:
				two(g[:half], g[half:2*half], g[2*half:3*half], g[3*half:])
			default:
				one(g[:half], g[half:])
			}
		}
		half *= rows
	}
}

// eights applies the first three levels to each eight neighbours.
func eights(x []float32) {
	for len(x) >= 8 {
		a, b, c, d := four(x[0], x[1], x[2], x[3])
		e, f, g, h := four(x[4], x[5], x[6], x[7])
		x[0], x[1], x[2], x[3] = a+e, b+f, c+g, d+h
		x[4], x[5], x[6], x[7] = a-e, b-f, c-g, d-h
		x = x[8:]
	}
}

// three applies three levels across eight rows.
func three(x0, x1, x2, x3, x4, x5, x6, x7 []float32) {
	n := len(x0)
	x1, x2, x3, x4, x5, x6, x7 = x1[:n], x2[:n], x3[:n], x4[:n], x5[:n], x6[:n], x7[:n]
	for i := range x0 {
		a, b, c, d := four(x0[i], x1[i], x2[i], x3[i])
		e, f, g, h := four(x4[i], x5[i], x6[i], x7[i])
		x0[i], x1[i], x2[i], x3[i] = a+e, b+f, c+g, d+h
		x4[i], x5[i], x6[i], x7[i] = a-e, b-f, c-g, d-h
	}
}

// two applies two levels across four rows.
func two(x0, x1, x2, x3 []float32) {
	n := len(x0)
	x1, x2, x3 = x1[:n], x2[:n], x3[:n]
	for i := range x0 {
		x0[i], x1[i], x2[i], x3[i] = four(x0[i], x1[i], x2[i], x3[i])
	}
}

// one applies one level across two rows.
func one(x0, x1 []float32) {
	x1 = x1[:len(x0)]
	for i, v := range x0 {
		x0[i], x1[i] = v+x1[i], v-x1[i]
	}
}

// four is small enough to be inlined.
func four(a, b, c, d float32) (_, _, _, _ float32) {
	a, b, c, d = a+b, a-b, c+d, c-d
	return a + c, b + d, a - c, b - d
}
