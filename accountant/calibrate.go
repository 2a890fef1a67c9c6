package accountant

import (
	"fmt"
	"math"
)

// Target is what a calibration must reach: an epsilon at a delta, or a mu.
type Target struct {
	Epsilon float64
	Delta   float64
	Mu      float64 // when set, instead of Epsilon and Delta; for compositions of Gaussians
	By      Method  // default Best
}

// tolerance is the relative width at which calibration stops; the answer is the private end of the last bracket.
const tolerance = 1e-7

func (t Target) check() error {
	switch {
	case t.Mu != 0 && (t.Epsilon != 0 || t.Delta != 0):
		return fmt.Errorf("accountant: target has mu %g and also epsilon or delta: give one or the other", t.Mu)
	case t.Mu != 0:
		if !(t.Mu > 0) || math.IsInf(t.Mu, 1) {
			return fmt.Errorf("accountant: target mu %g must be finite and greater than 0", t.Mu)
		}
		return nil
	case !(t.Epsilon > 0) || math.IsInf(t.Epsilon, 1):
		return fmt.Errorf("accountant: target epsilon %g must be finite and greater than 0", t.Epsilon)
	case !(t.Delta > 0 && t.Delta < 1):
		return fmt.Errorf("accountant: target delta %g outside (0, 1)", t.Delta)
	}
	return nil
}

// cost is what the target limits: epsilon at delta, or mu. near is the Renyi order that proved the last bound: the next
// one lies close by, and other orders need not be computed. 0 tries all.
func (t Target) cost(a About, near float64) (float64, Bound, error) {
	if t.Mu != 0 {
		return muCost(a)
	}
	by := t.By
	if by == "" {
		by = Best
	}
	if !(t.Delta > 0 && t.Delta < 1) {
		return 0, Bound{}, fmt.Errorf("accountant: delta %g outside (0, 1)", t.Delta)
	}
	orders := roughOrders
	if near > 0 && !math.IsInf(near, 1) {
		orders = ordersNear(near)
	}
	for range 8 {
		b, err := epsilonOver(a, t.Delta, by, orders)
		if err != nil {
			return 0, Bound{}, err
		}
		// Far from the limit a rough cost will do: it only steers the search. Below 1.02 there are no more orders to try.
		inside := b.Order < 1.02 || b.Order > orders[0] && b.Order < orders[len(orders)-1]
		if !math.IsInf(b.Epsilon, 1) && (inside || b.Epsilon < t.Epsilon/2) {
			return b.Epsilon, b, nil
		}
		if b.Order == 0 || math.IsInf(b.Order, 1) {
			break
		}
		orders = ordersNear(b.Order)
	}
	b, err := Epsilon(a, t.Delta, by)
	return b.Epsilon, b, err
}

// roughOrders are enough to see on which side of a target an event lies.
var roughOrders = []float64{1.01, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64}

// ordersNear are the standard orders around one that was best.
func ordersNear(order float64) []float64 {
	var orders []float64
	for _, a := range standardOrders {
		if a-1 > (order-1)/1.7 && a-1 < (order-1)*1.7 {
			orders = append(orders, a)
		}
	}
	if len(orders) < 3 {
		return standardOrders
	}
	return orders
}

func muCost(a About) (float64, Bound, error) {
	a, err := a.resolve()
	if err != nil {
		return 0, Bound{}, err
	}
	exact, limit, ok := mu(a.Event)
	if !ok {
		return 0, Bound{}, fmt.Errorf("accountant: %s has no mu: give a target epsilon and delta", a.Event.kind())
	}
	b := Bound{Accountant: "fdp", Mu: exact, MuLimit: limit}
	if limit != 0 {
		b.Notes = []string{"mu is the central limit's: information, not a bound"}
	}
	return max(exact, limit), b, nil
}

func (t Target) limit() float64 {
	if t.Mu != 0 {
		return t.Mu
	}
	return t.Epsilon
}

// Calibrate finds the x between lo and hi at which the event just meets the target: the smallest x that does when more x
// means more privacy (noise), the largest when it means less (a rate, a count). The event at the returned x was computed
// and meets the target. The cost must be monotone in x.
func Calibrate(target Target, build func(x float64) (About, error), lo, hi float64) (float64, Bound, error) {
	return calibrate(target, build, lo, hi, false)
}

// Solve calibrates the "?" of a text over the widest range that its key allows.
func (u Unknown) Solve(target Target) (float64, Bound, error) {
	lo, hi := 1e-6, 1e12
	switch {
	case u.Whole():
		lo, hi = 1, 1<<40
	case u.Key == "rate" && (u.holder() == "poisson" || u.holder() == "without_replacement"):
		lo, hi = 1e-12, 1
	case u.Key == "p":
		lo, hi = 1e-9, 0.5
	case u.holder() == "rounded_skellam" && u.Key == "rate":
		lo, hi = 1e-6, maxRoundedRate // start in the middle, near 10
	}
	// Not every value in the range builds an event (skellam's l2 starts at 1): narrow it to what does.
	for lo < hi {
		if _, err := u.With(lo); err == nil {
			break
		}
		lo *= 10
	}
	for hi > lo {
		if _, err := u.With(hi); err == nil {
			break
		}
		hi /= 10
	}
	if _, err := u.With(lo); err != nil {
		return 0, Bound{}, err
	}
	return calibrate(target, u.With, lo, hi, u.Whole())
}

// holder is the kind of event that the unknown belongs to.
func (u Unknown) holder() string {
	path := u.Path[:max(0, len(u.Path)-len(u.Key)-1)]
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			return path[i+1:]
		}
	}
	return path
}

func calibrate(target Target, build func(x float64) (About, error), lo, hi float64, whole bool) (float64, Bound, error) {
	if err := target.check(); err != nil {
		return 0, Bound{}, err
	}
	if !(lo > 0 && lo < hi) || math.IsInf(hi, 1) {
		return 0, Bound{}, fmt.Errorf("accountant: range [%g, %g] to search must be finite, positive and not empty", lo, hi)
	}
	near := 0.0
	at := func(x float64) (point, error) {
		a, err := build(x)
		if err != nil {
			return point{}, fmt.Errorf("at %g: %w", x, err)
		}
		cost, b, err := target.cost(a, near)
		near = b.Order
		return point{x: x, cost: cost, bound: b}, err
	}
	meets := func(p point) bool { return p.cost <= target.limit() }
	start := math.Sqrt(lo * hi)
	if whole {
		start = math.Round(start)
	}
	first, last, err := outward(at, meets, min(max(start, lo), hi), lo, hi, whole)
	if err != nil {
		return 0, Bound{}, err
	}
	switch {
	case meets(first) && meets(last):
		// Everything in range will do: the end that asks least of the user.
		if first.cost >= last.cost {
			return first.x, first.bound, nil
		}
		return last.x, last.bound, nil
	case !meets(first) && !meets(last):
		return 0, Bound{}, fmt.Errorf("accountant: no value in [%g, %g] reaches the target %g: the closest costs %g", lo, hi, target.limit(), min(first.cost, last.cost))
	}
	private, open := first, last // private meets the target, open does not
	if meets(last) {
		private, open = last, first
	}
	private.excess, open.excess = excess(private.cost, target.limit()), excess(open.cost, target.limit())
	lastMet := false
	for step := 0; ; step++ {
		x := between(private, open)
		if whole {
			if math.Abs(private.x-open.x) <= 1 {
				break
			}
			x = min(max(math.Round(x), min(private.x, open.x)+1), max(private.x, open.x)-1)
		} else if math.Abs(private.x/open.x-1) <= tolerance {
			break
		}
		if step > 400 {
			return 0, Bound{}, fmt.Errorf("accountant: calibration does not settle between %g and %g: is the cost monotone?", private.x, open.x)
		}
		p, err := at(x)
		if err != nil {
			return 0, Bound{}, err
		}
		p.excess = excess(p.cost, target.limit())
		// Illinois: when one end moves twice running, the other counts for half, so that it moves too.
		met := meets(p)
		if met {
			private = p
			if step > 0 && lastMet {
				open.excess /= 2
			}
		} else {
			open = p
			if step > 0 && !lastMet {
				private.excess /= 2
			}
		}
		lastMet = met
	}
	return private.x, private.bound, nil
}

// outward looks for two neighbours of which one meets the target, in widening steps to both sides of start, so that the far
// ends of a wide range, where an event may take long to compute, are seldom visited. When there are none it returns lo and hi.
func outward(at func(x float64) (point, error), meets func(point) bool, start, lo, hi float64, whole bool) (first, last point, err error) {
	first, err = at(start)
	if err != nil {
		return first, last, err
	}
	last = first
	for step := 8.0; first.x > lo || last.x < hi; step *= 8 {
		if last.x < hi {
			next := min(last.x*step, hi)
			if whole {
				next = math.Round(next)
			}
			p, err := at(next)
			if err != nil {
				return first, last, err
			}
			if meets(p) != meets(last) {
				return last, p, nil
			}
			last = p
		}
		if first.x > lo {
			next := max(first.x/step, lo)
			if whole {
				next = math.Round(next)
			}
			p, err := at(next)
			if err != nil {
				return first, last, err
			}
			if meets(p) != meets(first) {
				return p, first, nil
			}
			first = p
		}
	}
	return first, last, nil
}

type point struct {
	x, cost float64
	excess  float64 // log(cost/limit), halved while the other end moves
	bound   Bound
}

// excess is how far a cost lies from the limit, on a scale where costs, being near to powers of x, are straight lines.
func excess(cost, limit float64) float64 {
	return min(max(math.Log(cost/limit), -50), 50)
}

// between proposes the next x: where the straight line crosses the limit, kept off the ends so that the bracket closes.
func between(private, open point) float64 {
	from, to := math.Log(private.x), math.Log(open.x)
	share := private.excess / (private.excess - open.excess)
	if !(share > 0 && share < 1) {
		share = 0.5
	}
	off := min(tolerance/3/math.Abs(to-from), 0.5)
	return math.Exp(from + (to-from)*min(max(share, off), 1-off))
}
