package algorithm

import "hubbub/internal/kernel"

// rmsProp is Hinton's lecture 6e: the gradient over the root of its decaying mean square.
type rmsProp struct{ memory }

func (o *rmsProp) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	for from, to := range parts(len(params)) {
		square, g := o.state.Vectors[0][from:to], gradient[from:to]
		kernel.DecaySquares(square, float32(o.beta), g)
		kernel.Descend(params[from:to], g, square, float32(rate), 1, float32(o.tau))
	}
}
