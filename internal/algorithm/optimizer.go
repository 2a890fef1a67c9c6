package algorithm

import (
	"fmt"
	"iter"
	"slices"

	"hubbub/internal/kernel"
)

// Optimizer steps weights against a gradient. A client has one for its local training, the server one for its releases.
type Optimizer interface {
	// Step changes params by one step of this learning rate against gradient.
	Step(params, gradient []float32, rate float64)
	// Reset forgets all steps.
	Reset()
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
	Kind        string   // sgd, momentum, adam, yogi, adagrad or rmsprop
	Rate        float64  // learning rate; required
	Schedule    Schedule // what becomes of the rate from round to round; default: nothing
	Beta        float64  // momentum: 0.9; adam, yogi: decay of the mean, 0.9; rmsprop: decay of the square, 0.9
	Beta2       float64  // decay of the square; adam: 0.999, yogi: 0.99
	Tau         float64  // added to the root; adam, rmsprop: 1e-8, yogi, adagrad: 1e-3
	WeightDecay float64  // weights shrink by the rate times this in every step; 0: they do not
}

const leastTau = 1e-30 // what float32 holds without losing digits

// RateIn is the learning rate in a round, which counts from 1.
func (c OptimizerConfig) RateIn(round int) float64 { return c.Rate * c.Schedule.Factor(round) }

// NewOptimizer makes an optimizer for a weight vector of this size.
func NewOptimizer(c OptimizerConfig, size int) (Optimizer, error) {
	if !(c.Rate > 0) {
		return nil, fmt.Errorf("algorithm: learning rate %g: must be above 0", c.Rate)
	}
	if !(c.WeightDecay >= 0 && c.Rate*c.WeightDecay < 1) {
		return nil, fmt.Errorf("algorithm: weight decay %g: must be at least 0, and below 1/%g: a step takes off the rate times as much", c.WeightDecay, c.Rate)
	}
	if err := c.Schedule.Check(); err != nil {
		return nil, err
	}
	beta2, tau := 0.999, 1e-8
	switch c.Kind {
	case "yogi":
		beta2, tau = 0.99, 1e-3 // Reddi et al. 2021, section 5.2 and appendix D
	case "adagrad":
		tau = 1e-3
	}
	m := memory{decay: c.WeightDecay, beta: orDefault(c.Beta, 0.9), beta2: orDefault(c.Beta2, beta2), tau: orDefault(c.Tau, tau)}
	if !(m.beta < 1 && m.beta > 0 && m.beta2 < 1 && m.beta2 > 0 && m.tau >= leastTau) {
		return nil, fmt.Errorf("algorithm: decay %g, %g outside (0, 1) or tau %g below %g", m.beta, m.beta2, m.tau, leastTau)
	}
	var o Optimizer
	switch c.Kind {
	case "sgd":
		o = &sgd{m}
	case "momentum":
		m.remember(1, size)
		o = &momentum{m}
	case "adam":
		m.remember(2, size)
		o = &adam{m}
	case "yogi":
		m.remember(2, size)
		o = &yogi{m}
	case "adagrad":
		m.remember(1, size)
		o = &adaGrad{m}
	case "rmsprop":
		m.remember(1, size)
		o = &rmsProp{m}
	default:
		return nil, fmt.Errorf("algorithm: optimizer %q is none of sgd, momentum, adam, yogi, adagrad, rmsprop", c.Kind)
	}
	o.Reset()
	return o, nil
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// memory is what all optimizers share.
type memory struct {
	decay, beta, beta2, tau float64
	state                   State
}

func (m *memory) remember(vectors, size int) {
	for range vectors {
		m.state.Vectors = append(m.state.Vectors, make([]float32, size))
	}
}

// shrink is decoupled weight decay (Loshchilov and Hutter 2019, arXiv:1711.05101): it never passes through the optimizer's memory.
func (m *memory) shrink(params []float32, rate float64) {
	if m.decay == 0 {
		return
	}
	kernel.Scale(params, float32(1-rate*m.decay))
}

// parts cuts vectors of this length into runs [from, to) that stay in the first cache while several loops go over them.
func parts(length int) iter.Seq2[int, int] {
	const part = 2048
	return func(yield func(from, to int) bool) {
		for from := 0; from < length && yield(from, min(from+part, length)); from += part {
		}
	}
}

func (m *memory) State() State { return m.state }

func (m *memory) Reset() {
	m.state.Steps = 0
	for _, v := range m.state.Vectors {
		clear(v)
	}
}

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
