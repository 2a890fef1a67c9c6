package nn

import (
	"slices"
	"testing"

	"hubbub/internal/crew"
)

func half(e int, _ float64) float64 { return 0.5 / float64(1+e%3) }

func TestBitsAreTheSameOnAnyCrew(t *testing.T) {
	for _, s := range specs {
		n := s.net(t)
		for _, examples := range []int{1, 2, 37, 100} {
			b := randomBatch(n, examples, 11)
			type results struct {
				sum, clipped, mean, rows []float32
				norms                    []float64
				loss                     [4]float64
				correct                  int
			}
			run := func(c Crew) results {
				pass := NewPass(n, c)
				r := results{sum: make([]float32, n.Size()), clipped: make([]float32, n.Size()), rows: make([]float32, examples*n.Size()), mean: make([]float32, n.Size())}
				r.loss[0] = pass.Sum(r.sum, b.params, b.inputs, b.labels)
				pass.Mean(r.mean, b.params, b.inputs, b.labels)
				r.loss[1] = pass.Clipped(r.clipped, b.params, b.inputs, b.labels, half)
				r.norms = slices.Clone(pass.SquaredNorms)
				r.loss[2] = pass.PerExample(r.rows, b.params, b.inputs, b.labels)
				r.loss[3], r.correct = pass.Evaluate(b.params, b.inputs, b.labels)
				return r
			}
			want := run(nil)
			for _, size := range []int{2, 3, 5} {
				c := crew.New(size)
				got := run(c)
				c.Close()
				if !slices.Equal(got.sum, want.sum) || !slices.Equal(got.mean, want.mean) || !slices.Equal(got.clipped, want.clipped) || !slices.Equal(got.rows, want.rows) ||
					!slices.Equal(got.norms, want.norms) || got.loss != want.loss || got.correct != want.correct {
					t.Errorf("%s: %d examples on a crew of %d: other bits than alone", s.name, examples, size)
				}
			}
		}
	}
}

func TestAWarmPassAllocatesNothing(t *testing.T) {
	pair := crew.New(2)
	defer pair.Close()
	for _, s := range specs {
		n := s.net(t)
		b := randomBatch(n, 40, 2)
		sum, rows := make([]float32, n.Size()), make([]float32, 40*n.Size())
		for _, c := range []Crew{nil, pair} {
			pass := NewPass(n, c)
			allocations := testing.AllocsPerRun(5, func() {
				pass.Sum(sum, b.params, b.inputs, b.labels)
				pass.Mean(sum, b.params, b.inputs, b.labels)
				pass.Clipped(sum, b.params, b.inputs, b.labels, half)
				pass.PerExample(rows, b.params, b.inputs, b.labels)
				pass.Evaluate(b.params, b.inputs, b.labels)
			})
			if allocations > 0 {
				t.Errorf("%s: %g allocations", s.name, allocations)
			}
		}
	}
}
