package fdp

import (
	"fmt"
	"math"
	"testing"

	"hubbub/accountant/pld"
)

// "mu_j = ... " [ZCLS22, Theorem 2] and its Tables 1 to 3: n = 600 records a client for MNIST, 500 for CIFAR-10.
// The unrounded values are the formula's, computed independently.
func TestLimitMuReproducesTheTables(t *testing.T) {
	for _, c := range []struct {
		table          int
		sigma          float64
		batch, k, r, n int
		printed        float64
		unrounded      float64
	}{
		{1, 1, 16, 38, 93, 600, 2.71, 2.711030},
		{1, 0.9, 16, 38, 83, 600, 3.10, 3.098586},
		{1, 0.75, 16, 38, 64, 600, 3.96, 3.962531},
		{1, 1, 16, 38, 194, 600, 3.92, 3.915558},
		{1, 0.9, 16, 38, 176, 600, 4.51, 4.512122},
		{1, 0.75, 16, 38, 127, 600, 5.58, 5.581932},
		{1, 1, 16, 38, 386, 600, 5.52, 5.523145},
		{1, 0.9, 16, 38, 325, 600, 6.13, 6.131492},
		{1, 0.75, 16, 38, 245, 600, 7.75, 7.752927},
		{2, 1, 8, 76, 266, 600, 3.24, 3.242042},
		{2, 1, 16, 38, 194, 600, 3.92, 3.915558},
		{2, 0.9, 8, 76, 229, 600, 3.64, 3.639379},
		{2, 0.9, 16, 38, 176, 600, 4.51, 4.512122},
		{2, 0.75, 8, 76, 191, 600, 4.84, 4.840435},
		{2, 0.75, 16, 38, 127, 600, 5.58, 5.581932},
		{3, 1, 16, 32, 468, 500, 6.70, 6.696998},
		{3, 0.75, 16, 32, 321, 500, 9.77, 9.772364},
		{3, 0.5, 16, 32, 207, 500, 26.81, 26.814195},
		{3, 1, 16, 32, 904, 500, 9.31, 9.307681},
		{3, 0.75, 16, 32, 671, 500, 14.13, 14.128901},
		{3, 0.5, 16, 32, 405, 500, 37.51, 37.506549},
	} {
		t.Run(fmt.Sprintf("table %d, sigma %g, B %d, R %d", c.table, c.sigma, c.batch, c.r), func(t *testing.T) {
			got, err := Sampled{1 / c.sigma, float64(c.batch) / float64(c.n)}.LimitMu(c.k * c.r)
			if err != nil || math.Abs(got-c.printed) > 0.005 || math.Abs(got-c.unrounded) > 1e-6 {
				t.Errorf("mu = %.7f (%v), want %.6f, printed as %.2f", got, err, c.unrounded, c.printed)
			}
		})
	}
}

func TestSampledTradeoffMatchesPublishedValues(t *testing.T) {
	// C_p(G_mu) at p = 0.35, mu = 1.8, computed independently from [DRS22, Section 4.2] to ten digits.
	f, err := Sampled{1.8, 0.35}.Tradeoff()
	if err != nil {
		t.Fatal(err)
	}
	s := f.(Symmetrized)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"where the line begins", s.x, 0.1840601253},
		{"where the line ends", s.y, 0.5947819624},
		{"before the line", f.Beta(0.05), 0.7709235368},
		{"on the line", f.Beta(0.5), 0.2788420877},
		{"after the line", f.Beta(0.9), 0.0079745156},
		{"at zero", f.Beta(0), 1},
		{"at one", f.Beta(1), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-10 {
			t.Errorf("%s: %.12f, want %.10f", c.name, c.got, c.want)
		}
	}
}

func TestLimitMuIsNoBound(t *testing.T) {
	// The first row of [ZCLS22, Table 1]: s = 1, N = 38·93, q = 16/600; delta = 1e-5. The limit is too large for replace-one
	// (14.639294 against 13.87723) but too small for Poisson sampling (10.480824 against 10.82366).
	const count, rate, delta = 3534, 16. / 600, 1e-5
	fixed := Sampled{1, rate}
	mu, err := fixed.LimitMu(count)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := Epsilon(mu, delta)
	if err != nil || math.Abs(limit-14.639294) > 1e-6 {
		t.Errorf("epsilon of the limit is %.7f (%v), want 14.639294", limit, err)
	}
	b, err := fixed.Epsilon(count, delta, pld.Options{Tolerance: 1e-5})
	if err != nil || b.Lower > 13.87723+1e-5 || b.Upper < 13.87723-1e-5 || b.Upper-b.Lower > 2e-4 {
		t.Errorf("epsilon in %v (%v), want 13.87723", b, err)
	}

	poisson, err := PoissonLimitMu(1, rate, count)
	if err != nil || math.Abs(poisson-2.078018) > 1e-6 {
		t.Errorf("Poisson limit mu %.7f (%v), want 2.078018", poisson, err)
	}
	tooSmall, err := Epsilon(poisson, delta)
	if err != nil || math.Abs(tooSmall-10.480824) > 1e-6 {
		t.Errorf("epsilon of the Poisson limit is %.7f (%v), want 10.480824", tooSmall, err)
	}
	pair, err := pld.SubsampledGaussian(1, rate)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := pld.Epsilon([]pld.Term{{Pair: pair, Count: count}}, delta, pld.Options{})
	if err != nil || truth.Lower <= tooSmall {
		t.Errorf("the true epsilon, in %v (%v), should exceed the limit's %g", truth, err, tooSmall)
	}
}

func TestGaussianAgreesWithPLD(t *testing.T) {
	// The claim: PLD = f-DP = closed form, to 1e-6.
	for _, mu := range []float64{0.2, 1, 3} {
		for _, count := range []int{1, 40} {
			pair, err := pld.Gaussian(math.Sqrt(float64(count)) / mu)
			if err != nil {
				t.Fatal(err)
			}
			b, err := pld.Epsilon([]pld.Term{{Pair: pair, Count: count}}, 1e-6, pld.Options{Tolerance: 5e-7})
			if err != nil {
				t.Fatal(err)
			}
			closed, err := Epsilon(mu, 1e-6)
			if err != nil || closed < b.Lower-1e-9 || closed > b.Upper+1e-9 || !near(b.Upper, closed, 1e-6) {
				t.Errorf("mu %g, %d steps: closed form %.9g (%v), PLD [%.9g, %.9g]", mu, count, closed, err, b.Lower, b.Upper)
			}
		}
	}
}

func TestPLDHoldsTheClosedFormAtEveryScale(t *testing.T) {
	// Narrow where anyone would ask; where masses underflow (epsilon above some hundred) only true.
	for _, c := range []struct {
		mu    float64
		width float64
	}{
		{1e-7, 1e-3}, {1e-4, 1e-4}, {0.01, 1e-4}, {1, 1e-4}, {10, 1e-4}, {50, 0.05}, {100, 1}, {1000, 1},
	} {
		for _, count := range []int{1, 100} {
			pair, err := pld.Gaussian(math.Sqrt(float64(count)) / c.mu)
			if err != nil {
				t.Fatal(err)
			}
			terms := []pld.Term{{Pair: pair, Count: count}}
			for _, delta := range []float64{0.3, 1e-5, 1e-100} {
				want, err := Epsilon(c.mu, delta)
				if err != nil {
					t.Fatal(err)
				}
				b, err := pld.Epsilon(terms, delta, pld.Options{})
				if err != nil || !(b.Lower <= want*(1+1e-9) && b.Upper >= want*(1-1e-9)) {
					t.Errorf("mu %g, %d steps, delta %g: bracket %v (%v) misses %.12g", c.mu, count, delta, b, err, want)
				}
				if b.Upper-b.Lower > c.width*b.Upper {
					t.Errorf("mu %g, %d steps, delta %g: bracket %v is wider than %g", c.mu, count, delta, b, c.width)
				}
			}
			b, err := pld.Tradeoff(terms, 0.1, pld.Options{})
			if want := (gaussian{c.mu}).Beta(0.1); err != nil || !(b.Lower <= want+1e-11 && b.Upper >= want-1e-11) {
				t.Errorf("mu %g, %d steps: beta in %v (%v) misses %g", c.mu, count, b, err, want)
			}
		}
	}
}
