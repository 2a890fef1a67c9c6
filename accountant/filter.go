package accountant

import (
	"errors"
	"fmt"
	"math"
)

// ErrBudgetSpent marks an event that was refused because it would exceed the budget.
var ErrBudgetSpent = errors.New("privacy budget spent")

// Budget limits what a filter lets through: (Epsilon, Delta) by a Renyi order that is fixed beforehand, or Mu.
type Budget struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Order   float64 `json:"order,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
}

// Filter lets events through while all of them together keep within a budget, also when each event was chosen after
// seeing the results of those before it. That needs a cost that adds up and was fixed in advance: the divergence of one
// order [FZ21, Theorem 4.3], or mu squared for Gaussian events (Koskela, Tobaben, Honkela, arXiv:2209.15596). Choosing the
// best order afterwards would not be a filter.
//
// A Filter is a value: Spend returns the next one and leaves the old as it was.
type Filter struct {
	budget Budget
	limit  float64
	spent  float64
	about  About // adjacency and unit of what was spent; an event about something else cannot be added
}

// NewFilter starts with nothing spent.
func NewFilter(b Budget) (Filter, error) {
	if b.Mu != 0 {
		if b.Epsilon != 0 || b.Delta != 0 || b.Order != 0 {
			return Filter{}, fmt.Errorf("accountant: budget has mu %g and also epsilon, delta or order: give one or the other", b.Mu)
		}
		if !(b.Mu > 0) || math.IsInf(b.Mu, 1) {
			return Filter{}, fmt.Errorf("accountant: budget mu %g must be finite and greater than 0", b.Mu)
		}
		return Filter{budget: b, limit: b.Mu * b.Mu}, nil
	}
	switch {
	case !(b.Epsilon > 0) || math.IsInf(b.Epsilon, 1):
		return Filter{}, fmt.Errorf("accountant: budget epsilon %g must be finite and greater than 0", b.Epsilon)
	case !(b.Delta > 0 && b.Delta < 1):
		return Filter{}, fmt.Errorf("accountant: budget delta %g outside (0, 1)", b.Delta)
	case !(b.Order > 1) || math.IsInf(b.Order, 1):
		return Filter{}, fmt.Errorf("accountant: budget order %g must be finite and greater than 1: BestOrder of the planned event gives one", b.Order)
	}
	// The largest divergence whose epsilon, rounded up as always, is still within the budget.
	if epsilonAt(b.Order, 0, b.Delta) > b.Epsilon {
		return Filter{}, fmt.Errorf("accountant: order %g cannot prove epsilon %g at delta %g even for nothing: choose a higher order", b.Order, b.Epsilon, b.Delta)
	}
	lo, hi := 0.0, b.Epsilon+math.Log(1/b.Delta)+math.Log(b.Order)+2
	for range 200 {
		mid := (lo + hi) / 2
		if epsilonAt(b.Order, mid, b.Delta) <= b.Epsilon {
			lo = mid
		} else {
			hi = mid
		}
	}
	return Filter{budget: b, limit: lo}, nil
}

// BestOrder is the Renyi order that proves the smallest epsilon for a planned event: a good order to fix for a filter.
func BestOrder(planned About, delta float64) (float64, error) {
	b, err := Epsilon(planned, delta, ByRDP)
	if err != nil {
		return 0, err
	}
	if math.IsInf(b.Epsilon, 1) || math.IsInf(b.Order, 1) {
		return 0, fmt.Errorf("accountant: %s has no finite order to fix", planned.Event.kind())
	}
	return b.Order, nil
}

// Spend returns the filter after the event, or a [*SpentError] and the filter as it was when the event would exceed the
// budget. Call it before the event happens.
func (f Filter) Spend(a About) (Filter, error) {
	a, err := a.resolve()
	if err != nil {
		return f, err
	}
	if f.limit == 0 {
		return f, errors.New("accountant: filter without a budget: make it with NewFilter")
	}
	if f.about.Event != nil && (a.Adjacency != f.about.Adjacency || a.Unit != f.about.Unit) {
		return f, fmt.Errorf("accountant: event about %s of a %s cannot be added to what was spent about %s of a %s", a.Adjacency, a.Unit, f.about.Adjacency, f.about.Unit)
	}
	cost, err := f.cost(a)
	if err != nil {
		return f, err
	}
	total := math.Nextafter(f.spent+cost, math.Inf(1))
	if cost == 0 {
		total = f.spent
	}
	if !(total <= f.limit) {
		return f, &SpentError{Budget: f.budget, Limit: f.limit, Spent: f.spent, Cost: cost}
	}
	f.spent, f.about = total, a
	return f, nil
}

func (f Filter) cost(a About) (float64, error) {
	if f.budget.Mu == 0 {
		return a.Event.rdp([]float64{f.budget.Order})[0], nil
	}
	mu, ok := asGaussian(a.Event)
	if !ok {
		return 0, fmt.Errorf("accountant: a mu budget takes Gaussian events, not %s: use an epsilon budget with a fixed order", a.Event.kind())
	}
	return up(mu * mu), nil
}

// Used is the share of the budget that is spent, from 0 to 1.
func (f Filter) Used() float64 {
	if f.limit == 0 {
		return 0
	}
	return f.spent / f.limit
}

// Epsilon is what the events let through so far cost, by the filter's order or mu, at delta.
func (f Filter) Epsilon(delta float64) float64 {
	if f.budget.Mu != 0 {
		return GaussianEpsilon(math.Sqrt(f.spent)*(1+slack), delta)
	}
	if f.spent == 0 {
		return 0
	}
	return epsilonAt(f.budget.Order, f.spent, delta)
}

// SpentError says by how much an event would have exceeded the budget. It matches [ErrBudgetSpent].
type SpentError struct {
	Budget             Budget
	Limit, Spent, Cost float64 // Renyi divergences of the budget's order, or mu squared
}

func (e *SpentError) Error() string {
	unit := fmt.Sprintf("divergence of order %g", e.Budget.Order)
	if e.Budget.Mu != 0 {
		unit = "mu squared"
	}
	return fmt.Sprintf("accountant: %v: the event costs %g, and %g of %g (%s) is spent: stop here, add noise, or raise the budget",
		ErrBudgetSpent, e.Cost, e.Spent, e.Limit, unit)
}

// Unwrap makes errors.Is(err, ErrBudgetSpent) true.
func (e *SpentError) Unwrap() error { return ErrBudgetSpent }
