// Package kernel holds the inner loops: matrix products, sums and transforms of plain float32 slices, the cipher stream and the masks
// made of it, the draws of the samplers, rounding, and the packing of bits.
//
// It is the seam behind which faster versions stand: callers state shapes, never how a loop runs, and the processor chooses (or the
// environment variable HUBBUB_CPU, see [CPU]). Sums run in a fixed order, so a run gives the same bits on any number of cores. All
// kernels but one give the same bits on any processor: products round differently where multiplication and addition are one
// instruction. Slices too short for their shape are an internal error and panic.
package kernel

import "math"

// MatMul sets c = a·b with a of m×k, b of k×n, c of m×n. [Workspace.Multiply] is the same for a caller that keeps memory.
func MatMul(c, a, b []float32, m, k, n int) {
	new(Workspace).Multiply(c, n, View{a, k, 1}, View{b, n, 1}, m, n, k, false)
}

// MatMulTransA adds aᵀ·b to c, with a of m×k, b of m×n, c of k×n: a sum of outer products, example by example.
func MatMulTransA(c, a, b []float32, m, k, n int) {
	new(Workspace).Multiply(c, n, View{a, 1, k}, View{b, n, 1}, k, n, m, true)
}

// MatMulTransB sets c = a·bᵀ with a of m×n, b of k×n, c of m×k.
func MatMulTransB(c, a, b []float32, m, n, k int) {
	new(Workspace).Multiply(c, k, View{a, n, 1}, View{b, 1, n}, m, k, n, false)
}

// Axpy adds x·b to y, element by element.
func Axpy(y []float32, x float32, b []float32) {
	b = b[:len(y)]
	for len(y) >= 4 && len(b) >= 4 { // four at a time: one bounds check and one branch for all of them
		y[0] += x * b[0]
		y[1] += x * b[1]
		y[2] += x * b[2]
		y[3] += x * b[3]
		y, b = y[4:], b[4:]
	}
	for i := range y {
		y[i] += x * b[i]
	}
}

// Scale multiplies every element by x.
func Scale(y []float32, x float32) {
	for i := range y {
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
