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

// cost is what the target limits: epsilon at delta, or mu.
func (t Target) cost(a About) (float64, Bound, error) {
	if t.Mu != 0 {
		a, err := a.resolve()
		if err != nil {
			return 0, Bound{}, err
		}
		exact, limit := mu(a.Event)
		if exact == 0 && limit == 0 {
			return 0, Bound{}, fmt.Errorf("accountant: %s has no mu: give a target epsilon and delta", a.Event.kind())
		}
		b := Bound{Accountant: "fdp", Mu: exact, MuLimit: limit}
		if exact == 0 {
			b.Notes = []string{"mu is the central limit's: information, not a bound"}
		}
		return max(exact, limit), b, nil
	}
	by := t.By
	if by == "" {
		by = Best
	}
	b, err := Epsilon(a, t.Delta, by)
	return b.Epsilon, b, err
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
	at := func(x float64) (point, error) {
		a, err := build(x)
		if err != nil {
			return point{}, fmt.Errorf("at %g: %w", x, err)
		}
		cost, b, err := target.cost(a)
		return point{x: x, cost: cost, bound: b}, err
	}
	low, err := at(lo)
	if err != nil {
		return 0, Bound{}, err
	}
	high, err := at(hi)
	if err != nil {
		return 0, Bound{}, err
	}
	meets := func(p point) bool { return p.cost <= target.limit() }
	switch {
	case meets(low) && meets(high):
		// Everything in range will do: the end that asks least of the user.
		if low.cost >= high.cost {
			return low.x, low.bound, nil
		}
		return high.x, high.bound, nil
	case !meets(low) && !meets(high):
		return 0, Bound{}, fmt.Errorf("accountant: no value in [%g, %g] reaches the target %g: the closest costs %g", lo, hi, target.limit(), min(low.cost, high.cost))
	}
	private, open := low, high // private meets the target, open does not
	if meets(high) {
		private, open = high, low
	}
	for step := 0; ; step++ {
		x := between(private, open, target.limit(), step)
		if whole {
			x = math.Round(x)
			if math.Abs(private.x-open.x) <= 1 {
				break
			}
			if x == private.x || x == open.x {
				x = math.Floor((private.x + open.x) / 2)
			}
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
		if meets(p) {
			private = p
		} else {
			open = p
		}
	}
	return private.x, private.bound, nil
}

type point struct {
	x, cost float64
	bound   Bound
}

// between proposes the next x. Costs are close to powers of x, so it follows a straight line in log-log, aims a little to
// the private side so that the bracket closes from both ends, and halves every third time lest it crawl.
func between(private, open point, limit float64, step int) float64 {
	middle := math.Sqrt(private.x * open.x)
	if step%3 == 2 || math.IsInf(open.cost, 1) || private.cost <= 0 {
		return middle
	}
	slope := math.Log(open.cost/private.cost) / math.Log(open.x/private.x)
	x := private.x * math.Exp(math.Log(limit/private.cost)/slope)
	if math.IsNaN(x) {
		return middle
	}
	aside := 1 + tolerance/4
	if step%2 == 1 {
		aside = 1 / aside
	}
	if private.x < open.x {
		aside = 1 / aside
	}
	x *= aside
	inner, outer := min(private.x, open.x), max(private.x, open.x)
	if !(x > inner && x < outer) {
		return middle
	}
	return x
}
