package accountant

import (
	"fmt"
	"math"
	"sort"
)

// Curve is the Renyi divergence of an event over a fixed grid of orders. Computing one can take milliseconds; adding
// curves and reading an epsilon from one costs next to nothing, so a run computes the curve of a round once.
// The zero Curve belongs to the event that nothing was released.
type Curve struct {
	rdp []float64 // one value per standard order; nil: all zero
}

// NewCurve computes the curve of an event.
func NewCurve(a About) (Curve, error) {
	a, err := a.resolve()
	if err != nil {
		return Curve{}, err
	}
	return Curve{a.Event.rdp(standardOrders)}, nil
}

// RDP bounds the Renyi divergence of one order: for all neighbouring inputs, in both directions, the divergence of the
// outputs is at most the result. It is +Inf when the event protects nothing, and an error when only other orders are bounded.
func RDP(a About, order float64) (float64, error) {
	a, err := a.resolve()
	if err != nil {
		return 0, err
	}
	if !(order > 1) {
		return 0, fmt.Errorf("accountant: order %g must be greater than 1", order)
	}
	value := a.Event.rdp([]float64{order})[0]
	if math.IsInf(value, 1) {
		return value, outOfRange(a.Event, order)
	}
	return value, nil
}

// outOfRange explains an infinite divergence: nil when that is the answer, an error when other orders have a bound.
func outOfRange(e Event, order float64) error {
	if err := needsOther(e, ByRDP); err != nil {
		return err
	}
	from, to := 0.0, 0.0
	for i, v := range e.rdp(standardOrders) {
		if math.IsInf(v, 1) {
			continue
		}
		if from == 0 {
			from = standardOrders[i]
		}
		to = standardOrders[i]
	}
	if from == 0 {
		return nil // no guarantee at any order
	}
	return fmt.Errorf("accountant: order %g is outside the range in which %s has a bound, about %g to %g", order, e.kind(), from, to)
}

// Times is the curve of n repetitions.
func (c Curve) Times(n int) Curve {
	if n <= 0 || c.rdp == nil {
		return Curve{}
	}
	return Curve{times(c.rdp, n)}
}

// Plus is the curve of both.
func (c Curve) Plus(other Curve) Curve {
	if c.rdp == nil {
		return other
	}
	if other.rdp == nil {
		return c
	}
	return Curve{plus(c.rdp, other.rdp)}
}

// Epsilon is the smallest epsilon that the curve proves at delta, and the order that proves it. It is +Inf when no order
// has a finite divergence, and for a delta outside (0, 1).
func (c Curve) Epsilon(delta float64) (epsilon, order float64) {
	if !(delta > 0 && delta < 1) {
		return math.Inf(1), 0
	}
	if c.rdp == nil {
		return 0, math.Inf(1)
	}
	return smallestEpsilon(standardOrders, c.rdp, delta)
}

func smallestEpsilon(orders, rdp []float64, delta float64) (epsilon, order float64) {
	epsilon = math.Inf(1)
	for i, a := range orders {
		if e := epsilonAt(a, rdp[i], delta); e < epsilon {
			epsilon, order = e, a
		}
	}
	return epsilon, order
}

// Delta is the smallest delta that the curve proves at epsilon, and the order that proves it; 1 proves nothing.
func (c Curve) Delta(epsilon float64) (delta, order float64) {
	if c.rdp == nil && epsilon >= 0 {
		return 0, math.Inf(1)
	}
	delta = 1
	for i, a := range standardOrders {
		if c.rdp == nil {
			break
		}
		if d := deltaAt(a, c.rdp[i], epsilon); d < delta {
			delta, order = d, a
		}
	}
	return delta, order
}

// epsilonAt converts one order: [CKS20] Proposition 12. A NaN can only come from overflow and counts as no bound.
func epsilonAt(order, rdp, delta float64) float64 {
	if math.IsInf(rdp, 1) || math.IsNaN(rdp) {
		return math.Inf(1)
	}
	if math.IsInf(order, 1) {
		return rdp // pure differential privacy
	}
	gain := math.Log1p(-1/order) - (math.Log(delta)+math.Log(order))/(order-1)
	e := rdp + gain
	// The two terms may nearly cancel: raise by the rounding error of the larger ones, then round up.
	e += 1e-15 * (math.Abs(rdp) + math.Abs(math.Log(delta))/(order-1) + 1)
	return up(e)
}

// deltaAt is epsilonAt solved for delta.
func deltaAt(order, rdp, epsilon float64) float64 {
	if math.IsInf(rdp, 1) || math.IsNaN(rdp) || math.IsNaN(epsilon) {
		return 1
	}
	if math.IsInf(order, 1) {
		if epsilon >= rdp {
			return 0
		}
		return 1
	}
	exponent := (order-1)*(rdp-epsilon+math.Log1p(-1/order)) - math.Log(order)
	exponent += 1e-15 * (order*(math.Abs(rdp)+math.Abs(epsilon)+1) + 1)
	d := math.Exp(exponent) * (1 + slack)
	if d == 0 {
		d = math.SmallestNonzeroFloat64 // underflow is not zero
	}
	return min(d, 1)
}

// standardOrders is the grid over which epsilon is minimised: dense where most optima lie, every integer up to 64, then
// integers 4% apart up to 4,096, and +Inf. Any subset would be sound; a denser one gains less than 0.1%.
var standardOrders = makeOrders()

func makeOrders() []float64 {
	orders := []float64{1.01, 1.02, 1.03, 1.05, 1.07}
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	for i := 22; i < 40; i++ {
		orders = append(orders, float64(i)/2)
	}
	for i := 20; i < 64; i++ {
		orders = append(orders, float64(i))
	}
	for a := 64.0; a < 4096; a = math.Ceil(a * 1.04) {
		orders = append(orders, a)
	}
	orders = append(orders, 4096, math.Inf(1))
	sort.Float64s(orders)
	return orders
}

// times and plus saturate at +Inf and never give NaN; each rounds up.
func times(rdp []float64, n int) []float64 {
	out := make([]float64, len(rdp))
	for i, v := range rdp {
		if n > 0 && v > 0 {
			out[i] = math.Nextafter(v*float64(n), math.Inf(1))
		}
	}
	return out
}

func plus(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
		if out[i] > 0 {
			out[i] = math.Nextafter(out[i], math.Inf(1))
		}
	}
	return out
}

func filled(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}
