package pld

import (
	"math"
	"strings"
	"testing"
)

// gaussianDelta is the closed form for N(mu, 1) against N(0, 1) (Balle and Wang 2018, Theorem 8). Good in the middle of
// the range only.
func gaussianDelta(mu, eps float64) float64 {
	above, _ := normalTails(eps/mu - mu/2)
	far, _ := normalTails(eps/mu + mu/2)
	return above - math.Exp(eps)*far
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func must(t fataler, p Pair, err error) Pair {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func gaussianPair(t fataler, z, rate float64) Pair {
	p, err := SubsampledGaussian(z, rate)
	return must(t, p, err)
}

func epsilon(t testing.TB, terms []Term, delta float64, o Options) Bracket {
	t.Helper()
	b, err := Epsilon(terms, delta, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func delta(t testing.TB, terms []Term, eps float64, o Options) Bracket {
	t.Helper()
	b, err := Delta(terms, eps, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEpsilonOfGaussianCompositionsIsTheClosedForm(t *testing.T) {
	// n Gaussians of multiplier z are one of mu = sqrt(n)/z. The values are of the
	// closed form (Dong, Roth, Su, arXiv:1905.02383, Corollary 2.13) at delta = 1e-5, computed independently.
	for _, c := range []struct {
		name  string
		mu    float64
		count int
		want  float64
	}{
		{"one step, mu 0.5", 0.5, 1, 1.993091404},
		{"one step, mu 1", 1, 1, 4.377178096},
		{"one step, mu 2", 2, 1, 9.997256146},
		{"one step, mu 2.71", 2.71, 1, 14.632190804},
		{"25 steps to mu 1", 1, 25, 4.377178096},
		{"1000 steps to mu 1", 1, 1000, 4.377178096},
		{"1000 steps to mu 2.71", 2.71, 1000, 14.632190804},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := gaussianPair(t, math.Sqrt(float64(c.count))/c.mu, 1)
			b := epsilon(t, []Term{{p, c.count}}, 1e-5, Options{Tolerance: 2e-7})
			const printed = 6e-10 // half a unit of the last printed digit
			if b.Lower > c.want+printed || b.Upper < c.want-printed {
				t.Errorf("bracket [%.10f, %.10f] misses %.9f", b.Lower, b.Upper, c.want)
			}
			if width := b.Upper - b.Lower; width > 1e-6*c.want {
				t.Errorf("bracket is %g wide, want 1e-6 relative", width)
			}
		})
	}
}

func TestEpsilonOfAFederatedRun(t *testing.T) {
	// The first row of Table 1 of Zheng, Chen, Long, Su, arXiv:2102.11158 (s = 1, q = 16/600, N = 38·93), at delta = 1e-5;
	// computed independently at two resolutions.
	base := gaussianPair(t, 1, 1)
	fixed, err := WithoutReplacement(base, 16./600)
	fixed = must(t, fixed, err)
	for _, c := range []struct {
		name string
		pair Pair
		want float64
	}{
		{"Poisson sampling, add-remove", gaussianPair(t, 1, 16./600), 10.82366},
		{"fixed size, replace-one", fixed, 13.87723},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := epsilon(t, []Term{{c.pair, 3534}}, 1e-5, Options{Tolerance: 1e-5})
			const printed = 1e-5
			if b.Lower > c.want+printed || b.Upper < c.want-printed {
				t.Errorf("bracket [%.7f, %.7f] misses %.5f", b.Lower, b.Upper, c.want)
			}
			if width := b.Upper - b.Lower; width > 1e-5*c.want {
				t.Errorf("bracket is %g wide, want 1e-5 relative", width)
			}
		})
	}
}

func TestDeltaOfGaussianIsTheClosedForm(t *testing.T) {
	for _, c := range []struct {
		name    string
		mu, eps float64
	}{
		{"at zero", 1, 0},
		{"small epsilon", 1, 0.1},
		{"middle", 1, 1},
		{"delta near one", 8, 1},
		{"tail", 1, 5},
		{"little noise", 20, 150},
		{"much noise", 0.001, 0.002},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := gaussianDelta(c.mu, c.eps)
			for _, count := range []int{1, 64} {
				p := gaussianPair(t, math.Sqrt(float64(count))/c.mu, 1)
				b := delta(t, []Term{{p, count}}, c.eps, Options{})
				if b.Lower > want*(1+1e-9) || b.Upper < want*(1-1e-9) {
					t.Errorf("%d steps: bracket [%g, %g] misses %g", count, b.Lower, b.Upper, want)
				}
				if b.Upper-b.Lower > 1e-3*b.Upper {
					t.Errorf("%d steps: bracket [%g, %g] is wider than 1e-3", count, b.Lower, b.Upper)
				}
			}
		})
	}
}

func TestDeepTailsKeepTheirPrecision(t *testing.T) {
	// Without the tilt, round-off of about 1e-16 would drown these deltas.
	for _, target := range []float64{1e-20, 1e-100, 1e-250} {
		one := epsilon(t, []Term{{gaussianPair(t, 1, 1), 1}}, target, Options{Tolerance: 1e-5})
		many := epsilon(t, []Term{{gaussianPair(t, 10, 1), 100}}, target, Options{Tolerance: 1e-4})
		if one.Lower > many.Upper || many.Lower > one.Upper {
			t.Errorf("delta %g: one step gives %v, 100 steps of the same total %v", target, one, many)
		}
		if many.Upper-many.Lower > 1e-4*many.Upper {
			t.Errorf("delta %g: bracket %v is wider than 1e-4", target, many)
		}
		back := delta(t, []Term{{gaussianPair(t, 1, 1), 1}}, one.Upper, Options{})
		if back.Lower > target {
			t.Errorf("delta at epsilon %g is at least %g, above %g", one.Upper, back.Lower, target)
		}
	}
}

func TestMemoryDoesNotGrowWithTheNumberOfCompositions(t *testing.T) {
	// The grid is bounded; more compositions widen the bracket instead, and it says so.
	o := Options{MaxPoints: 1 << 17}
	for _, count := range []int{1_000, 100_000, 1_000_000} {
		z := math.Sqrt(float64(count))
		b := epsilon(t, []Term{{gaussianPair(t, z, 1), count}}, 1e-5, o)
		if b.Lower > 4.377178096 || b.Upper < 4.377178096 {
			t.Errorf("%d compositions: bracket %v misses 4.377178096", count, b)
		}
		if b.Upper-b.Lower > 0.01*b.Upper {
			t.Errorf("%d compositions: bracket %v is wider than 1%%", count, b)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	good := []Term{{gaussianPair(t, 1, 1), 1}}
	pair := func(_ Pair, err error) error { return err }
	bracket := func(_ Bracket, err error) error { return err }
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"zero noise", pair(Gaussian(0)), "noise multiplier 0"},
		{"negative noise", pair(Gaussian(-1)), "noise multiplier -1"},
		{"NaN noise", pair(Gaussian(nan)), "noise multiplier NaN"},
		{"infinite noise", pair(Gaussian(inf)), "noise multiplier +Inf"},
		{"rate zero", pair(SubsampledGaussian(1, 0)), "rate 0"},
		{"rate above one", pair(SubsampledGaussian(1, 1.5)), "rate 1.5"},
		{"rate NaN", pair(SubsampledGaussian(1, nan)), "rate NaN"},
		{"fixed-size rate below zero", pair(WithoutReplacement(good[0].Pair, -0.1)), "rate -0.1"},
		{"fixed-size sampling of a one-sided loss", pair(WithoutReplacement(gaussianPair(t, 1, 0.5), 0.1)), "both directions"},
		{"Laplace scale", pair(Laplace(0)), "scale 0"},
		{"discrete Gaussian variance", pair(DiscreteGaussian(-4, 1)), "sigma2 -4"},
		{"discrete Gaussian that is too wide", pair(DiscreteGaussian(1e30, 1)), "too large"},
		{"shift zero", pair(DiscreteGaussian(4, 0)), "shift 0"},
		{"huge shift", pair(DiscreteGaussian(4, math.MinInt64)), "too large"},
		{"masses that do not add up", pair(Integers(PMF{0, []float64{-1}}, PMF{0, []float64{0}})), "add up to"},
		{"NaN mass", pair(Integers(PMF{0, []float64{nan}}, PMF{0, []float64{0}})), "no probability"},
		{"no masses", pair(Integers(PMF{}, PMF{0, []float64{0}})), "lists 0"},
		{"masses far apart", pair(Integers(PMF{1 << 40, []float64{0}}, PMF{0, []float64{0}})), "span"},
		{"continuous pair without a threshold", pair(Continuous{}.Pair()), "threshold"},
		{"delta zero", bracket(Epsilon(good, 0, Options{})), "delta 0"},
		{"delta one", bracket(Epsilon(good, 1, Options{})), "delta 1"},
		{"delta NaN", bracket(Epsilon(good, nan, Options{})), "delta NaN"},
		{"epsilon negative", bracket(Delta(good, -1, Options{})), "epsilon -1"},
		{"epsilon infinite", bracket(Delta(good, inf, Options{})), "epsilon +Inf"},
		{"no terms", bracket(Epsilon(nil, 1e-5, Options{})), "nothing to compose"},
		{"count zero", bracket(Epsilon([]Term{{good[0].Pair, 0}}, 1e-5, Options{})), "count 0"},
		{"empty pair", bracket(Epsilon([]Term{{Pair{}, 1}}, 1e-5, Options{})), "no pair"},
		{"tolerance negative", bracket(Epsilon(good, 1e-5, Options{Tolerance: -1})), "tolerance -1"},
		{"tiny grid", bracket(Epsilon(good, 1e-5, Options{MaxPoints: 3})), "3 grid points"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", c.err, c.want)
			}
		})
	}
}

func TestBracketIsNarrowWhereTheGridIsHardToChoose(t *testing.T) {
	laplace := func(scale, rate float64) Pair {
		p, err := SubsampledLaplace(scale, rate)
		return must(t, p, err)
	}
	for _, c := range []struct {
		name  string
		pair  Pair
		count int
		delta float64
	}{
		{"rare large losses on a narrow bulk", gaussianPair(t, 0.5, 1e-4), 100_000, 1e-8},
		{"many tiny losses", gaussianPair(t, 4, 0.001), 100_000, 1e-8},
		{"two atoms and what is between them", laplace(1, 0.01), 10_000, 1e-5},
		{"atoms that hold most of the mass", laplace(0.2, 0.5), 20, 1e-9},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := epsilon(t, []Term{{c.pair, c.count}}, c.delta, Options{})
			if !(b.Upper-b.Lower <= 5e-4*b.Upper) {
				t.Errorf("bracket %v is wider than 5e-4", b)
			}
		})
	}
}
