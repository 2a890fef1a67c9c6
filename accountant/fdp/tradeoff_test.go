package fdp

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"hubbub/accountant/pld"
)

func someFunction(t *rapid.T) Function {
	mu := rapid.Float64Range(0.01, 5).Draw(t, "mu")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return gaussian{mu}
	case 1:
		return epsilonDelta{mu, rapid.Float64Range(0, 0.5).Draw(t, "delta")}
	case 2:
		return Envelope{gaussian{mu}, epsilonDelta{mu, 0.01}}
	}
	f, err := Sampled{mu, rapid.Float64Range(0.001, 1).Draw(t, "rate")}.Tradeoff()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFunctionsAreTradeoffFunctions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := someFunction(t)
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		b := rapid.Float64Range(a, 1).Draw(t, "b")
		fa, fb, middle := f.Beta(a), f.Beta(b), f.Beta((a+b)/2)
		if fa < 0 || fa > 1-a+1e-15 {
			t.Fatalf("f(%g) = %g outside [0, 1-alpha]", a, fa)
		}
		if fb > fa+1e-15 {
			t.Fatalf("f rises from %g at %g to %g at %g", fa, a, fb, b)
		}
		if middle > (fa+fb)/2+1e-12 {
			t.Fatalf("f is not convex between %g and %g", a, b)
		}
		// All of these are symmetric: f is its own inverse.
		if inverse := (Inverse{f}).Beta(a); math.Abs(inverse-fa) > 1e-6 {
			t.Fatalf("inverse at %g is %g, f is %g", a, inverse, fa)
		}
	})
}

func TestSymmetrizeFindsThePublishedForm(t *testing.T) {
	// C_p(G_mu) is known in closed form; the general routine must find the same, from either direction.
	known, err := Sampled{1.8, 0.35}.Tradeoff()
	if err != nil {
		t.Fatal(err)
	}
	oneWay := mixed{1.8, 0.35}
	for name, f := range map[string]Function{"one direction": oneWay, "the other": Inverse{oneWay}} {
		s := Symmetrize(f)
		for alpha := 0.; alpha <= 1; alpha += 1. / 64 {
			if got, want := s.Beta(alpha), known.Beta(alpha); math.Abs(got-want) > 1e-7 {
				t.Errorf("from %s: f(%g) = %.10f, want %.10f", name, alpha, got, want)
			}
		}
	}
}

func TestDeltaOfGaussianIsTheClosedForm(t *testing.T) {
	for _, mu := range []float64{0.1, 1, 4} {
		for _, eps := range []float64{0, 0.1, 1, 3} {
			want, err := Delta(mu, eps)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DeltaOf(gaussian{mu}, eps)
			if err != nil || got < want*(1-2*outward) || got > want+1e-9 {
				t.Errorf("mu %g, epsilon %g: delta %.12g (%v), want %.12g", mu, eps, got, err, want)
			}
		}
	}
}

func TestDeltaOfUndoesEpsilonDelta(t *testing.T) {
	for _, f := range []epsilonDelta{{0.5, 0.1}, {1, 1e-5}, {3, 0}} {
		got, err := DeltaOf(f, f.epsilon)
		if err != nil || math.Abs(got-f.delta) > 1e-11 {
			t.Errorf("%+v: delta %g (%v) at its epsilon", f, got, err)
		}
	}
}

func TestEpsilonOfGaussianIsTheClosedForm(t *testing.T) {
	for _, mu := range []float64{0.1, 1, 3} {
		for _, delta := range []float64{1e-5, 0.01, 0.9} {
			want, err := Epsilon(mu, delta)
			if err != nil {
				t.Fatal(err)
			}
			got, err := EpsilonOf(gaussian{mu}, delta)
			if err != nil || got < want*(1-1e-9) || got > want+1e-4*max(1, want) {
				t.Errorf("mu %g, delta %g: epsilon %.12g (%v), want %.12g", mu, delta, got, err, want)
			}
		}
	}
	if got, err := EpsilonOf(epsilonDelta{1, 0.1}, 0.01); err != nil || !math.IsInf(got, 1) {
		t.Errorf("epsilon %g (%v) at a delta that the mechanism does not reach, want none", got, err)
	}
}

func TestSampledAgreesWithItsPair(t *testing.T) {
	// Two ways to the same trade-off function: the closed form, and the privacy loss distribution.
	for _, s := range []Sampled{{1, 0.1}, {1.8, 0.35}, {0.5, 1}} {
		f, err := s.Tradeoff()
		if err != nil {
			t.Fatal(err)
		}
		for _, alpha := range []float64{0.02, 0.2, 0.5, 0.8} {
			b, err := s.Beta(1, alpha, pld.Options{Tolerance: 1e-5})
			if err != nil {
				t.Fatal(err)
			}
			if want := f.Beta(alpha); b.Lower > want+1e-11 || b.Upper < want-1e-11 || b.Upper-b.Lower > 2e-5 {
				t.Errorf("%+v at %g: pair gives %v, closed form %.9g", s, alpha, b, want)
			}
		}
	}
}

func TestQuantileInvertsSurvival(t *testing.T) {
	for _, p := range []float64{1e-300, 1e-100, 1e-20, 1e-5, 0.01, 0.3, 0.5, 0.7, 0.999} {
		if got := math.Exp(logSurvival(quantile(p))); !near(got, p, 1e-12) {
			t.Errorf("survival(quantile(%g)) = %g", p, got)
		}
	}
}
