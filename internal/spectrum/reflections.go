package spectrum

import (
	"math"

	"hubbub/internal/kernel"
)

// blockWidth is how many reflections are gathered before the rest of the matrix is brought up to date with all of them at once.
const blockWidth = 32

// reflections turn a symmetric matrix A into QᵀAQ, tridiagonal. Reflection k is I - τvvᵀ with v zero up to k, kept in row k of the
// matrix, behind its diagonal.
type reflections struct {
	n       int
	vectors []float64 // the used-up matrix
	tau     []float64
}

func (r *reflections) vector(k int) []float64 { return r.vectors[k*r.n+k+1 : (k+1)*r.n] }

// reduce makes the reflections, and returns the diagonal of the tridiagonal matrix and what lies beside it (beside[k] between k and k+1).
func (r *reflections) reduce(matrix []float64, n int) (diagonal, beside []float64) {
	r.n, r.vectors, r.tau = n, matrix, make([]float64, n)
	diagonal, beside = make([]float64, n), make([]float64, n)
	mirror(matrix, n, 0)
	b := block{n: n, matrix: matrix, v: make([]float64, blockWidth*n), w: make([]float64, blockWidth*n),
		column: make([]float64, n), left: make([]float64, n*2*blockWidth), right: make([]float64, n*2*blockWidth)}
	for k := 0; k < n; k++ {
		diagonal[k] = b.nextColumn(k)
		if k == n-1 {
			break
		}
		x := b.column[k+1:]
		beside[k], r.tau[k] = reflect(x)
		b.nextPair(k, r.tau[k])
		copy(r.vector(k), x)
		if b.width == blockWidth {
			b.bringUpToDate(k + 1)
		}
	}
	return diagonal, beside
}

// mirror copies the lower triangle, from a row and column on, into the upper.
func mirror(matrix []float64, n, from int) {
	const tile = 32 // a tile and its mirror image stay in the first cache
	for top := from; top < n; top += tile {
		for left := from; left <= top; left += tile {
			for i := top; i < min(top+tile, n); i++ {
				for j := left; j < min(left+tile, i); j++ {
					matrix[j*n+i] = matrix[i*n+j]
				}
			}
		}
	}
}

// reflect turns x into the v of a reflection that makes it (alpha, 0, ..., 0). v begins with 1.
func reflect(x []float64) (alpha, tau float64) {
	largest := 0.0
	for _, v := range x[1:] {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		alpha, x[0] = x[0], 1
		return alpha, 0
	}
	largest = max(largest, math.Abs(x[0]))
	square := 0.0
	for _, v := range x {
		square += v / largest * (v / largest)
	}
	alpha = -math.Copysign(largest*math.Sqrt(square), x[0]) // the sign that does not cancel
	first := x[0] - alpha
	for i := range x {
		x[i] /= first
	}
	x[0] = 1
	return alpha, -first / alpha
}

// block is what the last few reflections leave to be done: the matrix, from their last row on, still lacks VWᵀ + WVᵀ.
type block struct {
	n           int
	matrix      []float64
	width       int
	v, w        []float64 // rows of n, one per reflection
	column      []float64
	left, right []float64 // columns of [V W] and [W V], as rows
}

func (b *block) pair(p int) (v, w []float64) { return b.v[p*b.n : (p+1)*b.n], b.w[p*b.n : (p+1)*b.n] }

// nextColumn writes column k of the matrix, up to date and from its diagonal down, and returns the diagonal element.
func (b *block) nextColumn(k int) float64 {
	column := b.column[k:]
	copy(column, b.matrix[k*b.n+k:(k+1)*b.n]) // a row: the matrix is symmetric
	for p := range b.width {
		v, w := b.pair(p)
		vk, wk := v[k], w[k]
		v, w = v[k:], w[k:]
		for i := range column {
			column[i] -= v[i]*wk + w[i]*vk
		}
	}
	return column[0]
}

// nextPair takes the reflection in the column: w = τ(A v - ½τ(vᵀAv)v), A being up to date.
func (b *block) nextPair(k int, tau float64) {
	from := k + 1
	v, w := b.pair(b.width)
	clear(v[:from])
	copy(v[from:], b.column[from:])
	clear(w)
	x, y := v[from:], w[from:]
	m := b.n - from
	kernel.AddDots64(y, 1, 1, b.matrix[from*b.n+from:], b.n, x, m, m, 1, m)
	for p := range b.width {
		earlierV, earlierW := b.pair(p)
		earlierV, earlierW = earlierV[from:], earlierW[from:]
		var alongV, alongW float64
		for i, value := range x {
			alongV += earlierV[i] * value
			alongW += earlierW[i] * value
		}
		for i := range y {
			y[i] -= earlierV[i]*alongW + earlierW[i]*alongV
		}
	}
	along := 0.0
	for i := range y {
		y[i] *= tau
		along += x[i] * y[i]
	}
	for i := range y {
		y[i] -= tau / 2 * along * x[i]
	}
	b.width++
}

// bringUpToDate subtracts VWᵀ + WVᵀ from the matrix, from a row and column on.
func (b *block) bringUpToDate(from int) {
	depth := 2 * b.width
	for i := from; i < b.n; i++ {
		for p := range b.width {
			v, w := b.v[p*b.n+i], b.w[p*b.n+i]
			b.left[i*depth+p], b.left[i*depth+b.width+p] = v, w
			b.right[i*depth+p], b.right[i*depth+b.width+p] = w, v
		}
	}
	if m := b.n - from; m > 0 {
		kernel.AddLowerDots64(b.matrix[from*b.n+from:], b.n, -1, b.left[from*depth:], depth, b.right[from*depth:], depth, m, depth)
		mirror(b.matrix, b.n, from)
	}
	b.width = 0
}

// apply replaces x by Qᵀx.
func (r *reflections) apply(x []float64) {
	for k := range r.n - 1 {
		r.one(k, x)
	}
}

// applyBack replaces x by Qx.
func (r *reflections) applyBack(x []float64) {
	for k := r.n - 2; k >= 0; k-- {
		r.one(k, x)
	}
}

func (r *reflections) one(k int, x []float64) {
	v := r.vector(k)
	x = x[k+1:][:len(v)]
	along := 0.0
	for i, value := range v {
		along += value * x[i]
	}
	along *= r.tau[k]
	for i, value := range v {
		x[i] -= along * value
	}
}
