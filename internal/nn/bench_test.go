package nn

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"hubbub/internal/crew"
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

// BenchmarkGradient measures a batch without and with clipping, on as many cores as -cpu says. bench/peers compares whole steps.
func BenchmarkGradient(b *testing.B) {
	for _, c := range benchNets {
		n, err := c.make()
		if err != nil {
			b.Fatal(err)
		}
		for _, examples := range c.batches {
			data, sum := randomBatch(n, examples, 1), make([]float32, n.Size())
			clip := func(_ int, square float64) float64 { return min(1, 1/math.Sqrt(square)) }
			for _, clipped := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/batch=%d/clipped=%t", c.name, examples, clipped), func(b *testing.B) {
					shared := crew.New(runtime.GOMAXPROCS(0))
					defer shared.Close()
					pass := NewPass(n, shared)
					for b.Loop() {
						if clipped {
							pass.Clipped(sum, data.params, data.inputs, data.labels, clip)
						} else {
							pass.Sum(sum, data.params, data.inputs, data.labels)
						}
					}
					b.ReportMetric(float64(examples)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
				})
			}
		}
	}
}
