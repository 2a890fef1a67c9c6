package nn

import (
	"fmt"
	"math"
	"testing"
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

// BenchmarkGradient measures a batch without and with clipping, in examples a second.
func BenchmarkGradient(b *testing.B) {
	for _, c := range benchNets {
		n, err := c.make()
		if err != nil {
			b.Fatal(err)
		}
		for _, examples := range c.batches {
			data := randomBatch(n, examples, 1)
			pass, sum := NewPass(n, nil), make([]float32, n.Size())
			clip := func(_ int, square float64) float64 { return min(1, 1/math.Sqrt(square)) }
			for _, way := range []struct {
				name string
				step func()
			}{
				{"plain", func() { pass.Sum(sum, data.params, data.inputs, data.labels) }},
				{"clipped", func() { pass.Clipped(sum, data.params, data.inputs, data.labels, clip) }},
			} {
				b.Run(fmt.Sprintf("%s/batch=%d/%s", c.name, examples, way.name), func(b *testing.B) {
					for b.Loop() {
						way.step()
					}
					b.ReportMetric(float64(examples)*float64(b.N)/b.Elapsed().Seconds(), "examples/s")
				})
			}
		}
	}
}
