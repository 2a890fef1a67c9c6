package algorithm

import "hubbub/internal/kernel"

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
	kernel.Decay(mean, float32(o.beta), gradient)
	for i, g := range gradient {
		fresh := float32(g * g)
		if towards := float32((1 - float32(o.beta2)) * fresh); square[i] > fresh {
			square[i] -= towards
		} else if square[i] < fresh {
			square[i] += towards
		}
	}
	kernel.Descend(params, mean, square, float32(rate), 1, float32(o.tau))
}

func fill(x []float32, value float64) {
	for i := range x {
		x[i] = float32(value)
	}
}
