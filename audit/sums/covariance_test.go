package sums

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// positive makes a covariance with correlated entries.
func positive(r *rand.Rand, d int) Covariance {
	c := Covariance{d, make([]float64, d*d)}
	common := make([]float64, d)
	for i := range common {
		common[i] = r.NormFloat64()
	}
	for i := range d {
		for j := range d {
			c.Values[i*d+j] = common[i] * common[j]
		}
		c.Values[i*d+i] += .01 + r.Float64()
	}
	return c
}

// The blocked factorisation against gonum's, on sizes around the block's.
func TestFactorsAndDistancesAgreeWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 2, 5, block - 1, block, block + 1, 2*block + 17} {
		c := positive(r, d)
		var want mat.Cholesky
		if !want.Factorize(mat.NewSymDense(d, c.Values)) {
			t.Fatal("not positive")
		}
		difference := make([]float64, d)
		for i := range difference {
			difference[i] = r.NormFloat64()
		}
		var solved mat.VecDense
		if err := want.SolveVecTo(&solved, mat.NewVecDense(d, difference)); err != nil {
			t.Fatal(err)
		}
		distance := math.Sqrt(mat.Dot(&solved, mat.NewVecDense(d, difference)))
		got, err := Distance(c, difference)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got/distance-1) > 1e-10 {
			t.Errorf("%d entries: distance %.15g, want %.15g", d, got, distance)
		}
		f, err := Factorize(c, OneByOne)
		if err != nil {
			t.Fatal(err)
		}
		white := append([]float64(nil), difference...)
		if err := f.Whiten(white, OneByOne); err != nil {
			t.Fatal(err)
		}
		f.unwhiten(white)
		for i, v := range white {
			if math.Abs(v-solved.AtVec(i)) > 1e-9*(1+math.Abs(v)) {
				t.Fatalf("%d entries: solution %d is %g, want %g", d, i, v, solved.AtVec(i))
			}
		}
	}
}

// What comes out of many goroutines is what comes out of one.
func TestFactorsDoNotDependOnTheOrderOfBlocks(t *testing.T) {
	backwards := func(n int, do func(int)) {
		for i := n - 1; i >= 0; i-- {
			do(i)
		}
	}
	r := rand.New(rand.NewPCG(2, 1))
	c := positive(r, 3*block+5)
	other := Covariance{c.Dim, append([]float64(nil), c.Values...)}
	a, err := Factorize(c, OneByOne)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Factorize(other, backwards)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Dim {
		for j := range i + 1 {
			if a.l[i*c.Dim+j] != b.l[i*c.Dim+j] {
				t.Fatalf("entry %d, %d differs", i, j)
			}
		}
	}
}

func TestCovariancesThatLeakAreRefusedWithTheDirection(t *testing.T) {
	half := math.Sqrt(.5)
	for _, c := range []struct {
		name      string
		values    []float64
		direction []float64
		variance  float64
		words     string
	}{
		{"an entry without variance", []float64{1, 0, 0, 0}, []float64{0, 1}, 0, "singular: variance 0 along 1 of entry 1"},
		{"two entries that are always equal", []float64{1, 1, 1, 1}, []float64{-half, half}, 0, "singular: variance 0 along -0.707 of entry 0, 0.707 of entry 1"},
		{"the first entry without variance", []float64{0, 0, 0, 1}, []float64{1, 0}, 0, "1 of entry 0"},
		{"correlation above one", []float64{1, 2, 2, 1}, []float64{-2 / math.Sqrt(5), 1 / math.Sqrt(5)}, -.6, "not positive: variance -0.6 along"},
		{"a negative variance", []float64{-1, 0, 0, 1}, []float64{1, 0}, -1, "not positive: variance -1 along 1 of entry 0"},
		{"three entries that add up to nothing", []float64{2, -1, -1, -1, 2, -1, -1, -1, 2}, []float64{1 / math.Sqrt(3), 1 / math.Sqrt(3), 1 / math.Sqrt(3)}, 0, "0.577 of entry 0, 0.577 of entry 1, 0.577 of entry 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := int(math.Sqrt(float64(len(c.values))))
			_, err := Distance(Covariance{d, c.values}, make([]float64, d))
			var leak *LeakError
			if !errors.As(err, &leak) || !errors.Is(err, ErrLeaks) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "no guarantee") {
				t.Errorf("message %q lacks %q", err, c.words)
			}
			if math.Abs(leak.Variance-c.variance) > 1e-9 {
				t.Errorf("variance %g, want %g", leak.Variance, c.variance)
			}
			for i, v := range leak.Direction {
				if math.Abs(v-c.direction[i]) > 1e-9 {
					t.Errorf("direction %v, want %v", leak.Direction, c.direction)
					break
				}
			}
		})
	}
}

func TestImpossibleCovariancesAreRefused(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		covariance Covariance
		difference []float64
	}{
		"too few numbers":        {Covariance{2, []float64{1, 0, 1}}, []float64{1, 1}},
		"too large a dimension":  {Covariance{maxMoments + 1, nil}, make([]float64, maxMoments+1)},
		"no dimension":           {Covariance{0, nil}, nil},
		"NaN in the covariance":  {Covariance{1, []float64{nan}}, []float64{1}},
		"infinite covariance":    {Covariance{1, []float64{math.Inf(1)}}, []float64{1}},
		"a short difference":     {Covariance{2, []float64{1, 0, 0, 1}}, []float64{1}},
		"NaN in the difference":  {Covariance{1, []float64{1}}, []float64{nan}},
		"an infinite difference": {Covariance{1, []float64{1}}, []float64{math.Inf(-1)}},
	} {
		if _, err := Distance(c.covariance, c.difference); err == nil || errors.Is(err, ErrLeaks) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f, err := Factorize(Covariance{2, []float64{1, 0, 0, 1}}, OneByOne); err != nil || f.Whiten(make([]float64, 3), OneByOne) == nil {
		t.Errorf("three numbers were taken for rows of two (%v)", err)
	}
	for _, c := range []struct {
		updates      Updates
		clients, dim int
	}{{"normal", 10, 1}, {Gamma, 0, 1}, {Gamma, 1, 1}, {Uniform, 10, 0}, {Uniform, maxClients + 1, 1}, {Gamma, 10, maxDim + 1}} {
		if _, err := New(c.updates, c.clients, c.dim); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// One client with uniform updates hides nothing: the sums of two extreme updates never meet.
func TestOneUniformClientHidesNothing(t *testing.T) {
	s, err := New(Uniform, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Delta(1); err != nil || b.Lower < 1-1e-9 || s.Certain() != 1 {
		t.Errorf("delta %v (%v), certain %g", b, err, s.Certain())
	}
}

// Two uniform clients, by hand: the density is a triangle. Below 0 only the one sum can lie, which is half of it, and from there up to
// x = 1/(1+e^ε) its density 1-x exceeds e^ε·x.
func TestTwoUniformClientsByHand(t *testing.T) {
	s, err := New(Uniform, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{0, .5, 1, 3} {
		x := 1 / (1 + math.Exp(epsilon))
		want := .5 + x - (1+math.Exp(epsilon))*x*x/2
		if b, err := s.Delta(epsilon); err != nil || b.Lower > want+1e-12 || b.Upper < want-1e-12 || b.Upper-b.Lower > 5e-5 {
			t.Errorf("epsilon %g: %v (%v), want %.9g", epsilon, b, err, want)
		}
	}
}

// The mass at infinity of Gamma noise: computed independently, 10 clients.
func TestGammaSumsGiveAwayForCertain(t *testing.T) {
	for dim, want := range map[int]float64{1: .00813224, 10: .0784101, 100: .558046, 1000: .999716} {
		s, err := New(Gamma, 10, dim)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Certain(); math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%d entries: %.7g, want %.7g", dim, got, want)
		}
		b, err := s.Delta(60)
		if err != nil {
			t.Fatal(err)
		}
		if b.Upper < want*(1-1e-5) {
			t.Errorf("%d entries: delta at epsilon 60 is %v, below the certain %g", dim, b, want)
		}
	}
}

// The cell masses that the splines integrate to, against the printed alternating sum for few clients.
func TestSplinesAreTheIrwinHallDensity(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 12} {
		for _, at := range []float64{0.01, .3, .77} {
			for j, got := range splines(n, at) {
				x := at + float64(j)
				want, sign, choose := 0.0, 1.0, 1.0
				for k := 0; k <= n && float64(k) < x; k++ {
					want += sign * choose * math.Pow(x-float64(k), float64(n-1))
					sign = -sign
					choose = choose * float64(n-k) / float64(k+1)
				}
				want /= math.Gamma(float64(n))
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("%s: %.12g, want %.12g", fmt.Sprintf("n %d at %g", n, x), got, want)
				}
			}
		}
	}
}
