package algorithm

import "hubbub/internal/kernel"

// adaGrad divides by the root of the sum of all squares so far (Duchi, Hazan, Singer 2011). On the server it is FedAdagrad (Reddi et
// al. 2021, arXiv:2003.00295, Algorithm 2, without momentum as in its experiments). The sum starts at tau².
type adaGrad struct{ memory }

func (o *adaGrad) Reset() { fill(o.state.Vectors[0], o.tau*o.tau) }

func (o *adaGrad) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	square := o.state.Vectors[0]
	for i, g := range gradient {
		square[i] += float32(g * g)
	}
	kernel.Descend(params, gradient, square, float32(rate), 1, float32(o.tau))
}
