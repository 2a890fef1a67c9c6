package algorithm

import "math"

// rmsProp is Hinton's lecture 6e: the gradient over the root of its decaying mean square.
type rmsProp struct{ memory }

func (o *rmsProp) Step(params, gradient []float32, rate float64) {
	o.shrink(params, rate)
	square, beta := o.state.Vectors[0], float32(o.beta)
	for i, g := range gradient {
		square[i] = beta*square[i] + (1-beta)*g*g
		params[i] -= float32(rate * float64(g) / (math.Sqrt(float64(square[i])) + o.tau))
	}
}
