package nn

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"hubbub/internal/crew"
	"hubbub/internal/kernel"
	"hubbub/noise"
)

var benchNets = []struct {
	name    string
	make    func() (*Net, error)
	batches []int
}{
	{"mlp", func() (*Net, error) { return MLP(784, []int{80}, 10, ReLU) }, []int{240}},
	{"cnn", func() (*Net, error) { return CNN([]int{1, 28, 28}, 10) }, []int{16, 256}},
	{"cifar", func() (*Net, error) { return CIFAR([]int{3, 32, 32}, 10) }, []int{16, 256}},
}

// BenchmarkStep measures a step of SGD, plain and private: every gradient clipped, normal noise added to the sum. As many cores as
// -cpu says share each step.
func BenchmarkStep(b *testing.B) {
	for _, c := range benchNets {
		for _, examples := range c.batches {
			for _, private := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/batch=%d/private=%t", c.name, examples, private), func(b *testing.B) {
					n, err := c.make()
					if err != nil {
						b.Fatal(err)
					}
					shared := crew.New(runtime.GOMAXPROCS(0))
					defer shared.Close()
					s := newStep(n, shared, randomBatch(n, examples, 1), private)
					s.do()
					for b.Loop() {
						s.do()
					}
					b.ReportMetric(float64(examples)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
				})
			}
		}
	}
}

// step is stochastic gradient descent on one batch.
type step struct {
	batch
	crew    *crew.Crew
	pass    *Pass
	sum     []float32
	private bool
	streams []*noise.Stream // one for each part of the weights
	noises  [][]float32     // one for each of the crew
	move    func(worker, part int)
}

const weightsPerPart = 1 << 14

func newStep(n *Net, c *crew.Crew, data batch, private bool) *step {
	s := &step{batch: data, crew: c, pass: NewPass(n, c), sum: make([]float32, n.Size()), private: private}
	for part := range (n.Size() + weightsPerPart - 1) / weightsPerPart {
		s.streams = append(s.streams, noise.Seeded(1).Derive("part", uint64(part)).Stream())
	}
	for range c.Size() {
		s.noises = append(s.noises, make([]float32, weightsPerPart))
	}
	s.move = s.movePart
	return s
}

func (s *step) do() {
	clear(s.sum)
	if s.private {
		s.pass.Clipped(s.sum, s.params, s.inputs, s.labels, clipToOne)
	} else {
		s.pass.Sum(s.sum, s.params, s.inputs, s.labels)
	}
	s.crew.Do(len(s.streams), s.move)
}

func clipToOne(_ int, square float64) float64 { return min(1, 1/math.Sqrt(square)) }

func (s *step) movePart(worker, part int) {
	from, to := part*weightsPerPart, min((part+1)*weightsPerPart, len(s.sum))
	sum := s.sum[from:to]
	if s.private {
		noises := s.noises[worker][:len(sum)]
		s.streams[part].Gaussian32(noises)
		kernel.Axpy(sum, 1, noises)
	}
	kernel.Axpy(s.params[from:to], -1e-6/float32(len(s.labels)), sum) // so small that thousands of steps go nowhere
}
