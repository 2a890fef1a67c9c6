package sums

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Covariance is a symmetric matrix, row by row; only what lies on and below the diagonal is read.
type Covariance struct {
	Dim    int
	Values []float64
}

func (c Covariance) at(i, j int) float64 { return c.Values[i*c.Dim+j] }

// ErrLeaks marks a covariance that leaves a direction without noise.
var ErrLeaks = errors.New("no guarantee")

// LeakError names a direction in which the sum of the others' updates does not vary, or in which the matrix is no covariance at
// all: what the target sends along it is seen as it is.
type LeakError struct {
	Direction []float64 // of length one
	Variance  float64   // of the noise along it: 0, or below
}

// Error says which entries make up the direction.
func (e *LeakError) Error() string {
	kind := "singular"
	if e.Variance < 0 {
		kind = "not positive"
	}
	return fmt.Sprintf("sums: the covariance is %s: variance %.3g along %s, so that what a client sends there is seen as it is (%v); "+
		"every direction must have a variance above 0: add noise, or leave these entries out", kind, e.Variance, e.words(), ErrLeaks)
}

// Unwrap makes errors.Is(err, ErrLeaks) true.
func (e *LeakError) Unwrap() error { return ErrLeaks }

// words writes the direction by its largest entries.
func (e *LeakError) words() string {
	order := make([]int, len(e.Direction))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(e.Direction[a]), math.Abs(e.Direction[b]); {
		case x > y+1e-9:
			return -1
		case y > x+1e-9:
			return 1
		}
		return 0
	})
	var parts []string
	for _, i := range order {
		if math.Abs(e.Direction[i]) < 1e-6 {
			break
		}
		if len(parts) == 4 {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, fmt.Sprintf("%.3g of entry %d", e.Direction[i], i))
	}
	return strings.Join(parts, ", ")
}

// singular is the share of an entry's own variance below which what the entries before it leave unexplained counts as nothing:
// rounding alone leaves about as much in a matrix of some thousand rows.
const singular = 1e-12

// Factor is the root L of a covariance Σ = LLᵀ.
type Factor struct {
	dim int
	l   []float64 // lower triangle, row by row
}

// Each runs a function for 0 to n-1, in any order and on as many goroutines as the caller likes, and returns when all are done.
type Each func(n int, do func(i int))

// OneByOne is an Each without goroutines.
func OneByOne(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}

// block is the side of the blocks of a factorisation: three of them fit into a processor's second cache.
const block = 96

// Factorize overwrites the covariance, on and below the diagonal, with its root. It refuses with a [LeakError] what is not positive
// definite.
func Factorize(c Covariance, each Each) (*Factor, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	d := c.Dim
	f := &Factor{d, c.Values}
	own := make([]float64, d)
	for i := range own {
		own[i] = c.at(i, i)
	}
	for start := 0; start < d; start += block {
		end := min(start+block, d)
		// What the columns before explain: A[start:, start:end] -= L[start:, :start]·L[start:end, :start]ᵀ.
		if start > 0 {
			each((d-start+block-1)/block, func(r int) {
				from := start + r*block
				to := min(from+block, d)
				if r == 0 { // on the diagonal only what lies below it is written
					for i := from; i < to; i++ {
						for j := from; j <= i; j++ {
							f.l[i*d+j] -= dot(f.l[i*d:i*d+start], f.l[j*d:j*d+start])
						}
					}
					return
				}
				blas64.Gemm(blas.NoTrans, blas.Trans, -1, f.view(from, to, 0, start), f.view(start, end, 0, start), 1, f.view(from, to, start, end))
			})
		}
		for j := start; j < end; j++ {
			pivot := f.l[j*d+j] - squares(f.l[j*d+start:j*d+j])
			if !(pivot > singular*own[j]) {
				return nil, f.leak(j, pivot, own[j])
			}
			f.l[j*d+j] = math.Sqrt(pivot)
			for i := j + 1; i < end; i++ {
				f.l[i*d+j] = (f.l[i*d+j] - dot(f.l[i*d+start:i*d+j], f.l[j*d+start:j*d+j])) / f.l[j*d+j]
			}
		}
		each((d-end+block-1)/block, func(r int) {
			for i := end + r*block; i < min(end+(r+1)*block, d); i++ {
				for j := start; j < end; j++ {
					f.l[i*d+j] = (f.l[i*d+j] - dot(f.l[i*d+start:i*d+j], f.l[j*d+start:j*d+j])) / f.l[j*d+j]
				}
			}
		})
	}
	return f, nil
}

func (c Covariance) check() error {
	if c.Dim > maxMoments {
		return fmt.Errorf("sums: a covariance of dimension %d: at most %d, so that it fits into memory", c.Dim, maxMoments)
	}
	if c.Dim < 1 || len(c.Values) != c.Dim*c.Dim {
		return fmt.Errorf("sums: a covariance of dimension %d with %d numbers: it must have %d", c.Dim, len(c.Values), c.Dim*c.Dim)
	}
	for i := range c.Dim {
		for j := range i + 1 {
			if v := c.at(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("sums: the covariance of entries %d and %d is %g: it must be finite", i, j, v)
			}
		}
	}
	return nil
}

// view is rows from to to, columns left to right of the matrix.
func (f *Factor) view(from, to, left, right int) blas64.General {
	return blas64.General{Rows: to - from, Cols: right - left, Stride: f.dim, Data: f.l[from*f.dim+left : (to-1)*f.dim+right]}
}

// leak finds the direction e_j - Σ (regression on the entries before j), whose variance is the pivot.
func (f *Factor) leak(j int, pivot, own float64) error {
	d := f.dim
	direction := make([]float64, d)
	direction[j] = 1
	for k := j - 1; k >= 0; k-- { // L[:j,:j]ᵀ v = -L[j,:j]ᵀ
		sum := f.l[j*d+k]
		for i := k + 1; i < j; i++ {
			sum += f.l[i*d+k] * direction[i]
		}
		direction[k] = -sum / f.l[k*d+k]
	}
	size := squares(direction)
	variance := pivot / size
	if math.Abs(pivot) <= singular*math.Abs(own) {
		variance = 0
	}
	for i := range direction {
		direction[i] /= math.Sqrt(size)
	}
	return &LeakError{direction, variance}
}

func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func squares(x []float64) float64 { return dot(x, x) }

// Whiten overwrites each row x of a matrix with L⁻¹x: entries of a vector with this covariance become independent, with variance
// one, and distances between rows become those of the paper's equation 3.
func (f *Factor) Whiten(rows []float64, each Each) error {
	d := f.dim
	if len(rows)%d != 0 {
		return fmt.Errorf("sums: %d numbers are no rows of %d entries", len(rows), d)
	}
	n := len(rows) / d
	each((n+block-1)/block, func(r int) {
		from, to := r*block, min((r+1)*block, n)
		x := func(left, right int) blas64.General {
			return blas64.General{Rows: to - from, Cols: right - left, Stride: d, Data: rows[from*d+left : (to-1)*d+right]}
		}
		for start := 0; start < d; start += block {
			end := min(start+block, d)
			if start > 0 {
				blas64.Gemm(blas.NoTrans, blas.Trans, -1, x(0, start), f.view(start, end, 0, start), 1, x(start, end))
			}
			for i := from; i < to; i++ {
				row := rows[i*d : i*d+d]
				for j := start; j < end; j++ {
					row[j] = (row[j] - dot(row[start:j], f.l[j*d+start:j*d+j])) / f.l[j*d+j]
				}
			}
		}
	})
	return nil
}

// unwhiten overwrites y with L⁻ᵀy.
func (f *Factor) unwhiten(y []float64) {
	d := f.dim
	for j := d - 1; j >= 0; j-- {
		y[j] /= f.l[j*d+j]
		blas64.Axpy(-y[j], blas64.Vector{N: j, Inc: 1, Data: f.l[j*d : j*d+j]}, blas64.Vector{N: j, Inc: 1, Data: y[:j]})
	}
}

// Distance is how many standard deviations of Gaussian noise with this covariance two updates are apart: the paper's equation 3.
// The trade-off of telling them apart is that of [accountant.GDP] with this mu (Proposition 1), and the worst pair of a set
// gives the curve of Theorem 2.
func Distance(c Covariance, difference []float64) (float64, error) {
	if len(difference) != c.Dim {
		return 0, fmt.Errorf("sums: a difference of %d entries, the covariance has dimension %d", len(difference), c.Dim)
	}
	for i, v := range difference {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("sums: entry %d of the difference is %g: it must be finite", i, v)
		}
	}
	f, err := Factorize(Covariance{c.Dim, slices.Clone(c.Values)}, OneByOne)
	if err != nil {
		return 0, err
	}
	white := slices.Clone(difference)
	if err := f.Whiten(white, OneByOne); err != nil {
		return 0, err
	}
	return math.Sqrt(squares(white)), nil
}

// BallDistance is the distance of the worst pair of all updates with a norm of at most radius: 2·radius over the root of the smallest
// eigenvalue (the paper's appendix A.2, whose radius is r·√d, and which forgets the root).
func BallDistance(c Covariance, radius float64) (float64, error) {
	if !(radius > 0) || math.IsInf(radius, 1) {
		return 0, fmt.Errorf("sums: radius %g must be finite and greater than 0", radius)
	}
	if _, err := Factorize(Covariance{c.Dim, slices.Clone(c.Values)}, OneByOne); err != nil {
		return 0, err
	}
	full := mat.NewSymDense(c.Dim, nil)
	for i := range c.Dim {
		for j := range i + 1 {
			full.SetSym(i, j, c.at(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(full, false) {
		return 0, fmt.Errorf("sums: the eigenvalues of the covariance did not converge")
	}
	return 2 * radius / math.Sqrt(eigen.Values(nil)[0]), nil
}
