package algorithm

import "math"

// yogi is FedYogi (Reddi et al. 2021, arXiv:2003.00295, Algorithm 2): like Adam, but the mean square moves towards a new square by a
// part of that square, so that it can grow fast but only shrinks slowly. There is no bias correction: it starts at tau².
type yogi struct{ memory }

func (o *yogi) Reset() {
	o.memory.Reset()
	fill(o.state.Vectors[1], o.tau*o.tau)
}

func (o *yogi) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	mean, square := o.state.Vectors[0], o.state.Vectors[1]
	beta, beta2 := float32(o.beta), float32(o.beta2)
	for i, g := range gradient {
		mean[i] = beta*mean[i] + (1-beta)*g
		if towards := (1 - beta2) * g * g; square[i] > g*g {
			square[i] -= towards
		} else if square[i] < g*g {
			square[i] += towards
		}
		params[i] -= float32(rate * float64(mean[i]) / (math.Sqrt(float64(square[i])) + o.tau))
	}
}

func fill(x []float32, value float64) {
	for i := range x {
		x[i] = float32(value)
	}
}
