package algorithm

import "hubbub/internal/kernel"

// sgd is plain gradient descent.
type sgd struct{ memory }

func (o *sgd) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	kernel.Axpy(params, -float32(rate), gradient)
}

// momentum is Polyak's heavy ball: v = βv + g, w -= rate·v.
type momentum struct{ memory }

func (o *momentum) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	velocity := o.state.Vectors[0]
	kernel.Scale(velocity, float32(o.beta))
	kernel.Axpy(velocity, 1, gradient)
	kernel.Axpy(params, -float32(rate), velocity)
}
