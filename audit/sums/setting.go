package sums

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant"
	"hubbub/accountant/pld"
)

// Updates names the law of each entry of a client's update, independent of all others.
type Updates string

// The two laws of the paper's Figure 1.
const (
	Gamma   Updates = "gamma"   // exponential with mean 1; the sum is a Gamma variable. The target's entries lie in [0, 4].
	Uniform Updates = "uniform" // uniform in [-1/2, 1/2]; the sum is an Irwin-Hall variable. So do the target's entries.
)

// reach is how far the target may move one entry.
var reach = map[Updates]float64{Gamma: 4, Uniform: 1}

// variance is that of one entry of one client.
var variance = map[Updates]float64{Gamma: 1, Uniform: 1. / 12}

const (
	maxClients = 5000
	maxDim     = 1_000_000
)

// Setting is a sum over clients in which the target's update is hidden by those of the others.
type Setting struct {
	Updates Updates
	Clients int // the others, n; the target is not counted
	Dim     int // entries of an update, d

	terms [2][]pld.Term // for a lower and an upper end of the truth
}

// New checks the setting and prepares its law.
func New(updates Updates, clients, dim int) (*Setting, error) {
	s := &Setting{Updates: updates, Clients: clients, Dim: dim}
	if clients < 1 || clients > maxClients {
		return nil, fmt.Errorf("sums: %d other clients outside 1 to %d", clients, maxClients)
	}
	if dim < 1 || dim > maxDim {
		return nil, fmt.Errorf("sums: %d entries outside 1 to %d", dim, maxDim)
	}
	var lower, upper pld.Pair
	var err error
	switch updates {
	case Gamma:
		lower, err = gammaPair(clients, false)
		upper = lower
	case Uniform:
		lower, upper, err = irwinHallPairs(clients)
	default:
		return nil, fmt.Errorf("sums: updates %q are neither %q nor %q", updates, Gamma, Uniform)
	}
	if err != nil {
		return nil, err
	}
	s.terms = [2][]pld.Term{{{Pair: lower, Count: dim}}, {{Pair: upper, Count: dim}}}
	return s, nil
}

// Delta brackets the delta of the sum at epsilon: for the two updates whose entries all lie at opposite ends of their range,
// in the direction that is easier to tell. For symmetric noise that pair is the worst of all (the paper's Corollary 1). Gamma noise
// is not symmetric, and that no pair of mixed signs is worse was not proved, so that there it is a lower bound on the worst.
func (s *Setting) Delta(epsilon float64) (pld.Bracket, error) {
	o := pld.Options{Tolerance: 1e-5}
	low, err := pld.Delta(s.terms[0], epsilon, o)
	if err != nil || s.Updates == Gamma {
		return low, err
	}
	high, err := pld.Delta(s.terms[1], epsilon, o)
	return pld.Bracket{Lower: low.Lower, Upper: high.Upper}, err
}

// Together is [Setting.Delta] of as many pieces of an update, each of this setting's size, when all of them are seen: their privacy
// losses add up, so that cutting an update into pieces hides nothing.
func (s *Setting) Together(pieces int, epsilon float64) (pld.Bracket, error) {
	if pieces < 1 || pieces > maxDim/s.Dim {
		return pld.Bracket{}, fmt.Errorf("sums: %d pieces of %d entries: must be at least 1, and %d entries in all at the most", pieces, s.Dim, maxDim)
	}
	all := *s
	for i := range all.terms {
		all.terms[i] = nil
		for range pieces {
			all.terms[i] = append(all.terms[i], s.terms[i]...)
		}
	}
	return all.Delta(epsilon)
}

// Distance is the Delta of the paper's Theorem 2 for Gaussian noise of the same covariance: how many standard deviations the
// two farthest updates are apart.
func (s *Setting) Distance() float64 {
	return reach[s.Updates] * math.Sqrt(float64(s.Dim)/(float64(s.Clients)*variance[s.Updates]))
}

// GaussianDelta is delta at epsilon for that Gaussian noise (Theorem 2).
func (s *Setting) GaussianDelta(epsilon float64) float64 {
	return accountant.GaussianDelta(s.Distance(), epsilon)
}

// Certain is the probability that the sum gives the target away for certain, whatever epsilon: it lies where the other update
// cannot lead.
func (s *Setting) Certain() float64 {
	n := float64(s.Clients)
	perEntry := 0.0
	switch s.Updates {
	case Gamma:
		perEntry = distuv.Gamma{Alpha: n, Beta: 1}.CDF(reach[Gamma])
	case Uniform:
		logFactorial, _ := math.Lgamma(n + 1)
		perEntry = math.Exp(-logFactorial) // of a sum within one of its lowest value
	}
	return -math.Expm1(float64(s.Dim) * math.Log1p(-perEntry))
}

// gammaFrom is a Gamma distribution that begins at a point.
type gammaFrom struct {
	distuv.Gamma
	start float64
}

func (g gammaFrom) CDF(x float64) float64 {
	switch {
	case x <= g.start:
		return 0
	case math.IsInf(x, 1):
		return 1
	}
	return g.Gamma.CDF(x - g.start)
}

func (g gammaFrom) Survival(x float64) float64 {
	switch {
	case x <= g.start:
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return g.Gamma.Survival(x - g.start)
}

// gammaPair compares the sum with the sum moved by 4: L = (n-1)·ln(x/(x-4)) - 4, infinite for x <= 4. Turned, it compares the moved sum
// with the sum, and the loss has the other sign.
func gammaPair(clients int, turned bool) (pld.Pair, error) {
	if clients < 2 {
		return pld.Pair{}, fmt.Errorf("sums: %d client with exponential updates: its loss does not depend on the sum, give at least 2", clients)
	}
	n, move := float64(clients), reach[Gamma]
	gamma := distuv.Gamma{Alpha: n, Beta: 1}
	pair := pld.Continuous{
		P: gammaFrom{gamma, 0}, Q: gammaFrom{gamma, move}, Falling: true,
		Threshold: func(loss float64) float64 {
			if loss <= -move {
				return math.Inf(1)
			}
			return move / -math.Expm1(-(loss+move)/(n-1))
		},
	}
	if turned {
		straight := pair.Threshold
		pair = pld.Continuous{P: pair.Q, Q: pair.P, Threshold: func(loss float64) float64 { return straight(-loss) }}
	}
	return pair.Pair()
}

// Mixed brackets delta at epsilon for two updates that lie at opposite ends in every entry, but the other way round in so many of them. For
// symmetric noise that makes no difference; for Gamma noise nothing says which pattern is the worst.
func (s *Setting) Mixed(turned int, epsilon float64) (pld.Bracket, error) {
	if turned < 0 || turned > s.Dim {
		return pld.Bracket{}, fmt.Errorf("sums: %d of %d entries turned: must be between 0 and all", turned, s.Dim)
	}
	if turned == 0 || turned == s.Dim || s.Updates != Gamma {
		return s.Delta(epsilon)
	}
	pair, err := gammaPair(s.Clients, true)
	if err != nil {
		return pld.Bracket{}, err
	}
	straight := s.terms[0][0]
	straight.Count = s.Dim - turned
	return pld.Delta([]pld.Term{straight, {Pair: pair, Count: turned}}, epsilon, pld.Options{Tolerance: 1e-5})
}
