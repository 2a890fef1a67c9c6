package waterfill

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Covariance is that of one client's update with a Gaussian mix, which the mechanism promises to have no eigenvalue
// below the variance. It is d×d: for tests and pictures of small models.
func (m *Mechanism) Covariance(g *Gradients) (*mat.SymDense, error) {
	if m.config.Method != GSGDDP {
		return nil, fmt.Errorf("waterfill: %s has no covariance of its gradients: use %s", m.config.Method, GSGDDP)
	}
	if g.Rows() != m.config.Records || g.Dimension() != m.config.Dimension {
		return nil, fmt.Errorf("waterfill: %d gradients of %d weights, the mechanism is for %d of %d", g.Rows(), g.Dimension(), m.config.Records, m.config.Dimension)
	}
	total := mat.NewSymDense(m.config.Dimension, nil)
	for b := range len(m.config.Blocks) - 1 {
		start, end := m.config.Blocks[b], m.config.Blocks[b+1]
		filling, err := m.fill(g.columns(start, end))
		if err != nil {
			return nil, err
		}
		addCovariance(total, start, filling.sampled())
		addCovariance(total, start, filling.missing())
	}
	return total, nil
}

// PlainBlocks is the covariance that the paper's own block version gives: one mix for all blocks, and noise that
// lifts each block by itself (section 5.1). It has no lower bound. The client whose gradients are all (1, 1)/√2, in blocks
// of one weight, adds nothing and releases a multiple of (1, 1); one record replaced by (1, -1)/√2, and it never does.
func PlainBlocks(g *Gradients, batch, variance float64, blocks []int) (*mat.SymDense, error) {
	if err := checkBlocks(blocks, g.Dimension()); err != nil {
		return nil, err
	}
	whole, err := Fill(g, batch, variance)
	if err != nil {
		return nil, err
	}
	total := whole.sampled()
	for b := range len(blocks) - 1 {
		part := g.columns(blocks[b], blocks[b+1])
		rows, columns := part.Dims()
		filling, err := fill(part, whole.scale, variance, rows < columns)
		if err != nil {
			return nil, err
		}
		addCovariance(total, blocks[b], filling.missing())
	}
	return total, nil
}

// sampled is Σ, the covariance of the weighted gradients.
func (f *Filling) sampled() *mat.SymDense {
	var s mat.SymDense
	s.SymOuterK(f.scale, f.gradients.T())
	return &s
}

// missing is the covariance of the noise of water-filling: the square of what spread multiplies with.
func (f *Filling) missing() *mat.SymDense {
	d := f.gradients.RawMatrix().Cols
	root := mat.NewDense(d, d, nil)
	z, column := make([]float64, d), make([]float64, d)
	for j := range d {
		z[j] = 1
		f.spread(column, z)
		root.SetCol(j, column)
		z[j] = 0
	}
	var s mat.SymDense
	s.SymOuterK(1, root)
	return &s
}

func addCovariance(total *mat.SymDense, start int, part *mat.SymDense) {
	n := part.SymmetricDim()
	for i := range n {
		for j := i; j < n; j++ {
			total.SetSym(start+i, start+j, total.At(start+i, start+j)+part.At(i, j))
		}
	}
}

// SmallestEigenvalue is the least eigenvalue of a symmetric matrix; NaN when it cannot be found.
func SmallestEigenvalue(s mat.Symmetric) float64 {
	var eigen mat.EigenSym
	if !eigen.Factorize(s, false) {
		return math.NaN()
	}
	return eigen.Values(nil)[0]
}
