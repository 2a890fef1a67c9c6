// Package graph decides who masks with whom: with everybody up to 256 clients, with k others above.
//
// Up to [CompleteUpTo] clients every pair shares a mask, and every client holds a share of every secret, one of its own among
// them. Above, the clients stand in a ring in random order and each is joined to the k/2 next on either side (a Harary graph
// under a random permutation); its secrets are shared among these k. Degree k is the smallest for which there is a threshold t such
// that, whichever clients collude and whichever drop out, as long as both are chosen without knowledge of the graph,
//
//   - except with probability 2^-Security: no honest client has t or more colluders among its holders, and the honest
//     survivors hang together, so that nothing less than the sum of all of them can be unmasked;
//   - except with probability 2^-Correctness: every client has t holders who stay to the end, so that the sum can be
//     unmasked at all.
//
// Both are computed from hypergeometric tails and added up over the clients, not from asymptotic bounds.
//
// The graph's seed must be out of the hands of those it protects from: somebody who may try 2^g seeds and take the
// best gains g bits, so ask for a Security of 40 + g.
//
// [BIK17] Bonawitz et al., Practical Secure Aggregation for Privacy-Preserving Machine Learning, CCS 2017, eprint 2017/281
// [BBG20] Bell, Bonawitz, Gascón, Lepoint, Raykova, Secure Single-Server Aggregation with (Poly)Logarithmic Overhead,
// CCS 2020, eprint 2020/704
package graph

import (
	"errors"
	"fmt"
	"math"
)

const (
	CompleteUpTo = 256     // clients with a complete graph
	MaxClients   = 1 << 20 // above, the rounding of the tails is not covered

	maxDegree = 1 << 14 // shares of one secret; see secagg/shamir
)

// ErrImpossible is wrapped by every refusal of [New]: no graph does what was asked for.
var ErrImpossible = errors.New("graph: impossible setting")

// Setting is what a graph must withstand. Zero fields take the stated default.
type Setting struct {
	Clients   int // n, the cohort; at least 3
	Colluders int // c, clients that work with the server at most
	Dropouts  int // d, clients that vanish at most, at whatever step

	MaliciousServer bool    // it may lie and not only look; needs a complete graph
	Security        float64 // bits; default 40
	Correctness     float64 // bits; default 40
}

// AtMost is the number of clients that a fraction of the cohort allows: 0.1 of 55 is 5.
func AtMost(fraction float64, clients int) int {
	return int(math.Floor(fraction*float64(clients) + 1e-9))
}

// Plan is the answer: who is joined to how many, and how many of them restore a secret.
type Plan struct {
	Setting
	Complete  bool
	Degree    int // neighbours of each client
	Shares    int // of each secret: all clients if complete, else the neighbours
	Threshold int // t, shares that restore a secret

	// Log2 of what can go wrong: minus infinity for a complete graph.
	Insecure, Incorrect float64
}

// New finds the smallest degree and threshold for a setting, or says why there are none.
func New(s Setting) (Plan, error) {
	if s.Security == 0 {
		s.Security = 40
	}
	if s.Correctness == 0 {
		s.Correctness = 40
	}
	if err := s.check(); err != nil {
		return Plan{}, err
	}
	if s.Clients <= CompleteUpTo {
		return s.complete()
	}
	return s.regular()
}

func (s Setting) check() error {
	refuse := func(format string, a ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrImpossible}, a...)...)
	}
	switch {
	case s.Clients < 3:
		return refuse("%d clients: at least 3 are needed, or a sum says what one of them sent", s.Clients)
	case s.Clients > MaxClients:
		return refuse("%d clients, over the maximum of %d", s.Clients, MaxClients)
	case s.Colluders < 0 || s.Dropouts < 0:
		return refuse("%d colluders and %d dropouts: neither can be negative", s.Colluders, s.Dropouts)
	case s.Clients-s.Colluders-s.Dropouts < 2:
		return refuse("of %d clients %d may collude and %d drop out: fewer than 2 honest ones are left to hide in each other's noise",
			s.Clients, s.Colluders, s.Dropouts)
	case !(s.Security > 0 && s.Security <= 256) || !(s.Correctness > 0 && s.Correctness <= 256):
		return refuse("security of %g and correctness of %g bits outside (0, 256]", s.Security, s.Correctness)
	}
	return nil
}

// complete chooses the smallest t that a lying server cannot get round, 2t > n + c; when too few clients would stay to reach
// it, and the server is taken to be only curious, the largest t that is reached for sure, n - d, if it is above c.
func (s Setting) complete() (Plan, error) {
	n, c, d := s.Clients, s.Colluders, s.Dropouts
	t := (n+c)/2 + 1
	if t > n-d {
		if s.MaliciousServer {
			return Plan{}, fmt.Errorf("%w: a malicious server needs 2t > n + c, so t = %d for %d clients and %d colluders, but with %d dropouts "+
				"only %d stay: allow fewer colluders or dropouts", ErrImpossible, t, n, c, d, n-d)
		}
		t = n - d
	}
	if t <= c {
		return Plan{}, fmt.Errorf("%w: %d colluders among %d clients reach the threshold of %d that the survivors of %d dropouts can reach: "+
			"allow fewer colluders or dropouts", ErrImpossible, c, n, t, d)
	}
	return Plan{
		Setting: s, Complete: true, Degree: n - 1, Shares: n, Threshold: t,
		Insecure: math.Inf(-1), Incorrect: math.Inf(-1),
	}, nil
}

// regular tries even degrees upwards. For each it takes the largest threshold that the holders who stay will reach: a lower
// one would be less secure and save nothing.
func (s Setting) regular() (Plan, error) {
	if s.MaliciousServer {
		return Plan{}, fmt.Errorf("%w: %d clients need a graph that is not complete, and for ours no proof against a malicious server is known: "+
			"take cohorts of at most %d, or claim honest-but-curious", ErrImpossible, s.Clients, CompleteUpTo)
	}
	largest := min(s.Clients-1, maxDegree)
	t := 0 // more holders never lower it
	for k := 2; k <= largest; k += 2 {
		for t < k && s.incorrect(k, t+1) <= -s.Correctness {
			t++
		}
		if t < 2 || t*(s.Clients-1) <= k*s.Colluders { // one share must not be the secret, nor what colluders hold on average
			continue
		}
		if insecure := s.insecure(k, t); insecure <= -s.Security {
			return Plan{Setting: s, Degree: k, Shares: k, Threshold: t, Insecure: insecure, Incorrect: s.incorrect(k, t)}, nil
		}
	}
	return Plan{}, fmt.Errorf("%w: no degree up to %d keeps %d clients safe from %d colluders with %g bits and restores every mask after %d dropouts "+
		"with %g bits: allow fewer colluders or dropouts", ErrImpossible, largest, s.Clients, s.Colluders, s.Security, s.Dropouts, s.Correctness)
}

// insecure bounds log2 of the probability that the survivors fall apart or that t colluders hold shares of one honest client.
func (s Setting) insecure(k, t int) float64 {
	apart := torn(s.Clients, s.Colluders+s.Dropouts, k/2)
	reached := hypergeometric{s.Clients - 1, s.Colluders, k}.atLeast(t)
	return min(logAdd(apart, math.Log2(float64(s.Clients-s.Colluders))+reached), 0)
}

// incorrect bounds log2 of the probability that fewer than t holders of some client's secrets stay to the end. A client that
// stays itself has more dropouts among its holders than one that leaves, so it is the one to count.
func (s Setting) incorrect(k, t int) float64 {
	missed := hypergeometric{s.Clients - 1, s.Clients - 1 - s.Dropouts, k}.atMost(t - 1)
	return min(math.Log2(float64(s.Clients))+missed, 0)
}
