package algorithm

// sgd is plain gradient descent.
type sgd struct{ memory }

func (o *sgd) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	step := float32(rate)
	for i, g := range gradient {
		params[i] -= step * g
	}
}

// momentum is Polyak's heavy ball: v = βv + g, w -= rate·v.
type momentum struct{ memory }

func (o *momentum) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	step, beta, velocity := float32(rate), float32(o.beta), o.state.Vectors[0]
	for i, g := range gradient {
		velocity[i] = beta*velocity[i] + g
		params[i] -= step * velocity[i]
	}
}
