package algorithm

import (
	"math"

	"hubbub/internal/kernel"
	"hubbub/mechanism"
	"hubbub/noise"
)

// layers clips each gradient, and then takes for every tensor the largest norm that any record of the batch has there as its sensitivity
// (Wei et al., Securing distributed SGD against gradient leakage threats, TPDS 2023, as paper 003 describes it).
func (g Guess) layers(w *Worker, random *noise.Stream) error {
	s := &w.training
	tensors := w.net.Tensors()
	largest := make([]float64, len(tensors))
	end := func(i int) int {
		if i+1 < len(tensors) {
			return tensors[i+1].Offset
		}
		return w.net.Size()
	}
	err := w.Each(s.local, s.order, func(_ int, gradient []float32, _ [][2]int) error {
		factor := mechanism.ClipFactor(kernel.SumSquares(gradient), g.Clip)
		for i, t := range tensors {
			largest[i] = max(largest[i], factor*math.Sqrt(kernel.SumSquares(gradient[t.Offset:end(i)])))
		}
		kernel.Axpy(s.gradient, float32(factor), gradient)
		return nil
	})
	if err != nil {
		return err
	}
	for i, t := range tensors {
		addNoise(s.gradient[t.Offset:end(i)], g.Multiplier*largest[i], random)
	}
	return nil
}
