package nn

import (
	"math"

	"hubbub/internal/kernel"
)

// Activation is a function of each number by itself.
type Activation string

// The activations.
const (
	ReLU Activation = "relu"
	Tanh Activation = "tanh"
)

func (a Activation) apply(x []float32) {
	switch a {
	case ReLU:
		kernel.ReLU(x)
	case Tanh:
		for i, v := range x {
			x[i] = float32(math.Tanh(float64(v)))
		}
	}
}

// back multiplies the deltas by the derivative, written in terms of the output.
func (a Activation) back(delta, output []float32) {
	switch a {
	case ReLU:
		kernel.ReLUBack(delta, output)
	case Tanh:
		for i, v := range output {
			delta[i] *= 1 - v*v
		}
	}
}

// activation is one in the body.
type activation struct {
	plain
	kind Activation
}

func (a activation) forward(_ *kernel.Workspace, v visit) {
	if &v.out[0] != &v.in[0] {
		copy(v.out, v.in)
	}
	a.kind.apply(v.out)
}

// backward works in place: dIn is dOut.
func (a activation) backward(_ *kernel.Workspace, v visit) { a.kind.back(v.dOut, v.out) }
