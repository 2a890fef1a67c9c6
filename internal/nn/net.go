// Package nn holds small neural networks over one flat []float32, with the gradient of every single example.
//
// A network is a value without state: the weights come in as an argument, scratch memory as a [Pass]. Clipping per example
// needs each gradient's norm but not the gradient itself: for a dense layer it is the product of two vector norms
// (Goodfellow 2015, arXiv:1510.01799), so a batch costs one backward pass and one product that sums the clipped gradients.
package nn

import (
	"fmt"
	"math"

	"hubbub/noise"
)

// Activation is the function between two layers.
type Activation string

// The activations.
const (
	ReLU Activation = "relu"
	Tanh Activation = "tanh"
)

// Net is a multi-layer perceptron with softmax cross-entropy.
type Net struct {
	activation Activation
	layers     []dense
	size       int
}

// dense is one fully connected layer: weights of in×out, row-major, then out biases.
type dense struct {
	in, out int
	at      int // where its weights begin in the flat vector
}

func (l dense) weights(params []float32) []float32 { return params[l.at : l.at+l.in*l.out] }
func (l dense) biases(params []float32) []float32 {
	return params[l.at+l.in*l.out : l.at+(l.in+1)*l.out]
}

// Tensor names a part of the flat weight vector.
type Tensor struct {
	Name   string
	Shape  []int
	Offset int
}

// MLP makes a perceptron with the given inputs, hidden widths and classes. No hidden layer gives logistic regression.
func MLP(inputs int, hidden []int, classes int, activation Activation) (*Net, error) {
	if activation != ReLU && activation != Tanh {
		return nil, fmt.Errorf("nn: activation %q is none of %q, %q", activation, ReLU, Tanh)
	}
	net := &Net{activation: activation}
	width := inputs
	for _, out := range append(append([]int{}, hidden...), classes) {
		if width < 1 || out < 1 {
			return nil, fmt.Errorf("nn: a layer of %d to %d units: both must be at least 1", width, out)
		}
		net.layers = append(net.layers, dense{in: width, out: out, at: net.size})
		net.size += (width + 1) * out
		width = out
	}
	return net, nil
}

// Size is the number of weights.
func (n *Net) Size() int { return n.size }

// Inputs is the number of features of a record.
func (n *Net) Inputs() int { return n.layers[0].in }

// Classes is the number of outputs.
func (n *Net) Classes() int { return n.layers[len(n.layers)-1].out }

// Tensors lists the parts of the weight vector, in order, without gaps.
func (n *Net) Tensors() []Tensor {
	var tensors []Tensor
	for i, l := range n.layers {
		tensors = append(tensors,
			Tensor{Name: fmt.Sprintf("dense%d.weight", i+1), Shape: []int{l.in, l.out}, Offset: l.at},
			Tensor{Name: fmt.Sprintf("dense%d.bias", i+1), Shape: []int{l.out}, Offset: l.at + l.in*l.out})
	}
	return tensors
}

// Init draws the first weights: uniform with variance 2/in for ReLU (He et al. 2015), 1/in for tanh, and for the last layer
// 1/in; biases are zero.
func (n *Net) Init(random *noise.Stream) []float32 {
	params := make([]float32, n.size)
	for i, l := range n.layers {
		gain := 1.0
		if n.activation == ReLU && i < len(n.layers)-1 {
			gain = 2
		}
		bound := math.Sqrt(3 * gain / float64(l.in))
		for j := range l.weights(params) {
			params[l.at+j] = float32((2*random.Float64() - 1) * bound)
		}
	}
	return params
}
