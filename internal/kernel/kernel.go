// Package kernel holds the inner loops: matrix products and vector sums over plain float32 slices, the cipher stream, and the
// draws of the samplers.
//
// It is the seam behind which faster versions stand: callers state shapes, never how a loop runs, and the processor chooses. Every
// result is a function of its arguments alone (sums run in a fixed order), so a run gives the same bits on any number of cores.
// Matrices are row-major and dense; slices longer than their shape are an internal error and panic by bounds check.
package kernel

import "math"

// MatMul sets c = a·b with a of m×k, b of k×n, c of m×n.
//
// It runs along rows of b and skips zeros of a: four fifths of MNIST's pixels are zero.
func MatMul(c, a, b []float32, m, k, n int) {
	c = c[:m*n]
	clear(c)
	for i := range m {
		row := c[i*n : (i+1)*n]
		for l, x := range a[i*k : (i+1)*k] {
			if x != 0 {
				Axpy(row, x, b[l*n:(l+1)*n])
			}
		}
	}
}

// MatMulTransA adds aᵀ·b to c, with a of m×k, b of m×n, c of k×n: a sum of outer products, example by example.
func MatMulTransA(c, a, b []float32, m, k, n int) {
	for i := range m {
		row := b[i*n : (i+1)*n]
		for l, x := range a[i*k : (i+1)*k] {
			if x != 0 {
				Axpy(c[l*n:(l+1)*n], x, row)
			}
		}
	}
}

// MatMulTransB sets c = a·bᵀ with a of m×n, b of k×n, c of m×k.
func MatMulTransB(c, a, b []float32, m, n, k int) {
	for i := range m {
		row := a[i*n : (i+1)*n]
		for l := range k {
			c[i*k+l] = dot(row, b[l*n:(l+1)*n])
		}
	}
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

// dot multiplies with four partial sums, so that one addition need not wait for the one before.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// Scale multiplies every element by x.
func Scale(y []float32, x float32) {
	for i := range y {
		y[i] *= x
	}
}

// Finite reports whether no element is NaN or infinite.
func Finite(x []float32) bool {
	for _, v := range x {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 { // exponent all ones
			return false
		}
	}
	return true
}
