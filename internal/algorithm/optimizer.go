package algorithm

import (
	"fmt"
	"math"
	"slices"
)

// Optimizer steps weights against a gradient. A client has one for its local training, the server one for its releases.
type Optimizer interface {
	// Step changes params by one step against gradient.
	Step(params, gradient []float32)
	// State returns what the optimizer remembers between steps, to be kept and put back by [Optimizer.Restore].
	State() State
	Restore(State) error
}

// State is an optimizer's memory: vectors as long as the weights, and the number of steps taken.
type State struct {
	Steps   int
	Vectors [][]float32
}

// Clone copies the state, so that further steps do not change it.
func (s State) Clone() State {
	vectors := make([][]float32, len(s.Vectors))
	for i, v := range s.Vectors {
		vectors[i] = slices.Clone(v)
	}
	return State{Steps: s.Steps, Vectors: vectors}
}

// OptimizerConfig names an optimizer and its settings. Zero fields take the stated default.
type OptimizerConfig struct {
	Kind    string  // sgd, momentum, adam or rmsprop
	Rate    float64 // learning rate; required
	Beta    float64 // momentum: 0.9; adam: decay of the mean, 0.9; rmsprop: decay of the square, 0.9
	Beta2   float64 // adam: decay of the square, 0.999
	Epsilon float64 // adam, rmsprop: added to the root, 1e-8 (no privacy parameter)
}

// NewOptimizer makes an optimizer for a weight vector of this size.
func NewOptimizer(c OptimizerConfig, size int) (Optimizer, error) {
	if !(c.Rate > 0) {
		return nil, fmt.Errorf("algorithm: learning rate %g: must be above 0", c.Rate)
	}
	beta, beta2, epsilon := orDefault(c.Beta, 0.9), orDefault(c.Beta2, 0.999), orDefault(c.Epsilon, 1e-8)
	if !(beta < 1 && beta > 0 && beta2 < 1 && beta2 > 0 && epsilon > 0) {
		return nil, fmt.Errorf("algorithm: decay %g, %g outside (0, 1) or epsilon %g not above 0", beta, beta2, epsilon)
	}
	m := memory{rate: c.Rate, beta: beta, beta2: beta2, epsilon: epsilon}
	switch c.Kind {
	case "sgd":
		return &sgd{m}, nil
	case "momentum":
		m.remember(1, size)
		return &momentum{m}, nil
	case "adam":
		m.remember(2, size)
		return &adam{m}, nil
	case "rmsprop":
		m.remember(1, size)
		return &rmsProp{m}, nil
	}
	return nil, fmt.Errorf("algorithm: optimizer %q is none of sgd, momentum, adam, rmsprop", c.Kind)
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// memory is what all optimizers share.
type memory struct {
	rate, beta, beta2, epsilon float64
	state                      State
}

func (m *memory) remember(vectors, size int) {
	for range vectors {
		m.state.Vectors = append(m.state.Vectors, make([]float32, size))
	}
}

func (m *memory) State() State { return m.state }

func (m *memory) Restore(s State) error {
	if len(s.Vectors) != len(m.state.Vectors) {
		return fmt.Errorf("algorithm: optimizer state of %d vectors, this optimizer keeps %d", len(s.Vectors), len(m.state.Vectors))
	}
	for i, v := range s.Vectors {
		if len(v) != len(m.state.Vectors[i]) {
			return fmt.Errorf("algorithm: optimizer state of %d weights, the model has %d", len(v), len(m.state.Vectors[i]))
		}
	}
	m.state = s.Clone()
	return nil
}

type sgd struct{ memory }

func (o *sgd) Step(params, gradient []float32) {
	rate := float32(o.rate)
	for i, g := range gradient {
		params[i] -= rate * g
	}
}

// momentum is Polyak's heavy ball: v = βv + g, w -= rate·v.
type momentum struct{ memory }

func (o *momentum) Step(params, gradient []float32) {
	rate, beta, velocity := float32(o.rate), float32(o.beta), o.state.Vectors[0]
	for i, g := range gradient {
		velocity[i] = beta*velocity[i] + g
		params[i] -= rate * velocity[i]
	}
}

// adam is Kingma and Ba 2015, Algorithm 1, with its bias correction.
type adam struct{ memory }

func (o *adam) Step(params, gradient []float32) {
	o.state.Steps++
	mean, square := o.state.Vectors[0], o.state.Vectors[1]
	rate := o.rate / (1 - math.Pow(o.beta, float64(o.state.Steps)))
	correction := 1 / (1 - math.Pow(o.beta2, float64(o.state.Steps)))
	beta, beta2 := float32(o.beta), float32(o.beta2)
	for i, g := range gradient {
		mean[i] = beta*mean[i] + (1-beta)*g
		square[i] = beta2*square[i] + (1-beta2)*g*g
		params[i] -= float32(rate * float64(mean[i]) / (math.Sqrt(float64(square[i])*correction) + o.epsilon))
	}
}

// rmsProp is Hinton's lecture 6e: the gradient over the root of its decaying mean square.
type rmsProp struct{ memory }

func (o *rmsProp) Step(params, gradient []float32) {
	square, beta := o.state.Vectors[0], float32(o.beta)
	for i, g := range gradient {
		square[i] = beta*square[i] + (1-beta)*g*g
		params[i] -= float32(o.rate * float64(g) / (math.Sqrt(float64(square[i])) + o.epsilon))
	}
}
