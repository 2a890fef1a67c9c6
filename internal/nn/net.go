// Package nn holds small neural networks over one flat []float32, with the gradient of every single example.
//
// A network is a value without state: the weights come in as an argument, scratch memory as a [Pass]. Clipping per example needs
// each gradient's norm, and gets it in the one backward pass that training needs anyway. For a dense layer the norm is the product
// of two vector norms (Goodfellow 2015, arXiv:1510.01799), so clipped deltas go into one product that sums the whole batch.
// The gradients of convolutions and norms are few: each example's is computed in cache, measured, scaled and added.
//
// No layer looks at two examples at once, so each example's gradient is its own. Sums run in a fixed order, so the result has the
// same bits on any number of cores.
package nn

import (
	"fmt"
	"math"

	"hubbub/noise"
)

// Net is a network with softmax cross-entropy. Pictures flow through the body one example at a time; vectors through the head,
// many at once. The body's weights come first.
type Net struct {
	input    picture
	body     []stage
	head     []dense
	parts    []part
	size     int
	bodySize int // weights of the body

	channelsLast bool // records must be turned: the body wants channels last, and there are several
	memory       int  // floats that an example's way through the body leaves for the way back
	passing      int  // floats of what nobody looks back at
	scratch      int  // floats that a layer of the body needs while it runs
	turned       int  // floats of turned weights
	widest       int  // the most that flows between two layers of the body
	firstWeights int  // the first stage that has weights: the way back ends there
	blocks       []block
}

// Tensor names a part of the flat weight vector.
type Tensor struct {
	Name   string
	Shape  []int
	Offset int
}

// part is a tensor and its first values: drawn with variance gain/fanIn, or all the same.
type part struct {
	Tensor
	fanIn int
	gain  float64
	fill  float32
}

// Size is the number of weights.
func (n *Net) Size() int { return n.size }

// Inputs is the number of features of a record.
func (n *Net) Inputs() int { return n.input.size() }

// Classes is the number of outputs.
func (n *Net) Classes() int { return n.head[len(n.head)-1].out }

// Tensors lists the parts of the weight vector, in order, without gaps.
func (n *Net) Tensors() []Tensor {
	var tensors []Tensor
	for _, p := range n.parts {
		tensors = append(tensors, p.Tensor)
	}
	return tensors
}

// Init draws the first weights: uniform with variance 2/inputs before a ReLU (He et al. 2015), 1/inputs elsewhere; biases and shifts
// are zero, scales one.
func (n *Net) Init(random *noise.Stream) []float32 {
	params := make([]float32, n.size)
	for _, p := range n.parts {
		values := params[p.Offset : p.Offset+count(p.Shape)]
		bound := math.Sqrt(3 * p.gain / float64(max(1, p.fanIn)))
		for i := range values {
			values[i] = p.fill
			if p.fanIn > 0 {
				values[i] = float32((2*random.Float64() - 1) * bound)
			}
		}
	}
	return params
}

func count(shape []int) int {
	n := 1
	for _, side := range shape {
		n *= side
	}
	return n
}

// Logistic is logistic regression: no hidden layer.
func Logistic(inputs, classes int) (*Net, error) { return New([]int{inputs}, nil, classes) }

// MLP is a perceptron with the given inputs, hidden widths and classes.
func MLP(inputs int, hidden []int, classes int, activation Activation) (*Net, error) {
	if activation != ReLU && activation != Tanh {
		return nil, fmt.Errorf("nn: activation %q is none of %q, %q", activation, ReLU, Tanh)
	}
	var layers []Layer
	for _, units := range hidden {
		layers = append(layers, Layer{Kind: "dense", Units: units}, Layer{Kind: string(activation)})
	}
	return New([]int{inputs}, layers, classes)
}

// CNN is the network that federated learning uses for MNIST and its kin: two convolutions, a pool, 128 hidden units. For pictures of
// 1x28x28 and ten classes it has 1,199,882 weights.
func CNN(shape []int, classes int) (*Net, error) {
	return New(shape, []Layer{
		{Kind: "conv", Filters: 32}, {Kind: "relu"},
		{Kind: "conv", Filters: 64}, {Kind: "relu"}, {Kind: "maxpool"},
		{Kind: "dense", Units: 128}, {Kind: "relu"},
	}, classes)
}

// CIFAR is the network of TensorFlow's tutorial on convolutions. For pictures of 3x32x32 and ten classes it has 122,570 weights.
func CIFAR(shape []int, classes int) (*Net, error) {
	return New(shape, []Layer{
		{Kind: "conv", Filters: 32}, {Kind: "relu"}, {Kind: "maxpool"},
		{Kind: "conv", Filters: 64}, {Kind: "relu"}, {Kind: "maxpool"},
		{Kind: "conv", Filters: 64}, {Kind: "relu"},
		{Kind: "dense", Units: 64}, {Kind: "relu"},
	}, classes)
}
