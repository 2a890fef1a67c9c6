package onerun

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// likeliest is the largest probability of v or more correct guesses that the constraints between R and H allow, by a linear program:
// the dumb way to what explained finds by its recursion.
func likeliest(t *testing.T, g Guesses, epsilon, delta float64) float64 {
	t.Helper()
	m, r := float64(g.Canaries), g.Guessed
	// Unknown: p_0 ... p_r, and a slack for each of r inequalities R_(i+1) - e^epsilon H_i <= delta.
	a := mat.NewDense(r+1, 2*r+1, nil)
	b := make([]float64, r+1)
	c := make([]float64, 2*r+1)
	for j := 0; j <= r; j++ {
		a.Set(0, j, 1)
		if j >= g.Correct {
			c[j] = -1
		}
	}
	b[0] = 1
	for i := 0; i < r; i++ {
		for j := i; j <= r; j++ {
			x := -math.Exp(epsilon) * float64(r-j) / m
			if j > i {
				x += float64(j) / m
			}
			a.Set(1+i, j, x*m) // scaled, for the solver's sake
		}
		a.Set(1+i, r+1+i, 1)
		b[1+i] = delta * m
	}
	start := []int{0} // nothing is ever correct: all inequalities hold
	for i := range r {
		start = append(start, r+1+i)
	}
	value, _, err := lp.Simplex(c, a, b, 1e-12, start)
	if err != nil {
		t.Fatal(err)
	}
	return -value
}

func TestTheRecursionAgreesWithALinearProgram(t *testing.T) {
	for _, g := range []Guesses{{5, 5, 4}, {5, 5, 5}, {12, 8, 6}, {12, 12, 9}, {20, 10, 10}, {30, 20, 15}} {
		for _, c := range []struct{ epsilon, delta float64 }{{0.5, 1e-4}, {1, 1e-5}, {1, 1e-3}, {2, 1e-2}} {
			most := likeliest(t, g, c.epsilon, c.delta)
			f := EpsilonDelta(c.epsilon, c.delta)
			if g.explained(f, most*1.001+1e-9) {
				t.Errorf("%+v: level %g is called possible under (%g, %g), at most %g is", g, most*1.001, c.epsilon, c.delta, most)
			}
			if !g.explained(f, most*0.999-1e-9) {
				t.Errorf("%+v: level %g is ruled out under (%g, %g), %g is possible", g, most*0.999, c.epsilon, c.delta, most)
			}
		}
	}
}

// Randomized response answers each coin truthfully with probability e^epsilon/(1+e^epsilon), which is exactly epsilon-private. Of 200
// audits at 95%, 10 may exceed the truth; 21 or more do so by chance with probability 8e-4 (binomial tail).
func TestTheBoundSeldomExceedsTheTruth(t *testing.T) {
	const repetitions, allowed = 200, 20
	for _, c := range []struct {
		seed    uint64
		epsilon float64
	}{{1, 0.5}, {2, 2}} {
		random := rand.New(rand.NewPCG(c.seed, 0))
		exceeded := 0
		for range repetitions {
			g := Guesses{Canaries: 300, Guessed: 300}
			for range g.Guessed {
				if random.Float64() < 1/(1+math.Exp(-c.epsilon)) {
					g.Correct++
				}
			}
			b, err := g.Bound(0, .95)
			if err != nil {
				t.Fatal(err)
			}
			if b.Epsilon > c.epsilon {
				exceeded++
			}
		}
		if exceeded > allowed {
			t.Errorf("seed %d: %d of %d bounds exceed epsilon %g, more than %d", c.seed, exceeded, repetitions, c.epsilon, allowed)
		}
	}
}

// Normal noise on every canary, 0 or mu apart: the surest fifth are guessed. False alarms as above.
func TestTheGaussianBoundSeldomExceedsTheTruthAndComesClose(t *testing.T) {
	const repetitions, allowed, mu = 200, 20, 1.0
	random := rand.New(rand.NewPCG(3, 0))
	exceeded, sum := 0, 0.0
	for range repetitions {
		type canary struct {
			score float64
			in    bool
		}
		canaries := make([]canary, 1000)
		for i := range canaries {
			in := random.IntN(2) == 1
			score := random.NormFloat64()
			if in {
				score += mu
			}
			canaries[i] = canary{score, in}
		}
		slices.SortFunc(canaries, func(a, b canary) int { return int(math.Copysign(1, a.score-b.score)) })
		g := Guesses{Canaries: 1000, Guessed: 200}
		for i := range 100 {
			if !canaries[i].in {
				g.Correct++
			}
			if canaries[len(canaries)-1-i].in {
				g.Correct++
			}
		}
		b, err := g.Bound(1e-5, .95)
		if err != nil {
			t.Fatal(err)
		}
		if b.MuFDP > mu {
			exceeded++
		}
		sum += b.MuFDP
	}
	if exceeded > allowed {
		t.Errorf("%d of %d bounds exceed mu %g, more than %d", exceeded, repetitions, mu, allowed)
	}
	if mean := sum / repetitions; mean < 0.6*mu {
		t.Errorf("the mean bound is mu %.3f: far from the truth, %g", mean, mu)
	}
}

func TestMoreCorrectGuessesNeverShowLess(t *testing.T) {
	last := Bound{}
	for correct := 0; correct <= 60; correct++ {
		b, err := Guesses{80, 60, correct}.Bound(1e-5, .95)
		if err != nil {
			t.Fatal(err)
		}
		if b.Epsilon < last.Epsilon || b.MuFDP < last.MuFDP {
			t.Errorf("%d correct show (%g, %g), fewer showed (%g, %g)", correct, b.Epsilon, b.MuFDP, last.Epsilon, last.MuFDP)
		}
		last = b
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for _, c := range []struct {
		name              string
		guesses           Guesses
		delta, confidence float64
		want              string
	}{
		{"no canary", Guesses{0, 0, 0}, 1e-5, .95, "0 canaries"},
		{"too many canaries", Guesses{MaxCanaries + 1, 1, 1}, 1e-5, .95, "canaries outside"},
		{"no guess", Guesses{10, 0, 0}, 1e-5, .95, "0 guesses"},
		{"more guesses than canaries", Guesses{10, 11, 0}, 1e-5, .95, "11 guesses on 10 canaries"},
		{"more correct than guessed", Guesses{10, 5, 6}, 1e-5, .95, "6 correct of 5 guesses"},
		{"correct below zero", Guesses{10, 5, -1}, 1e-5, .95, "-1 correct"},
		{"delta one", Guesses{10, 5, 5}, 1, .95, "delta 1 outside"},
		{"delta NaN", Guesses{10, 5, 5}, math.NaN(), .95, "delta NaN"},
		{"confidence one", Guesses{10, 5, 5}, 1e-5, 1, "confidence 1 outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.guesses.Bound(c.delta, c.confidence); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}
