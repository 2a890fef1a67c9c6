package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func random64(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// Against the plain triple loop, with every set of instructions; strides are wider than the rows, and what lies between stays.
func TestDots64AreInnerProducts(t *testing.T) {
	for _, s := range []struct{ m, n, k int }{{1, 1, 1}, {1, 1, 7}, {4, 4, 8}, {3, 5, 9}, {9, 1, 100}, {1, 9, 33}, {13, 103, 531}, {101, 99, 1030}, {2, 200, 3}, {5, 5, 0}} {
		for _, v := range versions() {
			t.Run(fmt.Sprintf("%dx%dx%d %s", s.m, s.n, s.k, v.name), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(s.m), uint64(s.k)))
				lda, ldb, ldc := s.k+1, s.k+3, s.n+2
				a, b, c := random64(r, s.m*lda), random64(r, s.n*ldb), random64(r, s.m*ldc)
				got := append([]float64(nil), c...)
				v.with(func() { AddDots64(got, ldc, -.5, a, lda, b, ldb, s.m, s.n, s.k) })
				for i := range s.m {
					for j := range ldc {
						want := c[i*ldc+j]
						if j < s.n {
							for l := range s.k {
								want -= .5 * a[i*lda+l] * b[j*ldb+l]
							}
						}
						// A thousand roundings of sums of about 30 stay below 1e-11.
						if x := got[i*ldc+j]; math.Abs(x-want) > 1e-11 || j >= s.n && x != want {
							t.Fatalf("element %d, %d is %g, want %g", i, j, x, want)
						}
					}
				}
			})
		}
	}
}

func TestTheLowerTriangleIsThatOfAllInnerProducts(t *testing.T) {
	for _, m := range []int{1, 4, 7, 50, 203} {
		r := rand.New(rand.NewPCG(uint64(m), 9))
		const k = 600
		a, b := random64(r, m*k), random64(r, m*k)
		for name, c := range map[string]struct {
			b     []float64
			lower func(c []float64)
		}{
			"of one matrix": {a, func(c []float64) { AddGram64(c, m, 2, a, k, m, k) }},
			"of two":        {b, func(c []float64) { AddLowerDots64(c, m, 2, a, k, b, k, m, k) }},
		} {
			all, lower := make([]float64, m*m), make([]float64, m*m)
			AddDots64(all, m, 2, a, k, c.b, k, m, m, k)
			c.lower(lower)
			for i := range m {
				for j := range i + 1 {
					if all[i*m+j] != lower[i*m+j] {
						t.Fatalf("%s, %d rows: element %d, %d is %g, want %g", name, m, i, j, lower[i*m+j], all[i*m+j])
					}
				}
			}
		}
	}
}

func BenchmarkAddGram64(b *testing.B) {
	const m, k = 1200, 7850
	r := rand.New(rand.NewPCG(1, 1))
	a, c := random64(r, m*k), make([]float64, m*m)
	for b.Loop() {
		AddGram64(c, m, 1, a, k, m, k)
	}
	b.ReportMetric(float64(m)*m*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
}
