package algorithm

import (
	"math"

	"hubbub/mechanism"
	"hubbub/noise"
)

// history clips at the mean norm that the gradients had in the step before, and adds noise in proportion: gradient-norm adaptive clipping
// (Fu, Chen, Han, Adap DP-FL, arXiv:2211.15893, as paper 003 describes it). The first step of a round, which has none before, takes the clip.
func (g Guess) history(w *Worker, random *noise.Stream) error {
	s := &w.training
	clip := s.lastNorm
	if clip == 0 {
		clip = g.Clip
	}
	total := 0.0
	if err := w.sumScaled(func(_ int, squaredNorm float64) float64 {
		total += math.Sqrt(squaredNorm)
		return mechanism.ClipFactor(squaredNorm, clip)
	}); err != nil {
		return err
	}
	addNoise(s.gradient, g.Multiplier*clip, random)
	if len(s.order) > 0 {
		s.lastNorm = total / float64(len(s.order))
	}
	return nil
}
