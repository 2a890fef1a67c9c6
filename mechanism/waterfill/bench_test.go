package waterfill

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hubbub/noise"
)

// One eigenproblem per client and round. The Gram side at the size of the paper's linear model takes seconds; the full side,
// which the paper splits into blocks for its slowness, is measured on a tenth and grows with the cube.
func BenchmarkFill(b *testing.B) {
	for _, c := range []struct {
		rows, dimension int
		gram            bool
	}{{120, 785, true}, {120, 785, false}, {1200, 7850, true}} {
		b.Run(fmt.Sprintf("%d examples, %d weights, gram %t", c.rows, c.dimension, c.gram), func(b *testing.B) {
			g := gradients(b, randomGradients(rand.New(rand.NewPCG(1, 2)), c.rows, c.dimension), c.rows, 10)
			for b.Loop() {
				if _, err := fill(g.matrix, 1/(32*float64(c.rows)), .01, c.gram); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A whole contribution of the linear model, 1,200 examples and 7,850 weights.
func BenchmarkContribute(b *testing.B) {
	const rows, dimension = 1200, 7850
	g := gradients(b, randomGradients(rand.New(rand.NewPCG(1, 2)), rows, dimension), rows, 10)
	for _, method := range []Method{GDDP, GSGDIsotropic, GSGDDP} {
		b.Run(string(method), func(b *testing.B) {
			c := Config{Method: method, Clients: 50, Records: rows, Dimension: dimension, Clip: 10, Variance: .01}
			if method != GDDP {
				c.Batch = 32
			}
			m := mechanism(b, c)
			sum, random := make([]int64, dimension), noise.Seeded(1).Stream()
			for b.Loop() {
				if err := m.Contribute(sum, g, random); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
