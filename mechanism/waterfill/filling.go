package waterfill

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hubbub/internal/kernel"
	"hubbub/internal/spectrum"
)

// Filling is the spectrum of a covariance Σ = GGᵀ/(BD) and the noise that lifts all of it to a floor.
//
// With fewer examples than weights, the eigenproblem is solved for the D×D matrix of the gradients' inner products (Gram),
// which has the same eigenvalues but for zeros. Its eigenvectors v need not be turned into those of Σ, nor be known at all: what is
// wanted is the product of the root of the missing covariance with a vector z, and that is
//
//	σz + Gᵀ V diag(h) Vᵀ G z/(BD),   h = (√max(σ²-λ, 0) - σ)/λ,   with G's rows the gradients,
//
// where h has no division by a small λ: it is -1/(√(σ²-λ) + σ) below the floor and -σ/λ above it.
type Filling struct {
	gradients *mat.Dense // D×d
	scale     float64    // 1/(BD)
	sigma     float64    // root of the floor
	values    []float64  // eigenvalues, as many as the side has rows, in the spectrum's order
	spectrum  *spectrum.Spectrum
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
	rows := gradients.RawMatrix()
	if !gram { // the covariance is the inner products of the columns
		rows = mat.DenseCopyOf(gradients.T()).RawMatrix()
	}
	side := make([]float64, rows.Rows*rows.Rows)
	kernel.AddGram64(side, rows.Rows, scale, rows.Data, rows.Stride, rows.Rows, rows.Cols)
	f := &Filling{gradients: gradients, scale: scale, sigma: math.Sqrt(variance), gram: gram}
	var err error
	if f.spectrum, err = spectrum.Of(side, rows.Rows); err != nil {
		return nil, fmt.Errorf("waterfill: covariance of the gradients: %w", err)
	}
	f.values = f.spectrum.Values()
	for i, v := range f.values {
		f.values[i] = max(v, 0) // rounding makes zeros slightly negative
	}
	return f, nil
}

// Eigenvalues are those of the covariance, largest first. There are as many as weights or as examples, whichever is
// fewer; the rest are 0.
func (f *Filling) Eigenvalues() []float64 {
	values := slices.Sorted(slices.Values(f.values))
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
	floor := f.sigma * f.sigma
	if !f.gram {
		copy(noise, z)
		f.spectrum.Turn(noise)
		for i, v := range f.values {
			noise[i] *= math.Sqrt(max(floor-v, 0))
		}
		f.spectrum.TurnBack(noise)
		return
	}
	inner := along(f.gradients, z)
	f.spectrum.Turn(inner)
	for i, v := range f.values {
		h := -f.sigma / v
		if v < floor {
			h = -1 / (math.Sqrt(floor-v) + f.sigma)
		}
		inner[i] *= h * f.scale
	}
	f.spectrum.TurnBack(inner)
	for i, v := range z {
		noise[i] = f.sigma * v
	}
	mixInto(noise, f.gradients, inner)
}

// along is Gz: the inner product of each gradient with z.
func along(gradients *mat.Dense, z []float64) []float64 {
	g := gradients.RawMatrix()
	products := make([]float64, g.Rows)
	kernel.AddDots64(products, 1, 1, g.Data, g.Stride, z, len(z), g.Rows, 1, g.Cols)
	return products
}

// mixInto adds Gᵀw to the update: each gradient, times its weight.
func mixInto(update []float64, gradients *mat.Dense, weights []float64) {
	for i, w := range weights {
		for j, v := range gradients.RawRowView(i) {
			update[j] += w * v
		}
	}
}
