package waterfill

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ErrNotFinite is returned for gradients that hold a NaN or an infinity. Nothing was sent.
var ErrNotFinite = errors.New("waterfill: a gradient holds a value that is not finite")

// slack is the share of the clip norm that is kept back for rounding: to float64 here, and to the grid later.
const slack = 0x1p-15

// Gradients are the gradients of one client's examples, a row each, clipped to a norm.
type Gradients struct {
	matrix *mat.Dense // rows of norm at most clip·(1-slack)
	clip   float64
}

// NewGradients copies the matrix, row after row, and clips each row to this L2 norm.
func NewGradients[T float32 | float64](values []T, rows int, clip float64) (*Gradients, error) {
	if rows < 1 || len(values) == 0 || len(values)%rows != 0 {
		return nil, fmt.Errorf("waterfill: %d values make no matrix of %d rows", len(values), rows)
	}
	if err := checkClip(clip); err != nil {
		return nil, err
	}
	dimension := len(values) / rows
	data := make([]float64, len(values))
	for i := range rows {
		row := data[i*dimension : (i+1)*dimension]
		for j, v := range values[i*dimension : (i+1)*dimension] {
			row[j] = float64(v)
		}
		if err := clipRow(row, clip*(1-slack)); err != nil {
			return nil, fmt.Errorf("%w: in row %d", err, i)
		}
	}
	return &Gradients{mat.NewDense(rows, dimension, data), clip}, nil
}

func checkClip(clip float64) error {
	if !(clip >= 1e-20 && clip <= 1e20) {
		return fmt.Errorf("waterfill: clip %g outside [1e-20, 1e20]", clip)
	}
	return nil
}

// clipRow shortens a row to the bound.
func clipRow(row []float64, bound float64) error {
	// Several sums: one would wait for itself.
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(row); i += 4 {
		four := row[i : i+4 : i+4]
		s0 += four[0] * four[0]
		s1 += four[1] * four[1]
		s2 += four[2] * four[2]
		s3 += four[3] * four[3]
	}
	for ; i < len(row); i++ {
		s0 += row[i] * row[i]
	}
	square := s0 + s1 + s2 + s3
	if !(square > 1e-200 && square < 1e200) { // zero, not finite, or squares that may have over- or underflowed
		return clipExtreme(row, bound)
	}
	if norm := math.Sqrt(square); norm > bound {
		for j := range row {
			row[j] *= bound / norm
		}
	}
	return nil
}

// clipExtreme scales in units of the largest value, so that no square overflows.
func clipExtreme(row []float64, bound float64) error {
	largest := 0.0
	for _, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ErrNotFinite
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return nil
	}
	square := 0.0
	for _, v := range row {
		square += (v / largest) * (v / largest)
	}
	if norm := math.Sqrt(square); largest > bound/norm {
		for j := range row {
			row[j] = row[j] / largest * (bound / norm)
		}
	}
	return nil
}

// Rows is the number of examples.
func (g *Gradients) Rows() int { return g.matrix.RawMatrix().Rows }

// Dimension is the number of weights.
func (g *Gradients) Dimension() int { return g.matrix.RawMatrix().Cols }

// columns is a view on the weights from start to end.
func (g *Gradients) columns(start, end int) *mat.Dense {
	return g.matrix.Slice(0, g.Rows(), start, end).(*mat.Dense)
}
