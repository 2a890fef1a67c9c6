package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The same bits as rows of PerExample, alone or in a batch, and runs as promised.
func TestEachGradientIsTheRowOfItsExample(t *testing.T) {
	specs := append(slices.Clone(specs), spec{"units that no register divides", []int{41}, []Layer{{Kind: "dense", Units: 3}, {Kind: "relu"}, {Kind: "dense", Units: 11}, {Kind: "relu"}}, 3},
		spec{"paper 002's, large enough for every way through the product", []int{1, 28, 28}, []Layer{{Kind: "dense", Units: 80}, {Kind: "relu"}}, 10})
	for _, s := range specs {
		n := s.net(t)
		const examples = 21
		b := randomBatch(n, examples, 5)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range b.inputs { // whole stretches of zeros
			if i/5%3 == r.IntN(3) {
				b.inputs[i] = 0
			}
		}
		rows := make([]float32, examples*n.Size())
		want := NewPass(n, nil).PerExample(rows, b.params, b.inputs, b.labels)
		pass := NewPass(n, nil)
		pass.workers[0].row = make([]float32, n.Size())
		sum := 0.0
		for _, alone := range []bool{false, true} {
			seen := make([]bool, examples)
			check := func(first int) func(int, int, []float32, [][2]int) {
				return func(_, e int, gradient []float32, runs [][2]int) {
					e += first
					seen[e] = true
					dense := make([]float32, n.Size())
					at := 0
					for _, run := range runs {
						from, to := run[0], run[1]
						if from < at || to <= from || from%32 != 0 || to%32 != 0 && to != n.Size() || to > n.Size() {
							t.Errorf("%s: run %v after %d", s.name, run, at)
						}
						copy(dense[from:to], gradient[from:to])
						at = to
					}
					if !slices.Equal(dense, rows[e*n.Size():(e+1)*n.Size()]) {
						t.Errorf("%s: example %d has another gradient (alone: %v)", s.name, e, alone)
					}
					for i := range gradient { // what is outside the runs must not count
						gradient[i] = float32(math.NaN())
					}
				}
			}
			if alone {
				for e := range examples {
					sum += pass.Each(b.params, b.inputs[e*n.Inputs():(e+1)*n.Inputs()], b.labels[e:e+1], check(e))
				}
			} else if got := pass.Each(b.params, b.inputs, b.labels, check(0)); got != want {
				t.Errorf("%s: loss %v, want %v", s.name, got, want)
			}
			if slices.Contains(seen, false) {
				t.Errorf("%s: an example was left out", s.name)
			}
		}
		if math.Abs(sum-want) > 1e-9*want {
			t.Errorf("%s: losses add up to %v, want %v", s.name, sum, want)
		}
	}
}
