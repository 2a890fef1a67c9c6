package pld

import (
	"math"
	"strings"
	"testing"
)

func TestTradeoffOfGaussianCompositionsIsTheClosedForm(t *testing.T) {
	// G_mu(alpha): beta = survival(mu - x) where alpha = survival(x).
	for _, mu := range []float64{0.3, 1, 3} {
		for _, x := range []float64{-2, -1, 0, 1, 2, 4} {
			alpha, _ := normalTails(x)
			want, _ := normalTails(mu - x)
			for _, count := range []int{1, 50} {
				p := gaussianPair(t, math.Sqrt(float64(count))/mu, 1)
				b, err := Tradeoff([]Term{{p, count}}, alpha, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if b.Lower > want+1e-12 || b.Upper < want-1e-12 || b.Upper-b.Lower > 3e-4 {
					t.Errorf("mu %g, %d steps, alpha %g: beta in %v, want %g", mu, count, alpha, b, want)
				}
			}
		}
	}
}

func TestTradeoffTakesTheDirectionThatIsEasierToTell(t *testing.T) {
	// One subsampled step: remove is P = (1-q)N(0)+qN(1) against Q = N(0); both directions by their likelihood ratio tests.
	const q = 0.3
	p := gaussianPair(t, 0.5, q)
	for _, alpha := range []float64{0.01, 0.1, 0.5, 0.9} {
		best := 1.0
		for x := -20.0; x < 20; x += 1e-3 {
			qAbove, qBelow := normalTails(x)
			nAbove, nBelow := normalTails(x - 2)
			pAbove, pBelow := (1-q)*qAbove+q*nAbove, (1-q)*qBelow+q*nBelow
			if qAbove <= alpha { // type I under Q, reject for large x
				best = min(best, 1-pAbove)
			}
			if pBelow <= alpha { // type I under P, reject for small x
				best = min(best, 1-qBelow)
			}
		}
		b, err := Tradeoff([]Term{{p, 1}}, alpha, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b.Lower > best+1e-12 || b.Upper < best-2e-3 { // the scan over x is coarse, and only from above
			t.Errorf("alpha %g: beta in %v, a test reaches %g", alpha, b, best)
		}
	}
}

func TestTradeoffAtTheEnds(t *testing.T) {
	terms := []Term{{gaussianPair(t, 1, 1), 1}}
	if b, err := Tradeoff(terms, 0, Options{}); err != nil || b.Lower < 0.999 {
		t.Errorf("beta at alpha 0 is %v (%v), want 1", b, err)
	}
	if b, err := Tradeoff(terms, 1, Options{}); err != nil || b.Upper > 1e-3 {
		t.Errorf("beta at alpha 1 is %v (%v), want 0", b, err)
	}
	for _, alpha := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Tradeoff(terms, alpha, Options{}); err == nil || !strings.Contains(err.Error(), "type I error") {
			t.Errorf("alpha %g: error %v", alpha, err)
		}
	}
}

func TestTradeoffOfAMechanismThatTellsEverything(t *testing.T) {
	half := []float64{-math.Ln2, -math.Ln2}
	p, err := Integers(PMF{0, half}, PMF{2, half})
	p = must(t, p, err)
	if b, err := Tradeoff([]Term{{p, 2}}, 0.05, Options{}); err != nil || b.Lower != 0 {
		t.Errorf("beta in %v (%v), want 0", b, err)
	}
}
