package pld

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// deltaOf is delta of one grid law, summed up plainly.
func deltaOf(g gridLaw, eps float64) float64 {
	sum := g.infinite
	for k, l := range g.logMass {
		sum += math.Exp(l) * max(0, -math.Expm1(eps-g.at(g.places[k])))
	}
	return sum
}

// TestCellsBracketOneStep checks Jensen's argument where it is used: the upper law has a larger delta everywhere, the
// lower one a smaller delta, between grid points and on them.
func TestCellsBracketOneStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := rapid.Float64Range(0.05, 3).Draw(t, "mu")
		step := mu * rapid.Float64Range(0.001, 1).Draw(t, "step")
		origin := rapid.Float64Range(-1, 1).Draw(t, "origin")
		weight := importance{tilt: rapid.Float64Range(0, 5).Draw(t, "tilt"), widest: rapid.Float64Range(step, 8*step).Draw(t, "widest")}
		c, _ := cut(gaussian{mu}, [2]float64{}, grid{origin, step}, mu*mu/2-10*mu, mu*mu/2+10*mu, weight, 1<<20)
		up, down := c.pessimistic(), c.optimistic()
		for range 20 {
			eps := rapid.Float64Range(-4*mu, mu*mu/2+6*mu).Draw(t, "eps")
			want := gaussianDelta(mu, eps)
			if got := deltaOf(up, eps); got < want-1e-13 {
				t.Fatalf("upper law has delta(%g) = %g below %g", eps, got, want)
			}
			if got := deltaOf(down, eps); got > want+1e-13 {
				t.Fatalf("lower law has delta(%g) = %g above %g", eps, got, want)
			}
		}
	})
}

func TestBothEndsConvergeWithTheSquareOfTheStep(t *testing.T) {
	gap := func(step float64) float64 {
		c, _ := cut(gaussian{1}, [2]float64{}, grid{0, step}, -10, 10, importance{widest: step}, 1<<20)
		return deltaOf(c.pessimistic(), 1) - deltaOf(c.optimistic(), 1)
	}
	for _, step := range []float64{0.2, 0.05} {
		if ratio := gap(step) / gap(step/4); ratio < 12 {
			t.Errorf("a step of %g is only %.1f times worse than a quarter of it, want about 16", step, ratio)
		}
	}
}

func TestFarCellsAreWide(t *testing.T) {
	law := poisson{gaussian{1}, 0.001}
	even, _ := cut(law, [2]float64{}, grid{0, 1e-4}, -0.01, 8, importance{widest: 1e-4}, 1<<20)
	graded, _ := cut(law, [2]float64{}, grid{0, 1e-4}, -0.01, 8, importance{widest: 0.01}, 1<<20)
	if len(even.places) < 80_000 || len(graded.places) > 5_000 {
		t.Errorf("%d even places and %d graded ones", len(even.places), len(graded.places))
	}
	a, b := deltaOf(even.pessimistic(), 0.5), deltaOf(graded.pessimistic(), 0.5)
	if math.Abs(a-b) > 1e-2*a {
		t.Errorf("delta %g on even cells, %g on graded ones", a, b)
	}
	if _, ok := cut(law, [2]float64{}, grid{0, 1e-4}, -0.01, 8, importance{widest: 1e-4}, 1000); ok {
		t.Error("cut went on beyond its limit")
	}
}
