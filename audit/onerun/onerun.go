// Package onerun bounds epsilon from below by the guesses of one attack on one run.
//
// Each of many canaries is put into the run, or left out, by the toss of its own fair coin, which nobody else sees. An attack looks
// at what the run released and guesses some of the coins. If the run is private, few more than half of the guesses can be
// correct, although all canaries share one run. So one run is audited by many canaries instead of many runs by one.
//
// The promise: for all runs, attacks and canaries whose coins are independent and fair and unknown to the attack, the bound exceeds
// the true epsilon with a probability of at most one minus the confidence. The number of guesses, as the rule that chooses which
// canaries are guessed, may look at the releases, but not at the coins.
//
// [SNJ23] Steinke, Nasr, Jagielski, Privacy auditing with one (1) training run, arXiv:2305.08846
//
// [MMC24] Mahloujifar, Melis, Chaudhuri, Auditing f-differential privacy in one run, arXiv:2410.22235
package onerun

import (
	"fmt"
	"math"

	"hubbub/audit"
)

// Guesses are what an attack did: of the coins of so many canaries it guessed some, and of these so many correctly.
type Guesses struct {
	Canaries int `json:"canaries"`
	Guessed  int `json:"guesses"`
	Correct  int `json:"correct"`
}

// Bound is what the guesses show.
type Bound struct {
	Guesses
	Epsilon    float64 `json:"epsilon"` // no smaller one holds at Delta, with this confidence [SNJ23]
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"`
	// EpsilonFDP is the same if the run has the trade-off function of a Gaussian mechanism, with MuFDP the least mu that explains
	// the guesses [MMC24].
	EpsilonFDP float64 `json:"epsilon_fdp"`
	MuFDP      float64 `json:"mu_fdp"`
	Assumes    string  `json:"epsilon_fdp_assumes"`
}

// MaxCanaries keeps the work of a bound within a second or so.
const MaxCanaries = 200_000

func (g Guesses) check() error {
	switch {
	case g.Canaries < 1 || g.Canaries > MaxCanaries:
		return fmt.Errorf("onerun: %d canaries outside [1, %d]", g.Canaries, MaxCanaries)
	case g.Guessed < 1 || g.Guessed > g.Canaries:
		return fmt.Errorf("onerun: %d guesses on %d canaries: at least one, and not more than there are", g.Guessed, g.Canaries)
	case g.Correct < 0 || g.Correct > g.Guessed:
		return fmt.Errorf("onerun: %d correct of %d guesses: between none and all of them", g.Correct, g.Guessed)
	}
	return nil
}

// Bound gives both bounds. Each holds with the confidence by itself.
func (g Guesses) Bound(delta, confidence float64) (Bound, error) {
	if err := g.check(); err != nil {
		return Bound{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Bound{}, fmt.Errorf("onerun: delta %g outside [0, 1)", delta)
	}
	if !(confidence > 0 && confidence < 1) {
		return Bound{}, fmt.Errorf("onerun: confidence %g outside (0, 1): use 0.95, say", confidence)
	}
	b := Bound{Guesses: g, Delta: delta, Confidence: confidence, Assumes: audit.GaussianAssumption}
	b.Epsilon = largest(20, func(epsilon float64) bool { return g.pValue(epsilon, delta) < 1-confidence })
	b.MuFDP = largest(20, func(mu float64) bool { return !g.explained(Gaussian(mu), 1-confidence) })
	b.EpsilonFDP = audit.GaussianEpsilon(b.MuFDP, delta)
	return b, nil
}

// largest is where a condition that holds from 0 on ceases to hold, rounded down; 0 if it never holds.
func largest(most float64, holds func(float64) bool) float64 {
	lo, hi := 0.0, most
	for hi-lo > 1e-12 {
		if mid := (lo + hi) / 2; holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// PValue bounds the probability of so many correct guesses, or more, if the run is (epsilon, delta)-private [SNJ23, Theorem 5.2].
func (g Guesses) PValue(epsilon, delta float64) (float64, error) {
	if err := g.check(); err != nil {
		return 0, err
	}
	if !(epsilon >= 0) || !(delta >= 0 && delta < 1) {
		return 0, fmt.Errorf("onerun: epsilon %g and delta %g must be at least 0, delta below 1", epsilon, delta)
	}
	return min(1, g.pValue(epsilon, delta)), nil
}

// pValue is beta + 2·m·delta·alpha with beta = P[Bin(r,q) >= v], alpha = max over i of P[v-i <= Bin(r,q) < v]/i, q = e^epsilon/(1+e^epsilon).
func (g Guesses) pValue(epsilon, delta float64) float64 {
	logQ, logP := -math.Log1p(math.Exp(-epsilon)), -math.Log1p(math.Exp(epsilon)) // of q and 1-q
	r, v := g.Guessed, g.Correct
	mass := func(k int) float64 {
		return math.Exp(logChoose(r, k) + float64(k)*logQ + float64(r-k)*logP)
	}
	beta := 0.0
	for k := r; k >= v; k-- {
		beta += mass(k)
	}
	alpha, below := 0.0, 0.0
	for i := 1; i <= v; i++ {
		below += mass(v - i)
		alpha = max(alpha, below/float64(i))
	}
	return beta + 2*float64(g.Canaries)*delta*alpha
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
