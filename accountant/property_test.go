package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// genLeaf draws an event that costs little time, in a range where epsilon is finite at most orders.
func genLeaf(t *rapid.T) Event {
	noise := rapid.Float64Range(0.3, 20).Draw(t, "noise")
	l2 := rapid.Float64Range(1, 4).Draw(t, "l2")
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return Gaussian{noise}
	case 1:
		return Laplace{Scale: noise}
	case 2:
		return Skellam{Rate: noise * noise * 8, L2: l2, Bound: SkellamAKL}
	case 3:
		return DiscreteGaussian{noise * noise, l2}
	case 4:
		return DiscreteGaussianSum{rapid.IntRange(1, 20).Draw(t, "clients"), 1 + noise, l2, 100}
	case 5:
		return SMM{noise * noise * 20, l2, 1}
	default:
		return GDP{1 / noise}
	}
}

// genEvent nests them, for the adjacencies that Poisson sampling has.
func genEvent(t *rapid.T, depth int) Event {
	if depth == 0 {
		return genLeaf(t)
	}
	switch rapid.IntRange(0, 4).Draw(t, "shape") {
	case 0:
		return Poisson{rapid.Float64Range(0, 1).Draw(t, "rate"), genEvent(t, depth-1)}
	case 1:
		return Repeat{rapid.IntRange(0, 300).Draw(t, "count"), genEvent(t, depth-1)}
	case 2:
		parts := Compose{}
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			parts = append(parts, genEvent(t, depth-1))
		}
		return parts
	default:
		return genLeaf(t)
	}
}

// mustEpsilon is by RDP, whose bounds obey the properties exactly; a bracket would obey them up to its width.
func mustEpsilon(t interface{ Fatal(...any) }, e Event, delta float64) float64 {
	b, err := Epsilon(About{Event: e}, delta, ByRDP)
	if err != nil {
		t.Fatal(err)
	}
	if math.IsNaN(b.Epsilon) || b.Epsilon < 0 {
		t.Fatal("epsilon ", b.Epsilon)
	}
	return b.Epsilon
}

// loose is twice the width of a bracket: two values that are equal may be that far apart.
const loose = 2e-4

func TestEpsilonNeverRisesWithDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genEvent(t, 2)
		exponents := rapid.SliceOfN(rapid.Float64Range(-30, -0.1), 2, 2).Draw(t, "exponents")
		low, high := math.Exp(min(exponents[0], exponents[1])), math.Exp(max(exponents[0], exponents[1]))
		if at, then := mustEpsilon(t, e, low), mustEpsilon(t, e, high); then > at*(1+loose) {
			t.Fatalf("%+v: epsilon %g at delta %g, %g at %g", e, at, low, then, high)
		}
	})
}

func TestDeltaNeverRisesWithEpsilonAndInvertsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		about := About{Event: genEvent(t, 1)}
		delta := math.Exp(rapid.Float64Range(-25, -1).Draw(t, "log delta"))
		epsilon := mustEpsilon(t, about.Event, delta)
		if math.IsInf(epsilon, 1) {
			return
		}
		at := func(epsilon float64) float64 {
			b, err := Delta(about, epsilon, ByRDP)
			if err != nil || math.IsNaN(b.Delta) || b.Delta < 0 || b.Delta > 1 {
				t.Fatal(b.Delta, err)
			}
			return b.Delta
		}
		if got := at(epsilon); got > delta*(1+0.02)+1e-7 {
			t.Fatalf("%+v: delta %g gives epsilon %g, which gives delta %g", about.Event, delta, epsilon, got)
		}
		if less, more := at(epsilon*1.1+.01), at(epsilon); less > more*(1+loose) {
			t.Fatalf("%+v: delta rises from %g to %g", about.Event, more, less)
		}
	})
}

func TestMoreNoiseNeverCostsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0.3, 30).Draw(t, "noise")
		more := x * (1 + rapid.Float64Range(0.001, 3).Draw(t, "more"))
		wrap := func(e Event) Event { return e }
		if rapid.Bool().Draw(t, "sampled") {
			q := rapid.Float64Range(0.001, 1).Draw(t, "rate")
			wrap = func(e Event) Event { return Repeat{50, Poisson{q, e}} }
		}
		build := rapid.SampledFrom([]func(x float64) Event{
			func(x float64) Event { return Gaussian{x} },
			func(x float64) Event { return Laplace{Scale: x} },
			func(x float64) Event { return Skellam{Rate: 8 * x, L2: 2, Bound: SkellamAKL} },
			func(x float64) Event { return Skellam{Rate: 8 * x, L2: 2, Bound: SkellamDSM} },
			func(x float64) Event { return DiscreteGaussian{x, 2} },
			func(x float64) Event { return DiscreteGaussianSum{10, x, 2, 100} },
			func(x float64) Event { return SMM{10 * x, 4, 1} },
			func(x float64) Event { return GDP{1 / x} },
		}).Draw(t, "event")
		a, b := mustEpsilon(t, wrap(build(x)), 1e-5), mustEpsilon(t, wrap(build(more)), 1e-5)
		if b > a*(1+loose) {
			t.Fatalf("%+v: epsilon %g; %+v: %g", wrap(build(x)), a, wrap(build(more)), b)
		}
	})
}

// The exact sums take longer, so a table serves for them.
func TestMoreSkellamNoiseNeverCostsMore(t *testing.T) {
	last := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	for _, rate := range []float64{0.4, 1, 2.5, 6, 20, 21, 80} {
		for i, e := range []Event{Skellam{Rate: rate, L2: 3}, RoundedSkellam{rate, 3}, Repeat{20, Poisson{.05, RoundedSkellam{rate, 3}}}} {
			epsilon := mustEpsilon(t, e, 1e-5)
			if epsilon > last[i] {
				t.Errorf("%+v: epsilon rises to %g from %g", e, epsilon, last[i])
			}
			last[i] = epsilon
		}
	}
}

func TestCompositionInAnyOrderCostsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := Compose{genEvent(t, 1), genEvent(t, 1), genEvent(t, 1)}
		want := mustEpsilon(t, parts, 1e-5)
		for _, other := range []Event{
			Compose{parts[2], parts[0], parts[1]},
			Compose{Compose{parts[1], parts[2]}, parts[0]},
			Compose{Repeat{1, parts[0]}, Compose{}, Compose{parts[1]}, parts[2]},
		} {
			if got := mustEpsilon(t, other, 1e-5); got != want && math.Abs(got/want-1) > loose {
				t.Fatalf("%+v: %g, %+v: %g", parts, want, other, got)
			}
		}
	})
}

func TestSamplingNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genEvent(t, 1)
		q := rapid.Float64Range(0, 1).Draw(t, "rate")
		plain := mustEpsilon(t, e, 1e-5)
		if sampled := mustEpsilon(t, Poisson{q, e}, 1e-5); sampled > plain*(1+loose) {
			t.Fatalf("%+v costs %g, sampled at %g it costs %g", e, plain, q, sampled)
		}
	})
}

func TestSamplingWithoutReplacementNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		noise, q := rapid.Float64Range(0.3, 20).Draw(t, "noise"), rapid.Float64Range(0, 1).Draw(t, "rate")
		e := Laplace{Scale: noise}
		if plain, sampled := mustEpsilon(t, e, 1e-5), mustEpsilon(t, WithoutReplacement{q, e}, 1e-5); sampled > plain*(1+loose) {
			t.Fatalf("%+v costs %g, sampled at %g it costs %g", e, plain, q, sampled)
		}
	})
}

func TestAddingAnEventNeverLowersEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genEvent(t, 1), genEvent(t, 1)
		alone, both := mustEpsilon(t, a, 1e-5), mustEpsilon(t, Compose{a, b}, 1e-5)
		if both < alone*(1-loose) {
			t.Fatalf("%+v costs %g, with %+v only %g", a, alone, b, both)
		}
	})
}

// A curve is the same bound as Epsilon by RDP, only computed once.
func TestCurveAgreesWithEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genEvent(t, 1), genEvent(t, 1)
		n := rapid.IntRange(0, 500).Draw(t, "n")
		ca, err := NewCurve(About{Event: a})
		if err != nil {
			t.Fatal(err)
		}
		cb, err := NewCurve(About{Event: b})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := ca.Times(n).Plus(cb).Epsilon(1e-5)
		want, err := Epsilon(About{Event: Compose{Repeat{n, a}, b}}, 1e-5, ByRDP)
		if err != nil || got != want.Epsilon && math.Abs(got/want.Epsilon-1) > 1e-9 {
			t.Fatalf("curve %g, event %g, %v", got, want.Epsilon, err)
		}
	})
}

func TestBestIsNeverWorseThanRDP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genLeaf(t)
		best, err := Epsilon(About{Event: e}, 1e-5, Best)
		if rdp := mustEpsilon(t, e, 1e-5); err != nil || best.Epsilon > rdp || best.Lower > rdp {
			t.Fatalf("%+v: best [%g, %g] by %s, rdp %g, %v", e, best.Lower, best.Epsilon, best.Accountant, rdp, err)
		}
	})
}
