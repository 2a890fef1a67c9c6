package pld

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// smallPMF draws a distribution on a few integers, now and then with an integer that it never takes.
func smallPMF(size int) *rapid.Generator[PMF] {
	return rapid.Custom(func(t *rapid.T) PMF {
		weights := rapid.SliceOfN(rapid.Float64Range(0.05, 1), size, size).Draw(t, "weights")
		if rapid.IntRange(0, 3).Draw(t, "hole") == 0 {
			weights[rapid.IntRange(0, size-1).Draw(t, "where")] = 0
		}
		var sum float64
		for _, w := range weights {
			sum += w
		}
		d := PMF{LogMass: make([]float64, size)}
		for i, w := range weights {
			d.LogMass[i] = math.Log(w / sum)
		}
		return d
	})
}

type outcome struct{ p, q float64 }

// bruteForce is delta by enumerating all outcomes of a composition, in both directions.
func bruteForce(steps [][]outcome, eps float64) float64 {
	all := []outcome{{1, 1}}
	for _, step := range steps {
		var next []outcome
		for _, a := range all {
			for _, b := range step {
				next = append(next, outcome{a.p * b.p, a.q * b.q})
			}
		}
		all = next
	}
	var remove, add float64
	for _, o := range all {
		remove += max(0, o.p-math.Exp(eps)*o.q)
		add += max(0, o.q-math.Exp(eps)*o.p)
	}
	return max(remove, add)
}

func outcomes(p, q PMF, rate float64) []outcome {
	list := make([]outcome, len(p.LogMass))
	for i := range list {
		a, b := math.Exp(p.LogMass[i]), math.Exp(q.LogMass[i])
		list[i] = outcome{rate*a + (1-rate)*b, b}
	}
	return list
}

func TestBracketHoldsTheBruteForceValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var terms []Term
		var steps [][]outcome
		for i := range rapid.IntRange(1, 3).Draw(t, "mechanisms") {
			p := smallPMF(3).Draw(t, fmt.Sprintf("p%d", i))
			q := smallPMF(3).Draw(t, fmt.Sprintf("q%d", i))
			rate := rapid.SampledFrom([]float64{1, 0.5, 0.03}).Draw(t, "rate")
			count := rapid.IntRange(1, 3).Draw(t, "count")
			pair, err := Integers(p, q)
			if err != nil {
				t.Fatal(err)
			}
			if pair, err = Poisson(pair, rate); err != nil {
				t.Fatal(err)
			}
			terms = append(terms, Term{pair, count})
			for range count {
				steps = append(steps, outcomes(p, q, rate))
			}
		}
		eps := rapid.Float64Range(0, 2).Draw(t, "eps")
		want := bruteForce(steps, eps)
		b, err := Delta(terms, eps, Options{MaxPoints: 1 << 13})
		if err != nil {
			t.Fatal(err)
		}
		if b.Lower > want+1e-14 || b.Upper < want-1e-14 {
			t.Fatalf("bracket [%.17g, %.17g] misses %.17g", b.Lower, b.Upper, want)
		}
		if b.Upper-b.Lower > 0.05 {
			t.Fatalf("bracket [%g, %g] around %g says little", b.Lower, b.Upper, want)
		}
	})
}

// someTerms draws a composition of continuous mechanisms.
func someTerms(t *rapid.T) []Term {
	var terms []Term
	for range rapid.IntRange(1, 2).Draw(t, "mechanisms") {
		var p Pair
		var err error
		scale := rapid.Float64Range(0.6, 8).Draw(t, "scale")
		if rapid.Bool().Draw(t, "laplace") {
			p, err = Laplace(scale)
		} else {
			p, err = Gaussian(scale)
		}
		if err == nil {
			p, err = Poisson(p, rapid.SampledFrom([]float64{1, 0.2, 0.01}).Draw(t, "rate"))
		}
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, Term{p, rapid.IntRange(1, 200).Draw(t, "count")})
	}
	return terms
}

var loose = Options{Tolerance: 2e-2, MaxPoints: 1 << 14}

func mustEpsilon(t *rapid.T, terms []Term, delta float64) Bracket {
	b, err := Epsilon(terms, delta, loose)
	if err != nil {
		t.Fatal(err)
	}
	if !(b.Lower <= b.Upper) || b.Lower < 0 || math.IsInf(b.Upper, 1) {
		t.Fatalf("no bracket: %v", b)
	}
	return b
}

// TestEpsilonIsMonotone makes claims about the true value, which only brackets that do not overlap as claimed refute.
func TestEpsilonIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := someTerms(t)
		d := math.Pow(10, rapid.Float64Range(-12, -2).Draw(t, "log delta"))
		base := mustEpsilon(t, terms, d)
		if b := mustEpsilon(t, terms, 3*d); b.Lower > base.Upper {
			t.Fatalf("epsilon %v rose to %v with a larger delta", base, b)
		}
		more := append(slices.Clone(terms), someTerms(t)...)
		larger := mustEpsilon(t, more, d)
		if larger.Upper < base.Lower {
			t.Fatalf("epsilon %v fell to %v with more mechanisms", base, larger)
		}
		slices.Reverse(more)
		if b := mustEpsilon(t, more, d); math.Abs(b.Upper-larger.Upper) > loose.Tolerance*b.Upper {
			t.Fatalf("epsilon %v became %v in another order", larger, b)
		}
		for i := range terms {
			var err error
			if terms[i].Pair, err = Poisson(terms[i].Pair, 0.3); err != nil {
				t.Fatal(err)
			}
		}
		if b := mustEpsilon(t, terms, d); b.Lower > base.Upper {
			t.Fatalf("epsilon %v rose to %v under sampling", base, b)
		}
	})
}

func TestMoreNoiseNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.Float64Range(0.5, 4).Draw(t, "z")
		rate := rapid.Float64Range(0.005, 1).Draw(t, "rate")
		count := rapid.IntRange(1, 1000).Draw(t, "count")
		a := mustEpsilon(t, []Term{{gaussianPair(t, z, rate), count}}, 1e-6)
		b := mustEpsilon(t, []Term{{gaussianPair(t, 1.05*z, rate), count}}, 1e-6)
		if b.Lower > a.Upper {
			t.Fatalf("epsilon %v rose to %v with more noise", a, b)
		}
	})
}

// TestEveryInputGivesABracket draws far outside of what makes sense: no panic, no NaN, no endless refinement.
func TestEveryInputGivesABracket(t *testing.T) {
	o := Options{MaxPoints: 1 << 11}
	rapid.Check(t, func(t *rapid.T) {
		far := func(low, high float64, name string) float64 {
			return math.Pow(10, rapid.Float64Range(low, high).Draw(t, name))
		}
		var terms []Term
		for range rapid.IntRange(1, 3).Draw(t, "mechanisms") {
			var p Pair
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				p, err = Gaussian(far(-9, 9, "noise"))
			case 1:
				p, err = Laplace(far(-9, 9, "scale"))
			case 2:
				p, err = DiscreteGaussian(far(-9, 3, "sigma2"), int64(rapid.IntRange(1, 100).Draw(t, "shift")))
			case 3:
				p, err = Integers(smallPMF(3).Draw(t, "p"), smallPMF(3).Draw(t, "q"))
			}
			if err != nil {
				t.Fatal(err)
			}
			if p, err = Poisson(p, min(1, far(-12, 0.5, "rate"))); err != nil {
				t.Fatal(err)
			}
			terms = append(terms, Term{p, int(far(0, 9, "count"))})
		}
		check := func(b Bracket, err error) {
			if err != nil || !(b.Lower >= 0 && b.Lower <= b.Upper) {
				t.Fatalf("bracket %v, error %v", b, err)
			}
		}
		check(Epsilon(terms, far(-300, -0.01, "delta"), o))
		check(Delta(terms, far(-6, 3, "epsilon"), o))
		check(Tradeoff(terms, rapid.Float64Range(0, 1).Draw(t, "alpha"), o))
	})
}
