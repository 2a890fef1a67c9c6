package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naive is the definition: c[i][j] = sum over l of a(i,l)·b(l,j), in float64.
func naive(m, k, n int, a, b func(i, j int) float32) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				c[i*n+j] += float64(a(i, l)) * float64(b(l, j))
			}
		}
	}
	return c
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if r.IntN(3) > 0 { // a third are zeros
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

func wantNear(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 1e-4*(1+math.Abs(want[i])) {
			t.Fatalf("%s: element %d is %g, the definition gives %g", what, i, got[i], want[i])
		}
	}
}

func TestProductsEqualTheirDefinitionAtEverySmallShape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for m := range 7 {
		for k := range 10 {
			for n := range 10 {
				a, b := random(r, m*k), random(r, k*n)
				c := random(r, m*n)
				MatMul(c, a, b, m, k, n)
				wantNear(t, "MatMul", c, naive(m, k, n, func(i, l int) float32 { return a[i*k+l] }, func(l, j int) float32 { return b[l*n+j] }))

				at, bt := random(r, m*k), random(r, m*n)
				sum := random(r, k*n)
				want := naive(k, m, n, func(l, i int) float32 { return at[i*k+l] }, func(i, j int) float32 { return bt[i*n+j] })
				for i := range want {
					want[i] += float64(sum[i])
				}
				MatMulTransA(sum, at, bt, m, k, n)
				wantNear(t, "MatMulTransA", sum, want)

				x, y := random(r, m*n), random(r, k*n)
				z := random(r, m*k)
				MatMulTransB(z, x, y, m, n, k)
				wantNear(t, "MatMulTransB", z, naive(m, n, k, func(i, j int) float32 { return x[i*n+j] }, func(j, l int) float32 { return y[l*n+j] }))
			}
		}
	}
}

func TestSumSquaresKeepsSmallCoordinatesBesideLargeOnes(t *testing.T) {
	x := make([]float32, 100_001)
	x[0] = 4096
	for i := range x[1:] {
		x[i+1] = 0.01
	}
	want := 4096.0*4096 + 100_000*float64(float32(0.01))*float64(float32(0.01))
	if got := SumSquares(x); math.Abs(got-want) > 1e-3 { // float32 sums would lose all of the 10
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFiniteSeesEveryBadValueAtEveryPlace(t *testing.T) {
	for _, v := range versions() {
		v.with(func() {
			for n := range 70 {
				x := make([]float32, n)
				for i := range x {
					x[i] = []float32{0, math.MaxFloat32, -math.SmallestNonzeroFloat32}[i%3]
				}
				if !Finite(x) {
					t.Fatalf("%s: %d finite values were refused", v.name, n)
				}
				for i := range x {
					for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
						before := x[i]
						x[i] = bad
						if Finite(x) {
							t.Fatalf("%s: %g at %d of %d passed as finite", v.name, bad, i, n)
						}
						x[i] = before
					}
				}
			}
		})
	}
}
