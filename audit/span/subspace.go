package span

import (
	"fmt"
	"math"
	"slices"

	"hubbub/internal/kernel"
	"hubbub/internal/spectrum"
)

// Subspace is a space of few dimensions in that of the weights, by an orthonormal basis.
type Subspace struct {
	size, dimension int
	basis           []float64 // a row each
}

// Principal is the space of the k directions in which the gradients are largest: what a principal component analysis of them, about zero,
// finds.
func (t *Test) Principal(k int) (*Subspace, error) {
	if k < 1 || k > t.Rank() {
		return nil, fmt.Errorf("span: a subspace of %d dimensions: the gradients span %d", k, t.Rank())
	}
	values := t.spectrum.Values()
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if values[a] > values[b] {
			return -1
		}
		return 1
	})
	s := &Subspace{size: k, dimension: t.dimension, basis: make([]float64, k*t.dimension)}
	for i, at := range order[:k] {
		unit := make([]float64, len(values))
		unit[at] = 1
		t.spectrum.TurnBack(unit)
		direction := s.basis[i*t.dimension : (i+1)*t.dimension]
		if !t.gram {
			copy(direction, unit)
			continue
		}
		for row, weight := range unit { // an eigenvector v of GGᵀ stands for Gᵀv/√λ
			for j, g := range t.gradients[row*t.dimension : (row+1)*t.dimension] {
				direction[j] += weight / math.Sqrt(values[at]) * g
			}
		}
	}
	return s, nil
}

// Smallest is the least eigenvalue of GGᵀ/D of a client's gradients within the subspace, and outside the part of their squared norms that
// lies outside it, which Assumption 4 of the paper takes to be zero.
func (s *Subspace) Smallest(gradients []float32, rows int) (smallest, outside float64, err error) {
	if rows < 1 || len(gradients) != rows*s.dimension {
		return 0, 0, fmt.Errorf("span: %d values make no %d gradients of %d weights", len(gradients), rows, s.dimension)
	}
	wide := make([]float64, len(gradients))
	all := 0.0
	for i, v := range gradients {
		wide[i] = float64(v)
		all += wide[i] * wide[i]
	}
	coordinates := make([]float64, s.size*rows) // a row for each direction
	kernel.AddDots64(coordinates, rows, 1, s.basis, s.dimension, wide, s.dimension, s.size, rows, s.dimension)
	inside := 0.0
	for _, v := range coordinates {
		inside += v * v
	}
	side := make([]float64, s.size*s.size)
	kernel.AddGram64(side, s.size, 1/float64(rows), coordinates, rows, s.size, rows)
	spectrum, err := spectrum.Of(side, s.size)
	if err != nil {
		return 0, 0, fmt.Errorf("span: %w", err)
	}
	return max(0, slices.Min(spectrum.Values())), max(0, 1-inside/all), nil
}
