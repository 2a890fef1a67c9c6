package accountant

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestFilterRefusesTheEventThatWouldExceed(t *testing.T) {
	round := About{Event: Poisson{.004, Gaussian{1.1}}}
	order, err := BestOrder(About{Event: Repeat{1000, round.Event}}, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := NewFilter(Budget{Epsilon: 1, Delta: 1e-5, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 0
	for {
		next, err := filter.Spend(round)
		if err != nil {
			if spent, ok := errors.AsType[*SpentError](err); !ok || !errors.Is(err, ErrBudgetSpent) || spent.Cost <= 0 {
				t.Fatalf("refused with %v", err)
			}
			if next != filter {
				t.Error("a refused event changed the filter")
			}
			break
		}
		filter, rounds = next, rounds+1
	}
	// As many rounds as the same order proves without adaptivity, and what was let through is within the budget.
	epsilon := func(n int) float64 {
		v, err := RDP(About{Event: Repeat{n, round.Event}}, order)
		if err != nil {
			t.Fatal(err)
		}
		return epsilonAt(order, v, 1e-5)
	}
	if epsilon(rounds) > 1 || epsilon(rounds+1) <= 1 {
		t.Errorf("%d rounds cost %g, one more %g", rounds, epsilon(rounds), epsilon(rounds+1))
	}
	if e := filter.Epsilon(1e-5); e > 1 || filter.Used() > 1 || filter.Used() < 0.9 {
		t.Errorf("after the last round epsilon is %g, %g of the budget", e, filter.Used())
	}
	// A cheaper event may still fit.
	if _, err := filter.Spend(About{Event: Poisson{1e-4, Gaussian{20}}}); err != nil {
		t.Errorf("a cheap event is refused: %v", err)
	}
}

func TestFilterByMu(t *testing.T) {
	filter, err := NewFilter(Budget{Mu: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if filter, err = filter.Spend(About{Event: Gaussian{2}}); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
	if _, err := filter.Spend(About{Event: Gaussian{1.9}}); !errors.Is(err, ErrBudgetSpent) {
		t.Errorf("mu above 1: %v", err)
	}
	if _, err := filter.Spend(About{Event: Gaussian{2.001}}); err != nil {
		t.Errorf("mu just below 1: %v", err)
	}
	if _, err := filter.Spend(About{Event: Laplace{Scale: 100}}); err == nil || errors.Is(err, ErrBudgetSpent) {
		t.Errorf("Laplace has no mu: %v", err)
	}
}

func TestFilterRefusesWhatHasNoBoundOrDoesNotFit(t *testing.T) {
	filter, err := NewFilter(Budget{Epsilon: 100, Delta: 1e-5, Order: 8})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filter.Spend(About{Event: None{}}); !errors.Is(err, ErrBudgetSpent) {
		t.Errorf("none: %v", err)
	}
	if _, err := filter.Spend(About{Event: Gaussian{-1}}); err == nil || errors.Is(err, ErrBudgetSpent) {
		t.Errorf("impossible noise: %v", err)
	}
	filter, err = filter.Spend(About{Unit: Client, Event: Gaussian{10}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filter.Spend(About{Unit: Record, Event: Gaussian{10}}); err == nil || errors.Is(err, ErrBudgetSpent) {
		t.Errorf("another unit: %v", err)
	}
	if _, err := (Filter{}).Spend(About{Event: Compose{}}); err == nil {
		t.Error("a filter without a budget let something through")
	}
	for _, b := range []Budget{
		{}, {Epsilon: 1}, {Epsilon: 1, Delta: 1e-5}, {Epsilon: -1, Delta: 1e-5, Order: 8}, {Epsilon: 1, Delta: 1e-5, Order: 1},
		{Epsilon: math.NaN(), Delta: 1e-5, Order: 8}, {Epsilon: 1, Delta: 2, Order: 8}, {Mu: -1}, {Mu: 1, Order: 3},
		{Epsilon: 0.1, Delta: 1e-5, Order: 2}, // order 2 proves no less than 9.4
	} {
		if _, err := NewFilter(b); err == nil {
			t.Errorf("accepted budget %+v", b)
		}
	}
}

// Whatever comes, in whatever order: what was let through never exceeds the budget.
func TestFilterNeverOverspends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := Budget{Epsilon: rapid.Float64Range(2, 10).Draw(t, "epsilon"), Delta: 1e-5, Order: rapid.Float64Range(8, 60).Draw(t, "order")}
		filter, err := NewFilter(budget)
		if err != nil {
			t.Fatal(err)
		}
		var through Compose
		for range 20 {
			e := genEvent(t, 1)
			next, err := filter.Spend(About{Adjacency: AddRemove, Unit: Record, Event: e})
			if err != nil {
				continue
			}
			filter, through = next, append(through, e)
		}
		if v := through.rdp([]float64{budget.Order})[0]; v > 0 && epsilonAt(budget.Order, v, 1e-5) > budget.Epsilon*(1+1e-9) {
			t.Fatalf("%+v cost %g of %g", through, epsilonAt(budget.Order, v, 1e-5), budget.Epsilon)
		}
	})
}
