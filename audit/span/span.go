// Package span asks whether a sum of updates can hide a record at all: the necessary condition of paper 000, as a test on real
// gradients.
//
// Secure aggregation without noise shows the server a mix of all gradients. If the gradient of one record lies outside the span of the
// others, the mix lies outside that span exactly when the record takes part, and no epsilon is finite (Theorem 1). Inside, a Gaussian mix
// has the covariance of the gradients, and its smallest eigenvalue bounds epsilon (Theorems 2 and 3).
//
// A gradient in float32 lies in no span exactly, so distance is measured with a little stiffness: combinations of the others that
// are tens of thousands of times larger than the gradient that they stand for do not count ([Tolerance]).
//
// It takes a matrix of gradients, or of updates where clients train, and knows no model.
//
// Paper 000: Zhang, Psounis, Differentially private federated learning without noise addition: when is it possible?,
// arXiv:2405.04551.
package span

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hubbub/internal/kernel"
	"hubbub/internal/spectrum"
)

const (
	// Tolerance is the part of a gradient that may lie outside the span of the others for it to count as inside. Gradients in float32
	// carry errors of some 1e-7 of their size, and their sums somewhat more.
	Tolerance = 1e-4
	// stiffness is the price of the size of a combination, beside its distance. It is above the errors and below the tolerance.
	stiffness = 1e-5
	// Largest is the most rows or columns, whichever are fewer, that are taken: the work grows with the cube.
	Largest = 4096
)

// Test knows the span of a set of gradients.
type Test struct {
	rows, dimension int
	gradients       []float64
	eigenvalues     []float64 // of GGᵀ or GᵀG, largest first
	spectrum        *spectrum.Spectrum
	root            mat.Cholesky
	ridge           float64
	gram            bool // the factorised side is that of the rows
}

// Distance is how far a gradient is from the span of the others.
type Distance struct {
	Row     int     `json:"row"`
	Norm    float64 `json:"norm"`
	Outside float64 `json:"outside"` // the part of the norm that no combination of the others explains, in [0, 1]
	Leaks   bool    `json:"leaks"`   // it is more than the tolerance
}

// New takes gradients, a row each.
func New[T float32 | float64](values []T, rows int) (*Test, error) {
	if rows < 2 || len(values) == 0 || len(values)%rows != 0 {
		return nil, fmt.Errorf("span: %d values of %d gradients: must be a matrix of at least 2 rows", len(values), rows)
	}
	t := &Test{rows: rows, dimension: len(values) / rows, gradients: make([]float64, len(values))}
	t.gram = rows <= t.dimension
	if side := min(rows, t.dimension); side > Largest {
		return nil, fmt.Errorf("span: %d gradients of %d weights: one of the two must be at most %d; take fewer clients or a smaller model", rows, t.dimension, Largest)
	}
	square := 0.0
	for i, v := range values {
		x := float64(v)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("span: gradient %d holds a value that is not finite", i/t.dimension)
		}
		t.gradients[i] = x
		square += x * x
	}
	if square == 0 {
		return nil, fmt.Errorf("span: all %d gradients are zero: there is nothing to hide", rows)
	}
	t.ridge = stiffness * stiffness * square / float64(rows)
	return t, t.factorise()
}

// factorise prepares GGᵀ + ridge, or GᵀG + ridge, whichever is smaller.
func (t *Test) factorise() error {
	rows, n, k := t.gradients, t.rows, t.dimension
	if !t.gram {
		rows, n, k = mat.DenseCopyOf(mat.NewDense(t.rows, t.dimension, t.gradients).T()).RawMatrix().Data, t.dimension, t.rows
	}
	side := make([]float64, n*n)
	kernel.AddGram64(side, n, 1, rows, k, n, k)
	stiff := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			stiff.SetSym(i, j, side[i*n+j])
		}
		stiff.SetSym(i, i, side[i*n+i]+t.ridge)
	}
	if !t.root.Factorize(stiff) {
		return fmt.Errorf("span: %d gradients of %d weights are too far apart in size to be compared", t.rows, t.dimension)
	}
	s, err := spectrum.Of(side, n)
	if err != nil {
		return fmt.Errorf("span: %w", err)
	}
	t.spectrum = s
	t.eigenvalues = slices.Sorted(slices.Values(s.Values()))
	slices.Reverse(t.eigenvalues)
	for i, v := range t.eigenvalues {
		t.eigenvalues[i] = max(v, 0)
	}
	return nil
}

// Row measures how far row i is from the span of the others: the smallest |g - Σc_j g_j|² + ridge·|c|² over combinations c of the others.
//
// With few rows it is the inverse of a diagonal element of (GGᵀ + ridge)⁻¹, less the ridge (a Schur complement); with many
// it is ridge·h/(1-h), h = gᵀ(GᵀG + ridge)⁻¹g. Both are the same number.
func (t *Test) Row(i int) (Distance, error) {
	if i < 0 || i >= t.rows {
		return Distance{}, fmt.Errorf("span: row %d: there are rows 0 to %d", i, t.rows-1)
	}
	g := t.gradients[i*t.dimension : (i+1)*t.dimension]
	d := Distance{Row: i, Norm: norm(g)}
	if d.Norm == 0 {
		return d, nil
	}
	var solved mat.VecDense
	square := 0.0
	if t.gram {
		unit := mat.NewVecDense(t.rows, nil)
		unit.SetVec(i, 1)
		if err := t.root.SolveVecTo(&solved, unit); err != nil && !conditioned(err) {
			return d, fmt.Errorf("span: row %d: %w", i, err)
		}
		square = 1/solved.AtVec(i) - t.ridge
	} else {
		if err := t.root.SolveVecTo(&solved, mat.NewVecDense(t.dimension, g)); err != nil && !conditioned(err) {
			return d, fmt.Errorf("span: row %d: %w", i, err)
		}
		h := mat.Dot(mat.NewVecDense(t.dimension, g), &solved)
		square = t.ridge * h / max(1-h, 1e-16)
	}
	d.Outside = min(1, math.Sqrt(max(square, 0))/d.Norm)
	d.Leaks = d.Outside > Tolerance
	return d, nil
}

// conditioned reports whether an error only warns of a badly conditioned matrix, which one with a small ridge always is.
func conditioned(err error) bool {
	_, only := err.(mat.Condition)
	return only
}

func norm(x []float64) float64 {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}

// Rank is the dimension of the span, directions below the tolerance left out.
func (t *Test) Rank() int {
	rank := 0
	for _, v := range t.eigenvalues {
		if v > t.ridge {
			rank++
		}
	}
	return rank
}

// Eigenvalues are those of GGᵀ/rows, the covariance of gradients in the sense of the paper, largest first; the rest of as many as there are
// weights are zero.
func (t *Test) Eigenvalues() []float64 {
	values := slices.Clone(t.eigenvalues)
	for i := range values {
		values[i] /= float64(t.rows)
	}
	return values
}

// Smallest is the least eigenvalue of the covariance over all weights: zero unless the gradients span them.
func (t *Test) Smallest() float64 {
	if t.Rank() < t.dimension {
		return 0
	}
	return t.eigenvalues[len(t.eigenvalues)-1] / float64(t.rows)
}
