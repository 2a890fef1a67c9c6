package accountant

import (
	"fmt"
	"math"
)

// Binomial noise has no Renyi divergence, so trees that hold it are composed as (epsilon, delta) pairs: the sum, or
// advanced composition [KOV15] Kairouz, Oh, Viswanath, The composition theorem for differential privacy,
// arXiv:1311.0776; and sampling as [BBG18] Balle, Barthe, Gaboardi, Privacy amplification by subsampling,
// arXiv:1807.01647.

func closedEpsilon(a About, delta float64, _ []float64) (Bound, error) {
	if needsOther(a.Event, ByRDP) == nil {
		return Bound{}, fmt.Errorf("accountant: %s needs no closed form: use rdp or best (%w)", a.Event.kind(), ErrNotApplicable)
	}
	b := Bound{Epsilon: pairEpsilon(a.Event, delta), Accountant: string(byClosed)}
	if _, exact := a.Event.(Binomial); exact && !math.IsInf(b.Epsilon, 1) {
		b.Lower = b.Epsilon * (1 - 1e-9)
	}
	return b, nil
}

func closedDelta(a About, epsilon float64) (Bound, error) {
	if needsOther(a.Event, ByRDP) == nil {
		return Bound{}, fmt.Errorf("accountant: %s needs no closed form: use rdp or best (%w)", a.Event.kind(), ErrNotApplicable)
	}
	if e, ok := a.Event.(Binomial); ok {
		return Bound{Delta: e.delta(epsilon), Accountant: string(byClosed)}, nil
	}
	// The smallest delta whose epsilon is small enough; epsilon falls in delta.
	lo, hi := -700.0, 0.0
	if pairEpsilon(a.Event, 1-1e-12) > epsilon {
		return Bound{Delta: 1, Accountant: string(byClosed)}, nil
	}
	for hi-lo > 1e-9 {
		if mid := (lo + hi) / 2; pairEpsilon(a.Event, math.Exp(mid)) > epsilon {
			lo = mid
		} else {
			hi = mid
		}
	}
	return Bound{Delta: min(1, math.Exp(hi)*(1+slack)), Accountant: string(byClosed)}, nil
}

// pairEpsilon is an epsilon that holds with delta for a tree with binomial leaves.
func pairEpsilon(e Event, delta float64) float64 {
	if needsOther(e, ByRDP) == nil {
		if mu, ok := asGaussian(e); ok {
			return GaussianEpsilon(mu, delta)
		}
		epsilon, _ := smallestEpsilon(standardOrders, e.rdp(standardOrders), delta)
		return epsilon
	}
	switch e := e.(type) {
	case Binomial:
		return epsilonOf(delta, e.deltas())
	case CPSGD:
		return e.epsilon(delta)
	case Poisson:
		return sampledPair(e.Rate, e.Event, delta)
	case WithoutReplacement:
		return sampledPair(e.Rate, e.Event, delta)
	case Repeat:
		return repeatedPair(e, delta)
	case Compose:
		return composedPairs(e, delta)
	}
	return math.Inf(1)
}

// sampledPair: an (epsilon, delta) event sampled at rate q is (log(1 + q(e^epsilon - 1)), q delta) [BBG18].
func sampledPair(q float64, inner Event, delta float64) float64 {
	if q == 0 || delta/q >= 1 {
		return 0 // outputs differ with probability q at most
	}
	return up(amplified(q, pairEpsilon(inner, delta/q)))
}

// repeatedPair takes the smaller of plain and advanced composition [KOV15, Theorem 3.4].
func repeatedPair(e Repeat, delta float64) float64 {
	if e.Count == 0 {
		return 0
	}
	k := float64(e.Count)
	plain := up(k * pairEpsilon(e.Event, delta/k))
	if e.Count == 1 {
		return plain
	}
	each := pairEpsilon(e.Event, delta/(2*k))
	if math.IsInf(each, 1) {
		return plain
	}
	advanced := k*each*math.Tanh(each/2) + each*math.Sqrt(2*k*math.Log(2/delta))
	return min(plain, up(advanced))
}

// composedPairs adds up: the events with a Renyi divergence together as one, each other by itself, delta in equal shares.
func composedPairs(e Compose, delta float64) float64 {
	var smooth Compose
	var parts []Event
	for _, part := range e {
		if needsOther(part, ByRDP) == nil {
			smooth = append(smooth, part)
		} else {
			parts = append(parts, part)
		}
	}
	if len(smooth) > 0 {
		parts = append(parts, smooth)
	}
	sum := 0.0
	for _, part := range parts {
		sum += pairEpsilon(part, delta/float64(len(parts)))
	}
	return up(sum)
}
