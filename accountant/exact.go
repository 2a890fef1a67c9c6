package accountant

import (
	"fmt"
	"math"

	"hubbub/accountant/pld"
)

// terms lists the dominating pairs of a tree, for the accountant that composes privacy loss distributions. It refuses whatever
// has no pair that is proved to be the worst one.
func terms(e Event) ([]pld.Term, error) {
	switch e := e.(type) {
	case Repeat:
		inner, err := terms(e.Event)
		if err != nil || e.Count == 0 {
			return nil, err
		}
		for i := range inner {
			if inner[i].Count > math.MaxInt/e.Count {
				return nil, notExact(e, "it runs more often than can be counted")
			}
			inner[i].Count *= e.Count
		}
		return inner, signsAgree(e, inner)
	case Compose:
		var all []pld.Term
		for _, part := range e {
			inner, err := terms(part)
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
		}
		return all, signsAgree(e, all)
	case Poisson:
		return sampledTerm(e, e.Rate, e.Event, pld.Poisson)
	case WithoutReplacement:
		return sampledTerm(e, e.Rate, e.Event, pld.WithoutReplacement)
	}
	pair, err := pairOf(e)
	if err != nil {
		return nil, err
	}
	return []pld.Term{{Pair: pair, Count: 1}}, nil
}

// sampledTerm samples a single event. The sampling of a composition has no pair: all its parts share the coin.
func sampledTerm(outer Event, rate float64, inner Event, sample func(pld.Pair, float64) (pld.Pair, error)) ([]pld.Term, error) {
	switch {
	case rate == 0:
		return nil, nil
	case rate == 1:
		return terms(inner)
	}
	if p, twice := inner.(Poisson); twice { // sampled twice is sampled once, less often
		if _, ok := outer.(Poisson); ok {
			return terms(Poisson{Rate: min(1, rate*p.Rate*(1+slack)), Event: p.Event})
		}
	}
	var pair pld.Pair
	var err error
	mu, gaussian := asGaussian(inner)
	switch {
	case gaussian && mu == 0:
		return nil, nil
	case rate < leastRate:
		return nil, notExact(outer, fmt.Sprintf("a rate of %g is below %g", rate, leastRate))
	case gaussian:
		pair, err = pairOf(GDP{Mu: mu})
	default:
		pair, err = pairOf(inner)
	}
	if err == nil {
		pair, err = sample(pair, rate)
	}
	if err != nil {
		return nil, notExact(outer, err.Error())
	}
	return []pld.Term{{Pair: pair, Count: 1}}, nil
}

// Outside of these ranges a grid of losses is hopeless, and the other accountants lose nothing that anyone would miss.
const (
	leastNoise, mostNoise = 1e-3, 1e6 // noise over sensitivity
	leastRate             = 1e-9
	leastDelta, mostDelta = 1e-60, 0.9
)

// pairOf is the pair of a single event.
func pairOf(e Event) (pair pld.Pair, err error) {
	noise := 1.0
	switch e := e.(type) {
	case Gaussian:
		noise = e.NoiseMultiplier
	case GDP:
		noise = 1 / e.Mu
	case Laplace:
		noise = e.Scale
	case DiscreteGaussian:
		noise = math.Sqrt(e.Sigma2)
	case Binomial:
		noise = math.Sqrt(float64(e.Trials)*e.P*(1-e.P)) / float64(e.Shift)
	}
	if !(noise >= leastNoise && noise <= mostNoise) {
		return pair, notExact(e, fmt.Sprintf("noise of %g times the sensitivity is outside %g to %g", noise, leastNoise, mostNoise))
	}
	switch e := e.(type) {
	case Gaussian, GDP:
		pair, err = pld.Gaussian(noise)
	case Laplace:
		if e.Dim > 1 {
			return pair, notExact(e, "that one coordinate which takes all of the L1 norm is the worst case is proved for rdp only")
		}
		pair, err = pld.Laplace(noise)
	case DiscreteGaussian:
		if e.L2*e.L2 >= 2 {
			return pair, notExact(e, "which of the vectors within l2 is the worst is not proved; below an l2 of 1.41 there is only one")
		}
		pair, err = pld.DiscreteGaussian(e.Sigma2, 1)
	case Binomial:
		mass, first := e.law()
		logs := make([]float64, len(mass))
		for i, m := range mass {
			logs[i] = math.Log(m)
		}
		pair, err = pld.Shifted(pld.PMF{First: int64(first), LogMass: logs}, int64(e.Shift))
	case Skellam, RoundedSkellam, SMM, DiscreteGaussianSum:
		return pair, notExact(e, "which of the vectors within its norm is the worst is not proved")
	default:
		return pair, notExact(e, "it has no pair of distributions that is proved to be the worst")
	}
	if err != nil {
		return pair, notExact(e, err.Error())
	}
	return pair, nil
}

// signsAgree refuses to compose noise that is not symmetric. A unit may move one result up and the next one down, and for such
// noise the two differ; the accountant composes all of one direction.
func signsAgree(outer Event, list []pld.Term) error {
	total := 0
	for _, t := range list {
		total += t.Count
	}
	if total > 1 && lopsided(outer) {
		return notExact(outer, "binomial noise with p other than 0.5 is not symmetric, and a unit may move one result up and the next down")
	}
	return nil
}

func lopsided(e Event) bool {
	switch e := e.(type) {
	case Binomial:
		return e.P != 0.5
	case Poisson:
		return lopsided(e.Event)
	case WithoutReplacement:
		return lopsided(e.Event)
	case Repeat:
		return lopsided(e.Event)
	case Compose:
		for _, part := range e {
			if lopsided(part) {
				return true
			}
		}
	}
	return false
}

func notExact(e Event, why string) error {
	return fmt.Errorf("accountant: pld: %s: %s: use rdp or best (%w)", e.kind(), why, ErrNotApplicable)
}

// unsampled leaves out the sampling of compositions, which has no pair. A mixture with the other neighbour's output is never
// farther from it, so what the rest costs is still a bound, only no longer the truth.
func unsampled(e Event) Event {
	switch e := e.(type) {
	case Repeat:
		return Repeat{e.Count, unsampled(e.Event)}
	case Compose:
		all := make(Compose, len(e))
		for i, part := range e {
			all[i] = unsampled(part)
		}
		return all
	case Poisson:
		if _, err := terms(e); err != nil {
			return unsampled(e.Event)
		}
	case WithoutReplacement:
		if _, err := terms(e); err != nil {
			return unsampled(e.Event)
		}
	}
	return e
}

func unsampledEpsilon(a About, delta float64, orders []float64) (Bound, error) {
	if _, err := terms(a.Event); err == nil {
		return Bound{}, fmt.Errorf("accountant: %s needs no detour (%w)", a.Event.kind(), ErrNotApplicable)
	}
	a.Event = unsampled(a.Event)
	b, err := pldEpsilon(a, delta, orders)
	b.Lower, b.Notes = 0, []string{unsampledNote}
	return b, err
}

func unsampledDelta(a About, epsilon float64) (Bound, error) {
	if _, err := terms(a.Event); err == nil {
		return Bound{}, fmt.Errorf("accountant: %s needs no detour (%w)", a.Event.kind(), ErrNotApplicable)
	}
	a.Event = unsampled(a.Event)
	b, err := pldDelta(a, epsilon)
	b.Lower, b.Notes = 0, []string{unsampledNote}
	return b, err
}

const unsampledNote = "the sampling of a composition was left out of account"

func pldEpsilon(a About, delta float64, _ []float64) (Bound, error) {
	if !(delta >= leastDelta && delta <= mostDelta) {
		return Bound{}, notExact(a.Event, fmt.Sprintf("a delta of %g is outside %g to %g", delta, leastDelta, mostDelta))
	}
	list, err := terms(a.Event)
	if err != nil {
		return Bound{}, err
	}
	if len(list) == 0 {
		return Bound{Accountant: string(ByPLD)}, nil
	}
	b, err := pld.Epsilon(list, delta, pld.Options{})
	if err != nil {
		return Bound{}, notExact(a.Event, err.Error())
	}
	return Bound{Epsilon: up(b.Upper), Lower: b.Lower, Accountant: string(ByPLD)}, nil
}

func pldDelta(a About, epsilon float64) (Bound, error) {
	list, err := terms(a.Event)
	if err != nil {
		return Bound{}, err
	}
	if len(list) == 0 {
		return Bound{Accountant: string(ByPLD)}, nil
	}
	b, err := pld.Delta(list, epsilon, pld.Options{})
	if err != nil {
		return Bound{}, notExact(a.Event, err.Error())
	}
	return Bound{Delta: min(1, b.Upper*(1+slack)), Lower: b.Lower, Accountant: string(ByPLD)}, nil
}
