package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Each loop is held against its definition in float64, rounded where the loop rounds, at every length around a group; the element
// after the end stays.
func TestLoopsOfOptimizersEqualTheirDefinition(t *testing.T) {
	const keep, rate, correction, tau = float32(0.9), float32(0.01), float32(1.7), float32(1e-8)
	rest := 1 - keep
	product := func(a, b float32) float32 { return float32(float64(a) * float64(b)) } // exact in float64, so rounded once
	flush := func(x float32) float32 {
		if math.Abs(float64(x)) < 0x1p-126 {
			return 0
		}
		return x
	}
	loops := []struct {
		name string
		run  func(y, x, square []float32)
		want func(y, x, square float32) float32
	}{
		{"Decay", func(y, x, _ []float32) { Decay(y, keep, x) }, func(y, x, _ float32) float32 {
			return flush(product(keep, y) + product(rest, x))
		}},
		{"DecaySquares", func(y, x, _ []float32) { DecaySquares(y, keep, x) }, func(y, x, _ float32) float32 {
			return flush(product(keep, y) + product(product(rest, x), x))
		}},
		{"Descend", func(y, x, square []float32) { Descend(y, x, square, rate, correction, tau) }, func(y, x, square float32) float32 {
			root := float32(math.Sqrt(float64(product(correction, square)))) // float64 has digits enough: the root is rounded as if once
			return y - float32(float64(product(rate, x))/float64(root+tau))
		}},
	}
	r := rand.New(rand.NewPCG(9, 9))
	for _, l := range loops {
		for n := range 70 {
			y, x, square := oddNumbers(r, n+1), oddNumbers(r, n+1), oddNumbers(r, n+1)
			for i := range square {
				square[i] *= square[i] // a root of zero leaves tau
				if i%5 == 0 {
					x[i], y[i] = 0, y[i]*0x1p-126 // decays to less than a normal number, or just not
				}
			}
			want := slices.Clone(y)
			for i := range n {
				want[i] = l.want(y[i], x[i], square[i])
			}
			for _, v := range versions() {
				v.with(func() {
					got := slices.Clone(y)
					l.run(got[:n], x, square)
					if !slices.EqualFunc(got, want, equalOrNaN) {
						t.Errorf("%s, %s of %d elements: %v, want %v", v.name, l.name, n, got, want)
					}
				})
			}
		}
	}
}

func equalOrNaN(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func BenchmarkDescend(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	params, direction, square := random(r, 1<<12), make([]float32, 1<<12), make([]float32, 1<<12)
	for _, v := range versions() {
		b.Run(v.name, func(b *testing.B) {
			v.with(func() {
				for b.Loop() {
					Decay(direction, 0.9, params)
					DecaySquares(square, 0.999, params)
					Descend(params, direction, square, 1e-9, 1, 1e-8)
				}
			})
			b.ReportMetric(float64(b.N)*float64(len(params))/1e6/b.Elapsed().Seconds(), "Mweights/s")
		})
	}
}
