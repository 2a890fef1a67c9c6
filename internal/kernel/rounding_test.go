package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The clip of private training rests on the error that RoughSquares states.
func TestRoughSquaresAreOffByNoMoreThanTheySay(t *testing.T) {
	vectors := []struct {
		name string
		at   func(r *rand.Rand, i, n int) float64
	}{
		{"normal numbers", func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() }},
		{"all the same, their squares rounded down", func(*rand.Rand, int, int) float64 { return 1 + 0x1.5p-12 }},
		{"a large one, then small ones that vanish beside it", func(_ *rand.Rand, i, _ int) float64 {
			if i < 64 {
				return 1
			}
			return 0x1.fp-13
		}},
		{"of all sizes", func(r *rand.Rand, _, _ int) float64 { return math.Exp(80*r.Float64() - 40) }},
		{"squares below the normal numbers", func(r *rand.Rand, _, _ int) float64 { return 1e-21 * r.NormFloat64() }},
		{"squares below all numbers", func(r *rand.Rand, _, _ int) float64 { return 1e-30 * r.NormFloat64() }},
		{"squares around the least that is trusted", func(r *rand.Rand, _, n int) float64 {
			return 0x1p-45 / math.Sqrt(float64(n)) * (1 + r.NormFloat64()/100)
		}},
		{"squares that overflow", func(r *rand.Rand, _, _ int) float64 { return 1e20 * r.NormFloat64() }},
		{"a sum that overflows", func(*rand.Rand, int, int) float64 { return 1.8e19 }},
		{"the largest numbers", func(*rand.Rand, int, int) float64 { return math.MaxFloat32 }},
	}
	for _, c := range vectors {
		for _, n := range []int{1, 10, 63, 64, 65, 127, 784, 4096, 4097, 20000} {
			r := rand.New(rand.NewPCG(uint64(n), 8))
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(c.at(r, i, n))
			}
			for _, rows := range []int{1, 3} { // of which the last may leave a few elements out
				squares := make([]float64, rows)
				columns := n / rows
				RoughSquares(squares, x[:rows*columns])
				for i, got := range squares {
					if want := SumSquares(x[i*columns : (i+1)*columns]); math.Abs(got-want) > 0x1p-17*want {
						t.Errorf("%s: row %d of %d elements: %g, want %g", c.name, i, columns, got, want)
					}
				}
			}
		}
	}
	squares := []float64{7}
	for _, x := range [][]float32{nil, {0}, make([]float32, 100)} {
		if RoughSquares(squares, x); squares[0] != 0 {
			t.Errorf("%d zeros have the norm %g", len(x), squares[0])
		}
	}
	if RoughSquares(squares, []float32{1, float32(math.NaN())}); squares[0] == squares[0] {
		t.Errorf("a NaN has the norm %g", squares[0])
	}
}

func BenchmarkSquares(b *testing.B) {
	x, squares := random(rand.New(rand.NewPCG(1, 1)), 784*8), make([]float64, 8)
	for b.Loop() {
		RoughSquares(squares, x)
	}
}
