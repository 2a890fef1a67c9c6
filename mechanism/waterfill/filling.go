package waterfill

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Filling is the spectrum of a covariance Σ = GGᵀ/(BD) and the noise that lifts all of it to a floor.
//
// With fewer examples than weights, the eigenproblem is solved for the D×D matrix of the gradients' inner products (Gram),
// which has the same eigenvalues but for zeros. Its eigenvectors v need not be turned into those of Σ: all that is wanted
// is the product of the root of the missing covariance with a vector z, and that is
//
//	σz + Gᵀ V diag(h) Vᵀ G z/(BD),   h = (√max(σ²-λ, 0) - σ)/λ,   with G's rows the gradients,
//
// where h has no division by a small λ: it is -1/(√(σ²-λ) + σ) below the floor and -σ/λ above it.
type Filling struct {
	gradients *mat.Dense // D×d
	scale     float64    // 1/(BD)
	sigma     float64    // root of the floor
	values    []float64  // eigenvalues, ascending, as many as the side has rows
	vectors   *mat.Dense // their vectors, as columns
	gram      bool
}

// Fill finds the spectrum of the covariance of these gradients at batch size B, and what lifts it to the variance.
func Fill(g *Gradients, batch, variance float64) (*Filling, error) {
	if !(batch > 0) || math.IsInf(batch, 1) {
		return nil, fmt.Errorf("waterfill: batch %g must be finite and greater than 0", batch)
	}
	if !(variance > 0) || math.IsInf(variance, 1) {
		return nil, fmt.Errorf("waterfill: variance %g must be finite and greater than 0", variance)
	}
	return fill(g.matrix, 1/(batch*float64(g.Rows())), variance, g.Rows() < g.Dimension())
}

func fill(gradients *mat.Dense, scale, variance float64, gram bool) (*Filling, error) {
	var side mat.SymDense
	if gram {
		side.SymOuterK(scale, gradients)
	} else {
		side.SymOuterK(scale, gradients.T())
	}
	f := &Filling{gradients: gradients, scale: scale, sigma: math.Sqrt(variance), gram: gram, vectors: new(mat.Dense)}
	var eigen mat.EigenSym
	if !eigen.Factorize(&side, true) {
		return nil, errors.New("waterfill: the eigenvalues of the gradients did not converge: check them for extreme values")
	}
	eigen.VectorsTo(f.vectors)
	f.values = eigen.Values(nil)
	for i, v := range f.values {
		f.values[i] = max(v, 0) // rounding makes zeros slightly negative
	}
	return f, nil
}

// Eigenvalues are those of the covariance, largest first. There are as many as weights or as examples, whichever is
// fewer; the rest are 0.
func (f *Filling) Eigenvalues() []float64 {
	values := slices.Clone(f.values)
	slices.Reverse(values)
	return values
}

// Lifted are the eigenvalues after water-filling, largest first, one per weight.
func (f *Filling) Lifted() []float64 {
	lifted := f.Eigenvalues()
	floor := f.sigma * f.sigma
	for i, v := range lifted {
		lifted[i] = max(v, floor)
	}
	for len(lifted) < f.gradients.RawMatrix().Cols {
		lifted = append(lifted, floor)
	}
	return lifted
}

// spread writes the root of the missing covariance times z: normal z becomes the noise of water-filling.
func (f *Filling) spread(noise, z []float64) {
	out, in := mat.NewVecDense(len(noise), noise), mat.NewVecDense(len(z), z)
	var inner, turned mat.VecDense
	if !f.gram {
		turned.MulVec(f.vectors.T(), in)
		for i, v := range f.values {
			turned.SetVec(i, turned.AtVec(i)*math.Sqrt(max(f.sigma*f.sigma-v, 0)))
		}
		out.MulVec(f.vectors, &turned)
		return
	}
	inner.MulVec(f.gradients, in)
	turned.MulVec(f.vectors.T(), &inner)
	for i, v := range f.values {
		h := -f.sigma / v
		if v < f.sigma*f.sigma {
			h = -1 / (math.Sqrt(f.sigma*f.sigma-v) + f.sigma)
		}
		turned.SetVec(i, turned.AtVec(i)*h*f.scale)
	}
	inner.MulVec(f.vectors, &turned)
	out.MulVec(f.gradients.T(), &inner)
	out.AddScaledVec(out, f.sigma, in)
}
