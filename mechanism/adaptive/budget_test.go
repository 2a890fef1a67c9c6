package adaptive

import (
	"errors"
	"math"
	"testing"

	"hubbub/accountant"
)

// Golden values of an independent computation of Algorithm 4, δ* = 1e-5.
func TestAlgorithmFourGoldenValues(t *testing.T) {
	for _, c := range []struct {
		noiseLevel, epsilon float64
		contributions       int
		delta               float64
	}{
		{26, .5, 1, 2.574482e-37},
		{26, .5, 4, 8.585814e-10},
		{26, .5, 7, 7.337699e-06},
		{26, .5, 8, 3.317847e-05},
		{26, 2, 100, 3.586042e-06},
		{26, 2, 108, 9.747872e-06},
		{26, 2, 109, 1.094009e-05},
		{10, 8, 208, 9.929504e-06},
		{10, 8, 209, 1.054351e-05},
	} {
		b, err := NewBudget(c.epsilon, 1e-5, c.noiseLevel)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Spent(c.contributions); math.Abs(got/c.delta-1) > 1e-6 {
			t.Errorf("σ0 %g, ε %g, %d contributions: δ %.7g, want %.7g", c.noiseLevel, c.epsilon, c.contributions, got, c.delta)
		}
	}
}

// The last contribution that fits is allowed and the next is refused before it leaves. The exact law of composed Gaussians would
// allow more: golden values of an independent computation.
func TestBudgetIsCheckedBeforeTheContribution(t *testing.T) {
	for _, c := range []struct {
		noiseLevel, epsilon  float64
		contributions, exact int
	}{{26, .5, 7, 13}, {26, 2, 108, 170}, {10, 8, 208, 277}} {
		b, err := NewBudget(c.epsilon, 1e-5, c.noiseLevel)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Allow(c.contributions - 1); err != nil {
			t.Errorf("contribution %d: %v", c.contributions, err)
		}
		if err := b.Allow(c.contributions); !errors.Is(err, ErrBudgetSpent) {
			t.Errorf("contribution %d: %v, want ErrBudgetSpent", c.contributions+1, err)
		}
		if got := b.Contributions(); got != c.contributions {
			t.Errorf("σ0 %g, ε %g: %d contributions fit, want %d", c.noiseLevel, c.epsilon, got, c.contributions)
		}
		about := released(t, ReleasedConfig{Tensors: Tensors{0, 1}, NoiseLevel: c.noiseLevel, Largest: 1}).About()
		for _, more := range []int{0, 1} {
			about.Event = accountant.Repeat{Count: c.exact + more, Event: about.Event}
			bound, err := accountant.Epsilon(about, 1e-5, accountant.Best)
			if err != nil {
				t.Fatal(err)
			}
			if fits := bound.Epsilon <= c.epsilon; fits != (more == 0) {
				t.Errorf("σ0 %g: %d contributions cost ε %g by the accountant, the budget is %g", c.noiseLevel, c.exact+more, bound.Epsilon, c.epsilon)
			}
			about.Event = about.Event.(accountant.Repeat).Event
		}
	}
}

// The formula against a search over all orders to 10,000, which covers the minimum for these arguments.
func TestSpentIsTheMinimumOverAllOrders(t *testing.T) {
	for _, noiseLevel := range []float64{1, 5, 26, 40} {
		for _, epsilon := range []float64{.1, .5, 2, 5} {
			for _, contributions := range []int{1, 3, 50, 4000} {
				b, err := NewBudget(epsilon, 1e-5, noiseLevel)
				if err != nil {
					t.Fatal(err)
				}
				want := math.Inf(1)
				for order := 2.; order <= 10_000; order++ {
					if order > 1+math.Log(1e5)/epsilon {
						want = min(want, (float64(contributions)*order/(2*noiseLevel*noiseLevel)-epsilon)*(order-1))
					}
				}
				if got, want := b.Spent(contributions), min(1, math.Exp(want)); math.Abs(got-want) > 1e-9*want {
					t.Errorf("σ0 %g, ε %g, %d contributions: %g, want %g", noiseLevel, epsilon, contributions, got, want)
				}
			}
		}
	}
}

func TestImpossibleBudgetsAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][3]float64{{0, 1e-5, 1}, {nan, 1e-5, 1}, {inf, 1e-5, 1}, {1, 0, 1}, {1, 1, 1}, {1, nan, 1}, {1, 1e-5, 0}, {1, 1e-5, nan}, {1, 1e-5, inf}} {
		if _, err := NewBudget(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v was accepted", c)
		}
	}
	b, err := NewBudget(1, 1e-5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Allow(-1); err == nil || errors.Is(err, ErrBudgetSpent) {
		t.Errorf("-1 contributions: %v", err)
	}
	if b.Spent(0) != 0 || b.Spent(1e9) != 1 || b.Contributions() != 0 {
		t.Errorf("δ %g after none, %g after 1e9; %d fit", b.Spent(0), b.Spent(1e9), b.Contributions())
	}
}
