package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hubbub/noise"
)

// reference computes loss and logits in float64 straight from the definition, so that finite differences have digits to spare.
func reference(n *Net, params []float64, input []float32, label uint8) float64 {
	x := make([]float64, len(input))
	for i, v := range input {
		x[i] = float64(v)
	}
	for i, l := range n.layers {
		y := make([]float64, l.out)
		for o := range y {
			y[o] = params[l.at+l.in*l.out+o]
			for j := range x {
				y[o] += x[j] * params[l.at+j*l.out+o]
			}
			if i < len(n.layers)-1 {
				if n.activation == ReLU {
					y[o] = max(y[o], 0)
				} else {
					y[o] = math.Tanh(y[o])
				}
			}
		}
		x = y
	}
	total := 0.0
	for _, v := range x {
		total += math.Exp(v)
	}
	return math.Log(total) - x[label]
}

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

var nets = []struct {
	inputs     int
	hidden     []int
	classes    int
	activation Activation
}{
	{5, nil, 3, ReLU}, {7, []int{6}, 4, Tanh}, {7, []int{6}, 4, ReLU}, {4, []int{5, 3}, 2, Tanh}, {9, []int{8, 8, 8}, 10, Tanh},
}

func TestPerExampleGradientsEqualFiniteDifferences(t *testing.T) {
	for _, c := range nets {
		t.Run(fmt.Sprintf("%d-%v-%d %s", c.inputs, c.hidden, c.classes, c.activation), func(t *testing.T) {
			n, err := MLP(c.inputs, c.hidden, c.classes, c.activation)
			if err != nil {
				t.Fatal(err)
			}
			const examples = 4
			b := randomBatch(n, examples, 3)
			params := make([]float64, n.Size())
			for i, v := range b.params {
				params[i] = float64(v)
			}
			pass := NewPass(n)
			for e := range examples {
				loss := pass.Backward(b.params, b.inputs, b.labels)
				factors := make([]float32, examples)
				factors[e] = 1
				gradient := make([]float32, n.Size())
				pass.AddGradients(gradient, factors)

				input := b.inputs[e*c.inputs : (e+1)*c.inputs]
				square := 0.0
				for i := range params {
					const h = 1e-6
					old := params[i]
					params[i] = old + h
					up := reference(n, params, input, b.labels[e])
					params[i] = old - h
					down := reference(n, params, input, b.labels[e])
					params[i] = old
					want := (up - down) / (2 * h)
					if math.Abs(float64(gradient[i])-want) > 2e-5 {
						t.Fatalf("example %d, weight %d: %g, finite difference %g", e, i, gradient[i], want)
					}
					square += want * want
				}
				if got := pass.SquaredNorms[e]; math.Abs(got-square) > 1e-4*(1+square) {
					t.Errorf("example %d: squared norm %g, from finite differences %g", e, got, square)
				}
				total := 0.0
				for k := range examples {
					total += reference(n, params, b.inputs[k*c.inputs:(k+1)*c.inputs], b.labels[k])
				}
				if math.Abs(loss-total) > 1e-4 {
					t.Errorf("loss %g, want %g", loss, total)
				}
			}
		})
	}
}

func TestGradientSumIsTheWeightedSumOfSingleGradients(t *testing.T) {
	n, _ := MLP(12, []int{9, 5}, 4, Tanh)
	const examples = 33
	b := randomBatch(n, examples, 8)
	factors := make([]float32, examples)
	r := rand.New(rand.NewPCG(4, 4))
	want := make([]float64, n.Size())
	pass := NewPass(n)
	for e := range factors {
		factors[e] = r.Float32()
		pass.Backward(b.params, b.inputs[e*12:(e+1)*12], b.labels[e:e+1])
		one := make([]float32, n.Size())
		pass.AddGradients(one, []float32{1})
		for i, g := range one {
			want[i] += float64(factors[e]) * float64(g)
		}
	}
	got := make([]float32, n.Size())
	pass.Backward(b.params, b.inputs, b.labels)
	pass.AddGradients(got, factors)
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 1e-5 {
			t.Fatalf("weight %d: %g, want %g", i, got[i], want[i])
		}
	}
}

func TestTensorsCoverTheWeightVectorOnce(t *testing.T) {
	n, _ := MLP(784, []int{80}, 10, ReLU)
	if n.Size() != 63610 { // the net of paper 002
		t.Errorf("784-80-10 has %d weights, want 63,610", n.Size())
	}
	at := 0
	for _, tensor := range n.Tensors() {
		if tensor.Offset != at {
			t.Errorf("%s begins at %d, want %d", tensor.Name, tensor.Offset, at)
		}
		size := 1
		for _, s := range tensor.Shape {
			size *= s
		}
		at += size
	}
	if at != n.Size() {
		t.Errorf("tensors cover %d of %d weights", at, n.Size())
	}
}

func TestEvaluateCountsTheLargestLogit(t *testing.T) {
	n, _ := MLP(2, nil, 2, ReLU)
	params := []float32{1, 0, 0, 1, 0, 0} // logits are the inputs
	_, correct := NewPass(n).Evaluate(params, []float32{1, 0, 0, 1, 1, 0}, []uint8{0, 1, 1})
	if correct != 2 {
		t.Errorf("%d correct, want 2", correct)
	}
}

func TestLossSurvivesHugeLogits(t *testing.T) {
	n, _ := MLP(1, nil, 2, ReLU)
	loss := NewPass(n).Backward([]float32{1000, -1000, 0, 0}, []float32{1}, []uint8{1})
	if math.Abs(loss-2000) > 1e-3 {
		t.Errorf("loss %g, want 2000", loss)
	}
}

func TestImpossibleNetsAreRefused(t *testing.T) {
	for _, c := range []struct {
		inputs     int
		hidden     []int
		classes    int
		activation Activation
	}{{0, nil, 2, ReLU}, {3, []int{0}, 2, ReLU}, {3, []int{-1}, 2, ReLU}, {3, nil, 0, ReLU}, {3, nil, 2, "gelu"}} {
		if _, err := MLP(c.inputs, c.hidden, c.classes, c.activation); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func BenchmarkClippedStep(b *testing.B) {
	n, _ := MLP(784, []int{80}, 10, ReLU)
	const examples = 64
	data := randomBatch(n, examples, 1)
	pass, sum, factors := NewPass(n), make([]float32, n.Size()), make([]float32, examples)
	for b.Loop() {
		pass.Backward(data.params, data.inputs, data.labels)
		for e, s := range pass.SquaredNorms {
			factors[e] = float32(min(1, 1/math.Sqrt(s)))
		}
		pass.AddGradients(sum, factors)
	}
	b.ReportMetric(examples*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
}
