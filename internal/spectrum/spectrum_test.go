package spectrum

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// symmetric makes matrices of every kind that the reflections or rotations could stumble on.
var symmetric = []struct {
	name string
	make func(r *rand.Rand, n int) []float64
}{
	{"dense", func(r *rand.Rand, n int) []float64 {
		return fromEntries(n, func(i, j int) float64 { return r.NormFloat64() })
	}},
	{"a covariance of few records", func(r *rand.Rand, n int) []float64 { return covariance(r, n, 1+n/3) }},
	{"of rank one", func(r *rand.Rand, n int) []float64 { return covariance(r, n, 1) }},
	{"of weights half of which no record has", func(r *rand.Rand, n int) []float64 { // zeros, and linear dependence beside them
		few := covariance(r, n, 1+n/8)
		return fromEntries(n, func(i, j int) float64 {
			if i%2 == 1 || j%2 == 1 {
				return 0
			}
			return few[i*n+j]
		})
	}},
	{"zero", func(_ *rand.Rand, n int) []float64 { return make([]float64, n*n) }},
	{"the identity", func(_ *rand.Rand, n int) []float64 {
		return fromEntries(n, func(i, j int) float64 { return map[bool]float64{true: 1}[i == j] })
	}},
	{"diagonal", func(r *rand.Rand, n int) []float64 {
		return fromEntries(n, func(i, j int) float64 { return map[bool]float64{true: r.NormFloat64()}[i == j] })
	}},
	{"a path, with eigenvalues close together", func(_ *rand.Rand, n int) []float64 { // Wilkinson's W+
		return fromEntries(n, func(i, j int) float64 {
			switch i - j {
			case 0:
				return math.Abs(float64(n-1)/2 - float64(i))
			case 1:
				return 1
			}
			return 0
		})
	}},
	{"graded over 200 bits", func(r *rand.Rand, n int) []float64 {
		return fromEntries(n, func(i, j int) float64 { return r.NormFloat64() * math.Exp2(-200*float64(i+j)/float64(2*n)) })
	}},
	{"huge", func(r *rand.Rand, n int) []float64 {
		return fromEntries(n, func(i, j int) float64 { return 1e100 * r.NormFloat64() })
	}},
	{"tiny", func(r *rand.Rand, n int) []float64 {
		return fromEntries(n, func(i, j int) float64 { return 1e-100 * r.NormFloat64() })
	}},
}

func fromEntries(n int, entry func(i, j int) float64) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = entry(i, j)
			a[j*n+i] = a[i*n+j]
		}
	}
	return a
}

func covariance(r *rand.Rand, n, records int) []float64 {
	var s mat.SymDense
	g := mat.NewDense(n, records, nil)
	for i := range n {
		for j := range records {
			g.Set(i, j, r.NormFloat64()/(1+float64(i)))
		}
	}
	s.SymOuterK(1, g)
	return fromEntries(n, func(i, j int) float64 { return s.At(i, j) })
}

// The values are those of an independent solver; A·V = V·diag(values) and VᵀV = I, each unit vector being turned back.
func TestTheSpectrumIsThatOfTheMatrix(t *testing.T) {
	for _, kind := range symmetric {
		for _, n := range []int{1, 2, 3, 10, 31, 33, 34, 65, 130} {
			t.Run(fmt.Sprintf("%s, %d rows", kind.name, n), func(t *testing.T) {
				a := kind.make(rand.New(rand.NewPCG(uint64(n), 5)), n)
				s, err := Of(slices.Clone(a), n)
				if err != nil {
					t.Fatal(err)
				}
				var eigen mat.EigenSym
				if !eigen.Factorize(mat.NewSymDense(n, slices.Clone(a)), false) {
					t.Fatal("the independent solver found nothing")
				}
				want, values := eigen.Values(nil), s.Values()
				size := max(math.Abs(want[0]), math.Abs(want[n-1]))
				tolerance := 1e-14 * float64(n) * size
				sorted := slices.Sorted(slices.Values(values))
				for i := range want {
					if math.Abs(sorted[i]-want[i]) > tolerance {
						t.Errorf("eigenvalue %d is %g, want %g", i, sorted[i], want[i])
					}
				}
				vectors := make([][]float64, n)
				for j := range n {
					vectors[j] = make([]float64, n)
					vectors[j][j] = 1
					s.TurnBack(vectors[j])
					for i := range n {
						product := 0.0
						for l := range n {
							product += a[i*n+l] * vectors[j][l]
						}
						if math.Abs(product-values[j]*vectors[j][i]) > tolerance {
							t.Fatalf("vector %d: element %d of A·v is %g, want %g", j, i, product, values[j]*vectors[j][i])
						}
					}
				}
				for i := range n {
					for j := range n {
						product := 0.0
						for l := range n {
							product += vectors[i][l] * vectors[j][l]
						}
						if want := map[bool]float64{true: 1}[i == j]; math.Abs(product-want) > 1e-14*float64(n) {
							t.Fatalf("vectors %d and %d have the inner product %g", i, j, product)
						}
					}
				}
			})
		}
	}
}

func TestTurningBackUndoesTurning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 150
	s, err := Of(covariance(r, n, 40), n)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	copy(y, x)
	s.Turn(y)
	if math.Abs(y[0]-x[0]) < 1e-3 && math.Abs(y[1]-x[1]) < 1e-3 {
		t.Error("turning did nothing")
	}
	s.TurnBack(y)
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-12 {
			t.Fatalf("element %d comes back as %g, was %g", i, y[i], x[i])
		}
	}
}

func TestOnlyTheLowerTriangleIsRead(t *testing.T) {
	const n = 40
	a := covariance(rand.New(rand.NewPCG(2, 2)), n, n)
	b := slices.Clone(a)
	for i := range n {
		for j := i + 1; j < n; j++ {
			b[i*n+j] = math.NaN()
		}
	}
	one, err := Of(a, n)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Of(b, n)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one.Values(), other.Values()) {
		t.Error("the upper triangle changed the eigenvalues")
	}
}

func TestWhatIsNoMatrixIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		n      int
	}{"no rows": {nil, 0}, "too few values": {make([]float64, 3), 2}, "too many": {make([]float64, 5), 2}} {
		if _, err := Of(c.values, c.n); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, bad := range map[string]float64{"NaN": math.NaN(), "infinity": math.Inf(1)} {
		for _, n := range []int{1, 2, 50} {
			a := make([]float64, n*n)
			a[(n-1)*n] = bad // in the lower left corner
			if _, err := Of(a, n); !errors.Is(err, ErrNotConverged) {
				t.Errorf("%s in %d rows: error %v", name, n, err)
			}
		}
	}
}

func BenchmarkOf(b *testing.B) {
	const n = 1200
	a := covariance(rand.New(rand.NewPCG(1, 1)), n, n)
	for b.Loop() {
		if _, err := Of(slices.Clone(a), n); err != nil {
			b.Fatal(err)
		}
	}
}

// At the size of a client's records the matrix comes back out of its parts: what is lost is some 2^-46 of its largest eigenvalue, far
// below the 2^-40 that water-filling keeps in reserve.
func TestALargeMatrixComesBack(t *testing.T) {
	const n = 600
	r := rand.New(rand.NewPCG(6, 6))
	a := covariance(r, n, 400)
	s, err := Of(slices.Clone(a), n)
	if err != nil {
		t.Fatal(err)
	}
	x, product := make([]float64, n), make([]float64, n)
	square := 0.0
	for i := range x {
		x[i] = r.NormFloat64()
		square += x[i] * x[i]
	}
	for i := range n {
		for j := range n {
			product[i] += a[i*n+j] * x[j]
		}
	}
	values := s.Values()
	s.Turn(x)
	for i := range x {
		x[i] *= values[i]
	}
	s.TurnBack(x)
	off := 0.0
	for i := range x {
		off += (x[i] - product[i]) * (x[i] - product[i])
	}
	if got := math.Sqrt(off/square) / slices.Max(values); got > 0x1p-46 {
		t.Errorf("off by %g of the largest eigenvalue", got)
	}
}
