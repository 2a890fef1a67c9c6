package waterfill

import (
	"fmt"
	"math"
)

const (
	mostBits  = 43 // of a contribution: 2^20 of them add up within an int64
	leastSize = 16 // of the noise, in steps of the grid
)

// layGrid chooses the step of the integers that contributions are made of.
//
// With isotropic noise, each example's gradient is rounded by itself before anything is added, so the bound on one record
// holds for the integers: rounding adds √d/2 steps to a norm, and half the clip's slack pays for it. The noise is rounded
// too. For a single client this equals rounding data plus noise. For a sum of clients it equals adding, after the noise,
// more noise that is independent of the data, up to aliases in the characteristic function of the order e^(-π²·size²/2), with
// size the noise of one client in steps: at least 16, so that they are below 1e-500.
//
// With a Gaussian mix the randomness depends on the data and cannot be drawn on a grid. The sum is computed in float64 and
// then rounded to a 2^-16th of σ, far above float64's own step, so that its low bits are not sent.
func (m *Mechanism) layGrid() error {
	sigma := math.Sqrt(m.config.Variance)
	var reach float64 // the largest value that a contribution can have, noise to 10 standard deviations
	switch m.config.Method {
	case SGDDP, GDDP:
		m.step = m.config.Clip * slack / math.Sqrt(float64(m.config.Dimension))
		if size := sigma * m.count / m.step; !(size >= leastSize) {
			return fmt.Errorf("waterfill: variance %g is noise of %.3g steps of the grid, less than %d: raise it to %.3g", m.config.Variance, size, leastSize,
				m.config.Variance*math.Pow(leastSize/size, 2))
		}
		reach = m.count * (m.config.Clip + 10*sigma)
	default:
		m.step = sigma * 0x1p-16
		reach = m.config.Clip + 10*math.Sqrt(m.config.Variance+m.config.Clip*m.config.Clip/m.config.Batch) // no eigenvalue of Σ exceeds C²/B
	}
	m.bits = 1 + int(math.Ceil(math.Log2(reach/m.step+1)))
	if m.bits > mostBits {
		return fmt.Errorf("waterfill: clip %g, variance %g and %d weights need %d bits per weight, more than %d: bring clip and noise closer together",
			m.config.Clip, m.config.Variance, m.config.Dimension, m.bits, mostBits)
	}
	return nil
}

// BitsPerWeight is the size of a contribution on its way to the server.
func (m *Mechanism) BitsPerWeight() int { return m.bits }

// add adds a contribution, cut to its bits, to the sum. The cut is post-processing; no noise of ours is that large.
func (m *Mechanism) add(sum []int64, at int, steps float64) {
	limit := math.Ldexp(1, m.bits-1) - 1
	sum[at] += int64(max(-limit, min(limit, math.RoundToEven(steps))))
}

// Decode turns a sum of contributions into a mean of gradients over as many clients as the divisor says.
func (m *Mechanism) Decode(mean []float32, sum []int64, divisor float64) {
	scale := m.step / (m.count * divisor)
	for i, v := range sum {
		mean[i] = float32(float64(v) * scale)
	}
}
