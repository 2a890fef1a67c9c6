package span

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func random(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func test(t testing.TB, values []float64, rows int) *Test {
	t.Helper()
	s, err := New(values, rows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func row(t testing.TB, s *Test, i int) Distance {
	t.Helper()
	d, err := s.Row(i)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Figure 3 of the paper: the last quarter of the weights of users 1 to 3 is zero, user 4's is not.
func TestTheCounterexampleOfFigureThreeLeaks(t *testing.T) {
	const d, each = 16, 30
	r := rand.New(rand.NewPCG(3, 3))
	values := random(r, (3*each+1)*d)
	for i := range 3 * each {
		clear(values[i*d+3*d/4 : (i+1)*d])
	}
	s := test(t, values, 3*each+1)
	if s.Rank() != 3*d/4+1 || s.Smallest() != 0 {
		t.Errorf("rank %d, smallest eigenvalue %g; want %d and 0", s.Rank(), s.Smallest(), 3*d/4+1)
	}
	last := values[3*each*d:]
	want := norm(last[3*d/4:]) / norm(last)
	if got := row(t, s, 3*each); !got.Leaks || math.Abs(got.Outside-want) > 1e-6 {
		t.Errorf("user 4's update is %g outside, want %g", got.Outside, want)
	}
	for i := range 3 * each {
		if got := row(t, s, i); got.Leaks {
			t.Errorf("row %d of users 1 to 3 is %g outside", i, got.Outside)
		}
	}
}

// dumb is the definition: the smallest |g - Σc_j g_j|² + ridge·|c|², by solving for c.
func dumb(values []float64, rows, i int, ridge float64) float64 {
	d := len(values) / rows
	others := mat.NewDense(rows-1, d, nil)
	at := 0
	for j := range rows {
		if j != i {
			others.SetRow(at, values[j*d:(j+1)*d])
			at++
		}
	}
	g := mat.NewVecDense(d, values[i*d:(i+1)*d])
	var side mat.SymDense
	side.SymOuterK(1, others)
	for j := range rows - 1 {
		side.SetSym(j, j, side.At(j, j)+ridge)
	}
	var root mat.Cholesky
	if !root.Factorize(&side) {
		return math.NaN()
	}
	var products, c, combined mat.VecDense
	products.MulVec(others, g)
	if err := root.SolveVecTo(&c, &products); err != nil && !conditioned(err) {
		return math.NaN()
	}
	combined.MulVec(others.T(), &c)
	combined.SubVec(g, &combined)
	return math.Sqrt(mat.Dot(&combined, &combined)+ridge*mat.Dot(&c, &c)) / mat.Norm(g, 2)
}

func TestBothSidesGiveTheDistanceByItsDefinition(t *testing.T) {
	for _, s := range []struct{ rows, dimension int }{{2, 5}, {5, 5}, {8, 20}, {20, 8}, {30, 29}, {29, 30}} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, uint64(s.rows)))
			values := random(r, s.rows*s.dimension)
			if seed%2 == 1 { // two alike: neither is outside
				copy(values[:s.dimension], values[s.dimension:])
			}
			test := test(t, values, s.rows)
			for i := range s.rows {
				got, want := row(t, test, i).Outside, dumb(values, s.rows, i, test.ridge)
				if math.Abs(got-want) > 1e-6*(1+want) && math.Abs(got-want) > 1e-5*want {
					t.Errorf("%v, seed %d, row %d: %g outside, want %g", s, seed, i, got, want)
				}
			}
			if first := row(t, test, 0); seed%2 == 1 && first.Leaks {
				t.Errorf("%v: a gradient that is there twice is %g outside", s, first.Outside)
			}
		}
	}
}

// A direction of its own, so small a part of the gradient: the tolerance decides.
func TestTheToleranceDecides(t *testing.T) {
	for _, c := range []struct {
		part  float64
		leaks bool
	}{{1, true}, {.01, true}, {3 * Tolerance, true}, {Tolerance / 3, false}, {0, false}} {
		values := random(rand.New(rand.NewPCG(1, 1)), 12*5)
		for i := range 12 {
			values[i*5+4] = 0
		}
		values[4] = c.part / math.Sqrt(1-min(c.part*c.part, .5)) * norm(values[:4])
		if got := row(t, test(t, values, 12), 0); got.Leaks != c.leaks {
			t.Errorf("a part of %g: %g outside, leak %t", c.part, got.Outside, got.Leaks)
		}
	}
}

func TestEigenvaluesAreThoseOfTheCovariance(t *testing.T) {
	// Two gradients along each axis, of lengths 1 and 3: (1/4)·diag(2, 18).
	s := test(t, []float64{1, 0, -1, 0, 0, 3, 0, -3}, 4)
	if got := s.Eigenvalues(); len(got) != 2 || math.Abs(got[0]-4.5) > 1e-12 || math.Abs(got[1]-.5) > 1e-12 || math.Abs(s.Smallest()-.5) > 1e-12 {
		t.Errorf("eigenvalues %v, smallest %g; want 4.5 and 0.5", got, s.Smallest())
	}
}

func TestWhatCannotBeMeasuredIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		rows   int
	}{
		"one gradient": {[]float64{1, 2}, 1}, "none": {nil, 2}, "ragged": {[]float64{1, 2, 3}, 2}, "NaN": {[]float64{1, math.NaN()}, 2},
		"all zero": {make([]float64, 8), 2}, "too many of both": {make([]float64, (Largest+1)*(Largest+1)), Largest + 1},
	} {
		if _, err := New(c.values, c.rows); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s := test(t, []float64{1, 2, 3, 4}, 2)
	for _, i := range []int{-1, 2} {
		if _, err := s.Row(i); err == nil {
			t.Errorf("row %d: accepted", i)
		}
	}
	zero := test(t, []float64{1, 2, 0, 0}, 2)
	if d := row(t, zero, 1); d.Leaks || d.Outside != 0 {
		t.Errorf("a gradient of zeros leaks: %+v", d)
	}
}

// Equation 34 at its best order, against a fine grid of orders.
func TestTheoremThreeIsMinimisedOverOrders(t *testing.T) {
	for _, m := range []Mix{{.5, 1200, 32, 1}, {50, 1200, 32, 10}, {1, 100, 10, 1}} {
		best := math.Inf(1)
		most := float64(m.Records) * m.Smallest / (m.Clip * m.Clip)
		for i := 1; i < 100_000; i++ {
			a := 1 + (most-1)*float64(i)/100_000
			d, c2 := float64(m.Records), m.Clip*m.Clip
			best = min(best, (2*a*m.Batch*c2/d/d+a*c2/(a-1)/d)/(m.Smallest-a*c2/d)+math.Log(1e4)/(a-1))
		}
		if got := m.Epsilon(1e-4); got > best*(1+1e-9) || got < best*.99 {
			t.Errorf("%+v: epsilon %g, the grid has %g", m, got, best)
		}
	}
	if e := (Mix{1e-3, 1200, 32, 10}).Epsilon(1e-4); !math.IsInf(e, 1) {
		t.Errorf("no order is left, and epsilon is %g", e)
	}
	fewer, more := Mix{1, 1200, 32, 1}.Epsilon(1e-4), Mix{2, 1200, 32, 1}.Epsilon(1e-4)
	if more >= fewer {
		t.Errorf("twice the eigenvalue costs %g, once %g", more, fewer)
	}
}

func BenchmarkNew(b *testing.B) {
	for _, rows := range []int{300, 1000} {
		values := random(rand.New(rand.NewPCG(1, 1)), rows*7850)
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			for b.Loop() {
				if _, err := New(values, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Gradients of known lengths along known axes, seen from both sides; the last axis is left out of a subspace of two.
func TestTheSubspaceHoldsTheLargestDirections(t *testing.T) {
	lengths := []float64{1, 5, 3, 0, 0}
	for _, repeats := range []int{1, 4} { // fewer rows than weights, and more
		var values []float64
		var narrow []float32
		for range repeats {
			for axis, length := range lengths[:3] {
				g := make([]float64, len(lengths))
				g[axis] = length
				values = append(values, g...)
				for _, v := range g {
					narrow = append(narrow, float32(v))
				}
			}
		}
		s, err := test(t, values, 3*repeats).Principal(2)
		if err != nil {
			t.Fatal(err)
		}
		smallest, outside, err := s.Smallest(narrow, 3*repeats)
		if err != nil {
			t.Fatal(err)
		}
		// Nine of 25 + 9 + 1 parts, each gradient a third of the rows.
		if math.Abs(smallest-3) > 1e-9 || math.Abs(outside-1./35) > 1e-9 {
			t.Errorf("%d of each: smallest eigenvalue %g, outside %g; want 3 and %g", repeats, smallest, outside, 1./35)
		}
	}
	if _, err := test(t, []float64{1, 0, 0, 1}, 2).Principal(3); err == nil {
		t.Error("more dimensions than there are were accepted")
	}
}
