package nn

import (
	"math"

	"hubbub/internal/kernel"
)

// Pass is the scratch memory of one goroutine and the result of its last [Pass.Backward]. It grows to the largest batch seen.
type Pass struct {
	net    *Net
	batch  int
	inputs []float32
	// outputs[i] holds layer i's outputs after its activation; deltas[i] the loss's derivative by its sums before it.
	outputs, deltas [][]float32

	// SquaredNorms holds the squared L2 norm of each example's gradient.
	SquaredNorms []float64
}

// NewPass makes scratch memory for the network.
func NewPass(net *Net) *Pass {
	return &Pass{net: net, outputs: make([][]float32, len(net.layers)), deltas: make([][]float32, len(net.layers))}
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// forward computes the outputs of a batch; the last layer's are the unnormalised logits.
func (p *Pass) forward(params, inputs []float32, batch int) []float32 {
	p.batch, p.inputs = batch, inputs
	for i, l := range p.net.layers {
		p.outputs[i] = grow(p.outputs[i], batch*l.out)
		out := p.outputs[i]
		kernel.MatMul(out, inputs, l.weights(params), batch, l.in, l.out)
		biases := l.biases(params)
		for e := range batch {
			kernel.Axpy(out[e*l.out:(e+1)*l.out], 1, biases)
		}
		if i < len(p.net.layers)-1 {
			p.net.activation.apply(out)
		}
		inputs = out
	}
	return inputs
}

// Backward runs a batch forward and back. It returns the summed loss and leaves what [Pass.AddGradients] and the caller's clip
// need: every layer's deltas and every example's gradient norm.
func (p *Pass) Backward(params, inputs []float32, labels []uint8) float64 {
	net := p.net
	batch := len(labels)
	logits := p.forward(params, inputs, batch)
	last := len(net.layers) - 1
	for i, l := range net.layers {
		p.deltas[i] = grow(p.deltas[i], batch*l.out)
	}
	classes := net.Classes()
	loss := 0.0
	for e, label := range labels {
		loss += softmaxLoss(p.deltas[last][e*classes:(e+1)*classes], logits[e*classes:(e+1)*classes], label)
	}
	for i := last; i > 0; i-- {
		l := net.layers[i]
		kernel.MatMulTransB(p.deltas[i-1], p.deltas[i], l.weights(params), batch, l.out, l.in)
		net.activation.backward(p.deltas[i-1], p.outputs[i-1])
	}
	p.SquaredNorms = grow(p.SquaredNorms, batch)
	clear(p.SquaredNorms)
	for i, l := range net.layers {
		for e := range batch {
			// The weight gradient is the outer product of input and delta; the bias gradient is delta.
			delta := kernel.SumSquares(p.deltas[i][e*l.out : (e+1)*l.out])
			p.SquaredNorms[e] += delta * (1 + kernel.SumSquares(p.layerInput(i)[e*l.in:(e+1)*l.in]))
		}
	}
	return loss
}

func (p *Pass) layerInput(i int) []float32 {
	if i == 0 {
		return p.inputs
	}
	return p.outputs[i-1]
}

// AddGradients adds sum over examples of factors[e] times its gradient to sum. It may be called once per Backward: it scales the
// deltas in place.
func (p *Pass) AddGradients(sum []float32, factors []float32) {
	for i, l := range p.net.layers {
		biases := l.biases(sum)
		for e, f := range factors {
			delta := p.deltas[i][e*l.out : (e+1)*l.out]
			kernel.Scale(delta, f)
			kernel.Axpy(biases, 1, delta)
		}
		kernel.MatMulTransA(l.weights(sum), p.layerInput(i), p.deltas[i], len(factors), l.in, l.out)
	}
}

// Evaluate returns the summed loss and the number of examples whose label has the largest logit.
func (p *Pass) Evaluate(params, inputs []float32, labels []uint8) (loss float64, correct int) {
	logits := p.forward(params, inputs, len(labels))
	classes := p.net.Classes()
	scratch := make([]float32, classes)
	for e, label := range labels {
		row := logits[e*classes : (e+1)*classes]
		loss += softmaxLoss(scratch, row, label)
		best := 0
		for c, v := range row {
			if v > row[best] {
				best = c
			}
		}
		if best == int(label) {
			correct++
		}
	}
	return loss, correct
}

// softmaxLoss sets delta to softmax(logits) - onehot(label) and returns -log softmax(logits)[label].
func softmaxLoss(delta, logits []float32, label uint8) float64 {
	largest := logits[0]
	for _, v := range logits {
		largest = max(largest, v)
	}
	total := 0.0
	for i, v := range logits {
		e := math.Exp(float64(v - largest)) // at most 1: no overflow
		delta[i] = float32(e)
		total += e
	}
	for i := range delta {
		delta[i] = float32(float64(delta[i]) / total)
	}
	delta[label]--
	return math.Log(total) - float64(logits[label]-largest)
}

func (a Activation) apply(x []float32) {
	switch a {
	case ReLU:
		for i, v := range x {
			if v < 0 {
				x[i] = 0
			}
		}
	case Tanh:
		for i, v := range x {
			x[i] = float32(math.Tanh(float64(v)))
		}
	}
}

// backward multiplies the deltas by the activation's derivative, written in terms of its output.
func (a Activation) backward(delta, output []float32) {
	switch a {
	case ReLU:
		for i, v := range output {
			if v <= 0 {
				delta[i] = 0
			}
		}
	case Tanh:
		for i, v := range output {
			delta[i] *= 1 - v*v
		}
	}
}
