package waterfill

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// Sample says whose gradients a client must compute in a round: of sgd-dp a fresh uniform sample of B records, which stays
// the client's secret, of the other methods all records.
func (m *Mechanism) Sample(random *noise.Stream) []int {
	records := make([]int, m.config.Records)
	for i := range records {
		records[i] = i
	}
	if m.config.Method == SGDDP {
		random.Shuffle(records)
		records = records[:int(m.config.Batch)]
	}
	return records
}

// Contribute adds one client's protected mean gradient to sum. The gradients are those of the records of [Mechanism.Sample].
func (m *Mechanism) Contribute(sum []int64, g *Gradients, random *noise.Stream) error {
	if len(sum) != m.config.Dimension || g.Dimension() != m.config.Dimension {
		return fmt.Errorf("waterfill: gradients of %d weights for a sum of %d, the mechanism is for %d", g.Dimension(), len(sum), m.config.Dimension)
	}
	rows := m.config.Records
	if m.config.Method == SGDDP {
		rows = int(m.config.Batch)
	}
	if g.Rows() != rows {
		return fmt.Errorf("waterfill: %d gradients, %s is for %d", g.Rows(), m.config.Method, rows)
	}
	if g.clip > m.config.Clip {
		return fmt.Errorf("waterfill: gradients clipped to %g, the mechanism needs %g", g.clip, m.config.Clip)
	}
	switch m.config.Method {
	case SGDDP, GDDP:
		m.isotropic(sum, g, random)
		return nil
	default:
		return m.gaussianSampling(sum, g, random)
	}
}

// isotropic adds the gradients, each rounded to the grid, and rounded noise.
func (m *Mechanism) isotropic(sum []int64, g *Gradients, random *noise.Stream) {
	z := make([]float64, m.config.Dimension)
	random.Gaussian(z)
	total := make([]int64, m.config.Dimension)
	for i := range g.Rows() {
		kernel.AddNearest64(total, g.matrix.RawRowView(i), 1/m.step)
	}
	sigma := math.Sqrt(m.config.Variance) * m.count / m.step
	for j, v := range total {
		m.add(sum, j, float64(v)+math.RoundToEven(z[j]*sigma)) // below 2^53, so the sum of the two is exact
	}
}

// gaussianSampling draws an update and puts it on the grid.
func (m *Mechanism) gaussianSampling(sum []int64, g *Gradients, random *noise.Stream) error {
	update, err := m.draw(g, random)
	if err != nil {
		return err
	}
	for j, v := range update {
		m.add(sum, j, v/m.step)
	}
	return nil
}

// draw mixes the gradients at random and adds what the covariance of that lacks, block by block.
func (m *Mechanism) draw(g *Gradients, random *noise.Stream) ([]float64, error) {
	update := make([]float64, m.config.Dimension)
	mix, z := make([]float64, m.config.Records), make([]float64, m.config.Dimension)
	for b := range len(m.config.Blocks) - 1 {
		start, end := m.config.Blocks[b], m.config.Blocks[b+1]
		block := g.columns(start, end)
		m.weigh(mix, random) // anew for each block: with one mix for all, blocks would be correlated and nothing protected
		part := update[start:end]
		random.Gaussian(z[start:end])
		if m.config.Method == GSGDDP {
			filling, err := m.fill(block)
			if err != nil {
				return nil, err
			}
			filling.spread(part, z[start:end])
		} else {
			for i, v := range z[start:end] {
				part[i] = v * math.Sqrt(m.floor())
			}
		}
		mixInto(part, block, mix)
	}
	return update, nil
}

// weigh draws the mix, how much each example counts: w = 1/D + ξ/√(BD).
func (m *Mechanism) weigh(mix []float64, random *noise.Stream) {
	random.Gaussian(mix)
	d := float64(m.config.Records)
	for i, xi := range mix {
		mix[i] = 1/d + xi/math.Sqrt(m.config.Batch*d)
	}
}

func (m *Mechanism) fill(block *mat.Dense) (*Filling, error) {
	rows, columns := block.Dims()
	return fill(block, 1/(m.config.Batch*float64(m.config.Records)), m.floor(), rows < columns)
}

// floor is σ² rounded up by more than the eigenvalues' numerical error, which is some 2^-50 of the largest, C²/B, per row.
func (m *Mechanism) floor() float64 {
	return m.config.Variance*(1+0x1p-30) + m.config.Clip*m.config.Clip/m.config.Batch*0x1p-40
}
