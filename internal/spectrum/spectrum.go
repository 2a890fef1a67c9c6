// Package spectrum finds the eigenvalues of a symmetric matrix and turns vectors into the basis of its eigenvectors and back.
//
// No eigenvector is ever written down. The matrix is made tridiagonal by reflections and diagonal by rotations, both are kept, and a
// vector goes through them one by one: n² steps each way, where the n vectors would take n³ to find and as much to use. That is
// what water-filling needs, a function of a covariance times one vector of noise.
//
// Promise: with V the eigenvectors, VᵀV is the identity and V·diag(values)·Vᵀ the matrix, but for rounding of some n·2^-53 of its
// largest eigenvalue. Both steps are backward stable (Wilkinson 1965).
//
// Reflections in blocks: Dongarra, Hammarling, Sorensen, Block reduction of matrices to condensed forms, 1989. Rotations: the
// implicit QL method, Dubrulle, Martin, Wilkinson 1968.
package spectrum

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNotConverged is returned for a matrix whose eigenvalues the rotations did not find: it holds a NaN, an infinity or extreme values.
var ErrNotConverged = errors.New("spectrum: the eigenvalues did not converge: check the matrix for values that are not finite, or extreme")

// Spectrum is the decomposition of one symmetric matrix.
type Spectrum struct {
	values      []float64
	reflections reflections
	sweeps      []sweep
}

// Of decomposes the n×n matrix whose rows are given one after another. Only its lower triangle is read; the matrix is used up.
func Of(matrix []float64, n int) (*Spectrum, error) {
	if n < 1 || len(matrix) != n*n {
		return nil, fmt.Errorf("spectrum: %d values make no square matrix of %d rows", len(matrix), n)
	}
	var s Spectrum
	diagonal, beside := s.reflections.reduce(matrix, n)
	var err error
	s.values, s.sweeps, err = rotate(diagonal, beside)
	return &s, err
}

// Values are the eigenvalues, in the order of the coordinates that [Spectrum.Turn] gives.
func (s *Spectrum) Values() []float64 { return slices.Clone(s.values) }

// Turn replaces x by Vᵀx, its coordinates along the eigenvectors.
func (s *Spectrum) Turn(x []float64) {
	s.reflections.apply(x)
	for _, w := range s.sweeps {
		w.apply(x)
	}
}

// TurnBack replaces coordinates along the eigenvectors by Vx.
func (s *Spectrum) TurnBack(x []float64) {
	for i := len(s.sweeps) - 1; i >= 0; i-- {
		s.sweeps[i].applyBack(x)
	}
	s.reflections.applyBack(x)
}
