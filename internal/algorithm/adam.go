package algorithm

import "math"

// adam is Kingma and Ba 2015, Algorithm 1, with its bias correction. On the server it is FedAdam (Reddi et al. 2021, Algorithm 2),
// which starts its memory at tau² where the correction makes up for a start at zero.
type adam struct{ memory }

func (o *adam) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	o.state.Steps++
	mean, square := o.state.Vectors[0], o.state.Vectors[1]
	rate /= 1 - math.Pow(o.beta, float64(o.state.Steps))
	correction := 1 / (1 - math.Pow(o.beta2, float64(o.state.Steps)))
	beta, beta2 := float32(o.beta), float32(o.beta2)
	for i, g := range gradient {
		mean[i] = beta*mean[i] + (1-beta)*g
		square[i] = beta2*square[i] + (1-beta2)*g*g
		params[i] -= float32(rate * float64(mean[i]) / (math.Sqrt(float64(square[i])*correction) + o.tau))
	}
}
