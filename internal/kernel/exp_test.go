package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExponentialsAreCloseToTheFloat64Ones(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	x := []float32{0, float32(math.Copysign(0, -1)), -1e-30, -1, -math.Ln2 / 2, -math.Ln2, -79.99999, -80}
	for range 1 << 18 {
		x = append(x, -80*r.Float32(), -r.Float32())
	}
	y := slices.Clone(x)
	Exp(y)
	worst := 0.0
	for i := range x {
		want := math.Exp(float64(x[i]))
		worst = max(worst, math.Abs(float64(y[i])-want)/want)
	}
	if worst > 1.2e-7 || y[0] != 1 || y[1] != 1 {
		t.Errorf("relative error %g, e^0 is %g, e^-0 %g", worst, y[0], y[1])
	}
}

func TestExponentialsOfOddNumbers(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	odd := []float32{-80.00001, -100, -1e30, -inf, nan}
	for _, v := range versions() {
		v.with(func() {
			x := make([]float32, 37)
			for i := range x {
				x[i] = odd[i%len(odd)]
			}
			Exp(x)
			for i, y := range x {
				if odd[i%len(odd)] != odd[i%len(odd)] {
					if y == y {
						t.Errorf("%s: e^NaN at %d is %g", v.name, i, y)
					}
				} else if y != 0 {
					t.Errorf("%s: e^%g at %d is %g, want 0", v.name, odd[i%len(odd)], i, y)
				}
			}
		})
	}
}
