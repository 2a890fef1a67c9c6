package adaptive

import (
	"errors"
	"fmt"
	"math"
)

// ErrBudgetSpent is returned when one more contribution would exceed the budget.
var ErrBudgetSpent = errors.New("adaptive: budget spent")

// Budget is the paper's Algorithm 4: a client has agreed on (ε, δ*), and δ grows with every contribution.
//
// For [Released] the numbers are true for a client, if larger than they need be: the accountant, which knows that
// Gaussians compose to a Gaussian, allows more contributions with the same noise. For [Printed] they are what the paper claims.
type Budget struct {
	epsilon    float64
	delta      float64 // δ*
	noiseLevel float64 // σ0
}

// NewBudget checks its arguments; past here nothing re-checks.
func NewBudget(epsilon, delta, noiseLevel float64) (*Budget, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return nil, fmt.Errorf("adaptive: epsilon %g must be finite and greater than 0", epsilon)
	}
	if !(delta > 0 && delta < 1) {
		return nil, fmt.Errorf("adaptive: delta %g outside (0, 1)", delta)
	}
	if err := checkScales(1, noiseLevel); err != nil {
		return nil, err
	}
	return &Budget{epsilon, delta, noiseLevel}, nil
}

// Spent is δ after this many contributions: the minimum over whole orders α > 1 + ln(1/δ*)/ε of e^((Lα/2σ0² - ε)(α-1)),
// and at most 1, which the paper leaves out.
func (b *Budget) Spent(contributions int) float64 {
	if contributions <= 0 {
		return 0
	}
	perOrder := float64(contributions) / (2 * b.noiseLevel * b.noiseLevel) // L/2σ0²
	exponent := func(order float64) float64 { return (perOrder*order - b.epsilon) * (order - 1) }
	// The exponent is a parabola with its lowest point here; the best whole order is beside it or the smallest allowed.
	lowest := (b.epsilon/perOrder + 1) / 2
	smallest := math.Floor(1+math.Log(1/b.delta)/b.epsilon) + 1
	best := min(exponent(max(smallest, math.Floor(lowest))), exponent(max(smallest, math.Ceil(lowest))))
	return min(1, math.Exp(best))
}

// Allow says whether one more contribution fits, given how many were made. Ask before it leaves: the printed Algorithm 2
// looks at δ after it has used the contribution, and so exceeds the budget by one round.
func (b *Budget) Allow(made int) error {
	if made < 0 {
		return fmt.Errorf("adaptive: %d contributions made: must be at least 0", made)
	}
	if spent := b.Spent(made + 1); spent > b.delta {
		return fmt.Errorf("%w: contribution %d would spend delta %.3g of %g at epsilon %g", ErrBudgetSpent, made+1, spent, b.delta, b.epsilon)
	}
	return nil
}

// maxContributions is where counting stops: no run is that long.
const maxContributions = 1 << 40

// Contributions is how many contributions fit.
func (b *Budget) Contributions() int {
	fits, over := 0, maxContributions
	for over-fits > 1 { // δ grows with every contribution
		if middle := fits + (over-fits)/2; b.Allow(middle-1) == nil {
			fits = middle
		} else {
			over = middle
		}
	}
	return fits
}
