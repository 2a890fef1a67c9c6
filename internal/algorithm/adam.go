package algorithm

import (
	"math"

	"hubbub/internal/kernel"
)

// adam is Kingma and Ba 2015, Algorithm 1, with its bias correction. On the server it is FedAdam (Reddi et al. 2021, Algorithm 2),
// which starts its memory at tau² where the correction makes up for a start at zero.
type adam struct{ memory }

func (o *adam) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	o.state.Steps++
	rate /= 1 - math.Pow(o.beta, float64(o.state.Steps))
	correction := 1 / (1 - math.Pow(o.beta2, float64(o.state.Steps)))
	for from, to := range parts(len(params)) {
		mean, square, g := o.state.Vectors[0][from:to], o.state.Vectors[1][from:to], gradient[from:to]
		kernel.Decay(mean, float32(o.beta), g)
		kernel.DecaySquares(square, float32(o.beta2), g)
		kernel.Descend(params[from:to], mean, square, float32(rate), float32(correction), float32(o.tau))
	}
}
