package nn

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hubbub/noise"
)

type batch struct {
	params, inputs []float32
	labels         []uint8
}

func randomBatch(n *Net, examples int, seed uint64) batch {
	r := rand.New(rand.NewPCG(seed, 0))
	b := batch{params: n.Init(noise.Seeded(seed).Stream()), inputs: make([]float32, examples*n.Inputs()), labels: make([]uint8, examples)}
	for i := range b.params {
		b.params[i] += 0.1 * float32(r.NormFloat64()) // biases too
	}
	for i := range b.inputs {
		if r.IntN(4) > 0 {
			b.inputs[i] = r.Float32()
		}
	}
	for i := range b.labels {
		b.labels[i] = uint8(r.IntN(n.Classes()))
	}
	return b
}

type spec struct {
	name    string
	shape   []int
	layers  []Layer
	classes int
}

// specs holds every kind of layer, and every way that a convolution takes.
var specs = []spec{
	{"logistic regression", []int{5}, nil, 3},
	{"perceptron with tanh", []int{7}, []Layer{{Kind: "dense", Units: 6}, {Kind: "tanh"}}, 4},
	{"perceptron with relu", []int{7}, []Layer{{Kind: "dense", Units: 6}, {Kind: "relu"}}, 4},
	{"deep perceptron on a picture", []int{2, 3, 3}, []Layer{{Kind: "dense", Units: 8}, {Kind: "tanh"}, {Kind: "dense", Units: 8}, {Kind: "dense", Units: 3}, {Kind: "tanh"}}, 10},
	{"activation of the record itself", []int{3, 2, 2}, []Layer{{Kind: "tanh"}, {Kind: "flatten"}, {Kind: "dense", Units: 4}}, 2},
	{"one channel", []int{1, 6, 7}, []Layer{{Kind: "conv", Filters: 4}, {Kind: "relu"}, {Kind: "maxpool"}, {Kind: "dense", Units: 5}, {Kind: "tanh"}}, 3},
	{"long rows, in place", []int{12, 5, 6}, []Layer{{Kind: "conv", Filters: 5}, {Kind: "tanh"}, {Kind: "conv", Filters: 13, Size: 2}, {Kind: "relu"}, {Kind: "conv", Filters: 3, Size: 2}}, 3},
	{"long rows, padded", []int{11, 4, 5}, []Layer{{Kind: "conv", Filters: 12, Padding: "same"}, {Kind: "relu"}, {Kind: "conv", Filters: 3, Padding: "same"}, {Kind: "tanh"}}, 3},
	{"long rows, stride, padded to the right", []int{11, 6, 5}, []Layer{{Kind: "conv", Filters: 12, Stride: 2, Padding: "same"}, {Kind: "tanh"}, {Kind: "conv", Filters: 3, Stride: 2, Padding: "same"}}, 3},
	{"short rows, stride, padded", []int{2, 7, 6}, []Layer{{Kind: "conv", Filters: 3, Stride: 2, Padding: "same"}, {Kind: "tanh"}, {Kind: "conv", Filters: 4, Size: 2, Stride: 2}}, 3},
	{"short rows, a window wider than the picture", []int{2, 3, 4}, []Layer{{Kind: "conv", Filters: 3, Size: 5, Padding: "same"}, {Kind: "relu"}, {Kind: "conv", Filters: 4, Size: 2}, {Kind: "tanh"}}, 3},
	{"patches of pixels", []int{1, 12, 11}, []Layer{{Kind: "conv", Filters: 16, Size: 2}, {Kind: "relu"}, {Kind: "conv", Filters: 18}, {Kind: "tanh"}, {Kind: "maxpool"}}, 3},
	{"patches of pixels, padded", []int{17, 9, 8}, []Layer{{Kind: "conv", Filters: 16, Padding: "same"}, {Kind: "relu"}, {Kind: "conv", Filters: 21, Padding: "same"}, {Kind: "tanh"}, {Kind: "avgpool", Size: 4}}, 3},
	{"windows of one pixel", []int{40, 3, 3}, []Layer{{Kind: "conv", Filters: 33, Size: 1}, {Kind: "tanh"}, {Kind: "conv", Filters: 4, Size: 1, Stride: 2}}, 3},
	{"pools that overlap", []int{3, 7, 7}, []Layer{{Kind: "conv", Filters: 3, Size: 2}, {Kind: "maxpool", Size: 3, Stride: 2}, {Kind: "avgpool", Size: 2, Stride: 1}}, 3},
	{"pools that leave pixels out", []int{3, 8, 8}, []Layer{{Kind: "conv", Filters: 3, Size: 2}, {Kind: "tanh"}, {Kind: "maxpool", Size: 2, Stride: 3}, {Kind: "tanh"}}, 3},
	{"a pool before all weights", []int{2, 6, 6}, []Layer{{Kind: "avgpool"}, {Kind: "conv", Filters: 3, Size: 2}, {Kind: "relu"}}, 3},
	{"a pool and no weights in the body", []int{2, 6, 6}, []Layer{{Kind: "relu"}, {Kind: "maxpool"}, {Kind: "flatten"}}, 3},
	{"group norm", []int{2, 5, 5}, []Layer{{Kind: "conv", Filters: 6, Size: 2}, {Kind: "groupnorm", Groups: 3}, {Kind: "relu"}, {Kind: "conv", Filters: 4, Size: 2}, {Kind: "groupnorm", Groups: 4}, {Kind: "tanh"}, {Kind: "maxpool"}}, 3},
	{"group norm of the record", []int{4, 3, 3}, []Layer{{Kind: "groupnorm", Groups: 1}, {Kind: "conv", Filters: 2, Size: 2}, {Kind: "relu"}, {Kind: "tanh"}}, 3},
}

func (s spec) net(t testing.TB) *Net {
	t.Helper()
	n, err := New(s.shape, s.layers, s.classes)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPerExampleGradientsEqualFiniteDifferences(t *testing.T) {
	for _, s := range specs {
		t.Run(s.name, func(t *testing.T) {
			n := s.net(t)
			const examples = 2
			b := randomBatch(n, examples, 3)
			params := make([]float64, n.Size())
			for i, v := range b.params {
				params[i] = float64(v)
			}
			rows := make([]float32, examples*n.Size())
			loss := NewPass(n, nil).PerExample(rows, b.params, b.inputs, b.labels)
			total := 0.0
			for e := range examples {
				of := func() float64 {
					return reference(s.shape, s.layers, s.classes, params, b.inputs[e*n.Inputs():(e+1)*n.Inputs()], b.labels[e])
				}
				total += of()
				for i := e; i < len(params); i += 1 + len(params)/60 { // a sample of weights from every tensor: the vectors hold them all
					const h = 1e-6
					old := params[i]
					params[i] = old + h
					up := of()
					params[i] = old - h
					down := of()
					params[i] = old
					if want, got := (up-down)/(2*h), float64(rows[e*n.Size()+i]); math.Abs(got-want) > 2e-5*max(1, math.Abs(want)) {
						t.Fatalf("example %d, weight %d: %g, finite difference %g", e, i, got, want)
					}
				}
			}
			if math.Abs(loss-total) > 1e-5*total {
				t.Errorf("loss %g, want %g", loss, total)
			}
		})
	}
}

// The sums, clipped and not, are those of the rows; a batch of 37 has whole chunks and a rest.
func TestSumsAreTheSumsOfSingleGradients(t *testing.T) {
	for _, s := range specs {
		t.Run(s.name, func(t *testing.T) {
			n := s.net(t)
			const examples = 37
			b := randomBatch(n, examples, 8)
			pass := NewPass(n, nil)
			rows := make([]float32, examples*n.Size())
			pass.PerExample(rows, b.params, b.inputs, b.labels)
			r := rand.New(rand.NewPCG(4, 4))
			start, factors := make([]float32, n.Size()), make([]float64, examples)
			for i := range start {
				start[i] = r.Float32()
			}
			for i := range factors {
				factors[i] = r.Float64()
			}
			plain, clipped, mean := slices.Clone(start), slices.Clone(start), slices.Clone(start) // what was there does not count
			lossPlain := pass.Sum(plain, b.params, b.inputs, b.labels)
			if lossMean := pass.Mean(mean, b.params, b.inputs, b.labels); lossMean != lossPlain {
				t.Errorf("losses %v and %v", lossMean, lossPlain)
			}
			seen := make([]float64, examples)
			lossClipped := pass.Clipped(clipped, b.params, b.inputs, b.labels, func(e int, square float64) float64 {
				seen[e] = square
				return factors[e]
			})
			if lossPlain != lossClipped {
				t.Errorf("losses %v and %v", lossPlain, lossClipped)
			}
			for e := range examples {
				square := 0.0
				for _, v := range rows[e*n.Size() : (e+1)*n.Size()] {
					square += float64(v) * float64(v)
				}
				if math.Abs(pass.SquaredNorms[e]-square) > 1e-5*square || seen[e] != pass.SquaredNorms[e] {
					t.Fatalf("example %d: squared norm %g, factor saw %g, its gradient has %g", e, pass.SquaredNorms[e], seen[e], square)
				}
			}
			for i := range n.Size() {
				sum, weighted := 0.0, 0.0
				for e := range examples {
					g := float64(rows[e*n.Size()+i])
					sum += g
					weighted += factors[e] * g
				}
				if math.Abs(float64(plain[i])-sum) > 2e-5*max(1, math.Abs(sum)) || math.Abs(float64(clipped[i])-weighted) > 2e-5*max(1, math.Abs(weighted)) {
					t.Fatalf("weight %d: sums %g and %g, want %g and %g", i, plain[i], clipped[i], sum, weighted)
				}
				if want := sum / examples; math.Abs(float64(mean[i])-want) > 2e-6*max(1, math.Abs(want)) {
					t.Fatalf("weight %d: mean %g, want %g", i, mean[i], want)
				}
			}
		})
	}
}

// A pass that has seen larger batches gives the same bits as a new one: nothing of an earlier batch stays.
func TestNothingOfAnEarlierBatchStays(t *testing.T) {
	for _, s := range specs {
		n := s.net(t)
		b := randomBatch(n, 41, 5)
		used, fresh := NewPass(n, nil), NewPass(n, nil)
		used.Sum(make([]float32, n.Size()), b.params, b.inputs, b.labels)
		used.Evaluate(b.params, b.inputs[:20*n.Inputs()], b.labels[:20])
		got, want := make([]float32, n.Size()), make([]float32, n.Size())
		half := func(int, float64) float64 { return 0.5 }
		used.Clipped(got, b.params, b.inputs[:7*n.Inputs()], b.labels[:7], half)
		fresh.Clipped(want, b.params, b.inputs[:7*n.Inputs()], b.labels[:7], half)
		if !slices.Equal(got, want) {
			t.Errorf("%s: a used pass gives other bits", s.name)
		}
	}
}

func TestAnEmptyBatchHasNoGradient(t *testing.T) {
	n := specs[5].net(t)
	pass, sum := NewPass(n, nil), make([]float32, n.Size())
	sum[3] = 7
	b := randomBatch(n, 3, 1)
	pass.Evaluate(b.params, b.inputs, b.labels)
	if loss := pass.Sum(sum, b.params, nil, nil); loss != 0 || slices.ContainsFunc(sum, func(v float32) bool { return v != 0 }) {
		t.Error("something is there")
	}
	if loss, correct := pass.Evaluate(b.params, nil, nil); loss != 0 || correct != 0 {
		t.Errorf("loss %g, %d correct", loss, correct)
	}
}

func TestNamedNetsHaveTheirWeights(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func() (*Net, error)
		weights int
	}{
		{"784-80-10 of paper 002", func() (*Net, error) { return MLP(784, []int{80}, 10, ReLU) }, 63610},
		{"logistic regression on MNIST", func() (*Net, error) { return Logistic(784, 10) }, 7850},
		{"CNN of federated learning", func() (*Net, error) { return CNN([]int{1, 28, 28}, 10) }, 1199882},
		{"CNN of TensorFlow's tutorial", func() (*Net, error) { return CIFAR([]int{3, 32, 32}, 10) }, 122570},
	} {
		n, err := c.make()
		if err != nil {
			t.Fatal(err)
		}
		if n.Size() != c.weights {
			t.Errorf("%s has %d weights, want %d", c.name, n.Size(), c.weights)
		}
		at := 0
		for _, tensor := range n.Tensors() {
			if tensor.Offset != at {
				t.Errorf("%s: %s begins at %d, want %d", c.name, tensor.Name, tensor.Offset, at)
			}
			at += count(tensor.Shape)
		}
		if at != n.Size() {
			t.Errorf("%s: tensors cover %d of %d weights", c.name, at, n.Size())
		}
	}
}

// 1,000 draws of a uniform law with this variance: the mean square is within 12% but for a chance of 1e-4 (its deviation is
// 2/sqrt(5)/sqrt(1000) = 2.8%).
func TestFirstWeightsHaveTheVarianceOfTheirLayer(t *testing.T) {
	n, err := New([]int{2, 9, 9}, []Layer{
		{Kind: "conv", Filters: 60}, {Kind: "groupnorm", Groups: 2}, {Kind: "relu"}, {Kind: "maxpool"}, {Kind: "dense", Units: 50}, {Kind: "tanh"},
	}, 20)
	if err != nil {
		t.Fatal(err)
	}
	params := n.Init(noise.Seeded(4).Stream())
	want := map[string]float64{"conv1.weight": 2.0 / 18, "norm1.scale": 1, "dense1.weight": 1.0 / 540, "dense2.weight": 1.0 / 50}
	for _, tensor := range n.Tensors() {
		values := params[tensor.Offset : tensor.Offset+count(tensor.Shape)]
		square := 0.0
		for _, v := range values {
			square += float64(v) * float64(v) / float64(len(values))
		}
		if math.Abs(square-want[tensor.Name]) > 0.12*want[tensor.Name] {
			t.Errorf("%s has mean square %g, want %g", tensor.Name, square, want[tensor.Name])
		}
	}
}

func TestEvaluateCountsTheLargestLogit(t *testing.T) {
	n, _ := Logistic(2, 2)
	params := []float32{1, 0, 0, 1, 0, 0} // logits are the inputs
	_, correct := NewPass(n, nil).Evaluate(params, []float32{1, 0, 0, 1, 1, 0}, []uint8{0, 1, 1})
	if correct != 2 {
		t.Errorf("%d correct, want 2", correct)
	}
}

func TestLossSurvivesHugeLogits(t *testing.T) {
	n, _ := Logistic(1, 2)
	loss := NewPass(n, nil).Sum(make([]float32, 4), []float32{1000, -1000, 0, 0}, []float32{1}, []uint8{1})
	if math.Abs(loss-2000) > 1e-3 {
		t.Errorf("loss %g, want 2000", loss)
	}
}

func TestImpossibleNetsAreRefusedWithWhatToChange(t *testing.T) {
	picture := []int{1, 28, 28}
	for _, c := range []struct {
		name    string
		shape   []int
		layers  []Layer
		classes int
		says    string
	}{
		{"no features", []int{0}, nil, 2, "a record of shape [0]"},
		{"a shape of two sides", []int{28, 28}, nil, 2, "channels, height and width"},
		{"no classes", []int{3}, nil, 0, "0 classes"},
		{"classes beyond a byte", []int{3}, nil, 257, "257 classes"},
		{"units left out", []int{3}, []Layer{{Kind: "dense"}}, 2, "layer 1 (dense, input of 3 features): units is missing"},
		{"negative units", []int{3}, []Layer{{Kind: "dense", Units: -1}}, 2, "units -1 outside"},
		{"unknown kind", []int{3}, []Layer{{Kind: "gelu"}}, 2, `kind "gelu" is unknown`},
		{"batch norm", picture, []Layer{{Kind: "conv", Filters: 4}, {Kind: "batchnorm"}}, 2, "layer 2 (batchnorm, input 4x26x26): batch normalisation mixes the examples"},
		{"a key of another kind", picture, []Layer{{Kind: "conv", Filters: 4, Units: 3}}, 2, "units 3 does not belong to conv"},
		{"padding of a pool", picture, []Layer{{Kind: "maxpool", Padding: "same"}}, 2, "does not belong to maxpool"},
		{"unknown padding", picture, []Layer{{Kind: "conv", Filters: 4, Padding: "full"}}, 2, `padding "full"`},
		{"window beyond the picture", []int{1, 4, 4}, []Layer{{Kind: "maxpool"}, {Kind: "conv", Filters: 2}}, 2, "layer 2 (conv, input 1x2x2): a window of 3x3 does not fit into 2x2 pixels"},
		{"pool beyond the picture", []int{1, 4, 4}, []Layer{{Kind: "maxpool", Size: 5}}, 2, "does not fit into 4x4"},
		{"conv on features", []int{784}, []Layer{{Kind: "conv", Filters: 2}}, 2, "use dense layers"},
		{"conv after flatten", picture, []Layer{{Kind: "flatten"}, {Kind: "conv", Filters: 2}}, 2, "move it before"},
		{"group norm after dense", picture, []Layer{{Kind: "dense", Units: 4}, {Kind: "groupnorm", Groups: 2}}, 2, "move it before"},
		{"groups that do not divide", picture, []Layer{{Kind: "conv", Filters: 6}, {Kind: "groupnorm", Groups: 4}}, 2, "6 channels cannot be cut into 4 groups"},
		{"two activations", []int{3}, []Layer{{Kind: "dense", Units: 2}, {Kind: "relu"}, {Kind: "tanh"}}, 2, "layer 3 (tanh, input of 2 features): follows relu"},
		{"more weights than memory", []int{1 << 20}, []Layer{{Kind: "dense", Units: 1 << 20}}, 2, "at most"},
		{"a window larger than memory", []int{1 << 10, 1 << 9, 1 << 9}, []Layer{{Kind: "conv", Size: 1 << 20, Filters: 1 << 20, Padding: "same"}}, 2, "too many"},
	} {
		_, err := New(c.shape, c.layers, c.classes)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", c.name, err, c.says)
		}
		var refused *LayerError
		if err != nil && strings.Contains(c.says, "layer") && !errors.As(err, &refused) {
			t.Errorf("%s: %v is no LayerError", c.name, err)
		}
	}
	if _, err := MLP(3, nil, 2, "gelu"); err == nil {
		t.Error("activation gelu was accepted")
	}
}
