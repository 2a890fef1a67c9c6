// Package kernel holds the inner loops: matrix products, sums and transforms of plain float32 slices, the cipher stream and the masks
// made of it, the draws of the samplers, rounding, and the packing of bits.
//
// It is the seam behind which faster versions stand: callers state shapes, never how a loop runs, and the processor chooses (or the
// environment variable HUBBUB_CPU, see [CPU]). Sums run in a fixed order, so a run gives the same bits on any number of cores. All
// kernels but one give the same bits on any processor: products round differently where multiplication and addition are one
// instruction. Slices too short for their shape are an internal error and panic.
package kernel

import "math"

// Axpy adds x·b to y, element by element.
func Axpy(y []float32, x float32, b []float32) {
	b = b[:len(y)]
	for i := axpyFast(y, x, b); i < len(y); i++ {
		y[i] += float32(x * b[i]) // the conversion keeps compilers from fusing the two operations
	}
}

// Scale multiplies every element by x.
func Scale(y []float32, x float32) {
	for i := scaleFast(y, x); i < len(y); i++ {
		y[i] *= x
	}
}

// Finite reports whether no element is NaN or infinite.
func Finite(x []float32) bool {
	looked, finite := finiteFast(x)
	if !finite {
		return false
	}
	for _, v := range x[looked:] {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 { // exponent all ones
			return false
		}
	}
	return true
}
