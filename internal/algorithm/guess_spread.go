package algorithm

import (
	"math"

	"hubbub/noise"
)

// spread clips nothing and takes mean and three standard deviations of the batch's norms for their bound: the PauTa criterion (Han et al.,
// Accurate differentially private deep learning on the edge, TPDS 2021, as paper 003 describes it).
func (g Guess) spread(w *Worker, random *noise.Stream) error {
	s := &w.training
	total, squares := 0.0, 0.0
	if err := w.sumScaled(func(_ int, squaredNorm float64) float64 {
		total += math.Sqrt(squaredNorm)
		squares += squaredNorm
		return 1
	}); err != nil {
		return err
	}
	if n := float64(len(s.order)); n > 0 {
		mean := total / n
		addNoise(s.gradient, g.Multiplier*(mean+3*math.Sqrt(max(0, squares/n-mean*mean))), random)
	}
	return nil
}
