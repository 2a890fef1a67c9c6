package pld

import "math"

// direction is one side of the adjacency: the losses of all terms when the data is removed, or when it is added.
type direction struct {
	laws    []lossLaw
	counts  []float64
	count   float64      // of all terms
	atoms   [][2]float64 // two losses of each term that should be on its grid, if they differ
	lattice float64      // a distance that should be a multiple of the step; zero: none

	known     Bracket // by all grids so far
	plan      plan
	step      float64 // of the last grid; zero before the first
	width     float64 // of the last grid's own bracket
	places    float64 // of the last grid or window, whichever has more
	order     float64 // the width shrinks with this power of the step
	rounds    int     // grids so far
	failures  int     // grids that did not help
	exhausted bool    // no finer grid is allowed, or would help
}

// refine computes on a finer grid and narrows what is known.
func (d *direction) refine(q question, o Options) {
	step := d.nextStep(o)
	const enough = 12 // twice what the hardest sensible question takes
	if d.rounds++; d.exhausted || d.rounds > enough {
		d.exhausted = true
		return
	}
	tail := q.tail(d.known) / d.count
	upper, lower := make(total, len(d.laws)), make(total, len(d.laws))
	points := 0
	for i, law := range d.laws {
		low, high := support(law, tail)
		if (high-low)/step > 1<<50 {
			d.exhausted = true // places would no longer be exact in a float
			return
		}
		weight := importance{d.plan.tilt, d.plan.level, (high - low) / 1024}
		if d.step != 0 {
			weight.widest = max(weight.widest, 0.1/(1+d.plan.tilt))
		}
		c, ok := cut(law, d.atoms[i], grid{d.origin(i, step), step}, low, high, weight, 2*o.MaxPoints)
		if !ok {
			d.tooFine(step, 2*float64(o.MaxPoints))
			return
		}
		upper[i] = repeated{c.pessimistic(), d.counts[i]}
		lower[i] = repeated{c.optimistic(), d.counts[i]}
		points += len(c.places)
	}
	if value, _, _ := upper.cumulants(0); math.IsInf(value, -1) { // all losses are infinite
		d.known = q.answer(onlyInfinite(upper), onlyInfinite(lower), d.count)
		d.exhausted = true
		return
	}
	const cheap = 1 << 13 // points up to which a better plan is searched
	if d.step == 0 || points < cheap {
		d.plan = newPlan(upper, d.count, q.tilt(upper, d.known))
	}
	w, need := d.plan.window(upper, o.MaxPoints)
	d.places = max(need, float64(points))
	if !(d.places <= float64(o.MaxPoints)) {
		d.tooFine(step, d.places)
		return
	}
	up, down := compose(upper, lower, d.plan, w)
	d.learn(q.answer(up, down, d.count), step)
}

// tooFine makes the next grid coarser, or gives up.
func (d *direction) tooFine(step, places float64) {
	d.step, d.places, d.width = step, places, math.Inf(1)
	d.failures++
	d.exhausted = d.failures > 4 || d.order != 0 // a coarser grid has been answered before
}

// nextStep extrapolates to the step that reaches the tolerance, or to the smallest one that fits.
func (d *direction) nextStep(o Options) float64 {
	if d.step == 0 {
		var variance float64
		for i, law := range d.laws {
			variance += d.counts[i] / d.count * roughVariance(law)
		}
		return d.aligned(math.Sqrt(variance)/8, math.Ceil)
	}
	shrink := 1. / 4
	if goal := 0.8 * o.Tolerance * d.known.Upper; goal > 0 && goal/d.width > 0 {
		shrink = min(0.7, max(1./32, math.Pow(goal/d.width, 1/d.order)))
	}
	fits := 1.05 * d.places / float64(o.MaxPoints)
	if shrink > fits {
		return d.aligned(d.step*shrink, math.Ceil)
	}
	step := d.aligned(d.step*fits, math.Floor)
	d.exhausted = step > 0.9*d.step && !math.IsInf(d.width, 1)
	return step
}

// aligned makes the lattice a multiple of the step, if it is not smaller.
func (d *direction) aligned(step float64, round func(float64) float64) float64 {
	if d.lattice < step {
		return step
	}
	return d.lattice / round(d.lattice/step)
}

// learn keeps the better of the old and the new ends, both of which hold.
func (d *direction) learn(b Bracket, step float64) {
	width := b.Upper - b.Lower
	d.order = 2
	if d.step != 0 && !math.IsInf(d.width, 1) {
		if gain := math.Log(d.width/width) / math.Log(d.step/step); gain > 0.1 {
			d.order = min(2, max(0.8, gain))
			d.failures = 0
		} else if d.failures++; d.failures == 2 {
			d.exhausted = true // round-off has taken over
		}
	}
	d.known.Lower = max(d.known.Lower, b.Lower)
	d.known.Upper = max(d.known.Lower, min(d.known.Upper, b.Upper))
	d.step, d.width = step, width
}

// origin is a loss of term i to be put on its grid: an atom, or, if a step or two hold most of the mass, its mean, for
// the lower end can then gather it there at no loss.
func (d *direction) origin(i int, step float64) float64 {
	if a := d.atoms[i]; a[0] != a[1] {
		return a[0]
	}
	var origin float64
	for range 8 {
		lower, upper := d.laws[i].tails(origin-step), d.laws[i].tails(origin+step)
		p := between(lower.pAbove, lower.pBelow, upper.pAbove, upper.pBelow)
		q := between(lower.qAbove, lower.qBelow, upper.qAbove, upper.qBelow)
		if p < 0.3 || q < 0.3 {
			return 0
		}
		origin = math.Log(p / q)
	}
	return origin
}

// support finds the losses outside which a law has at most the tail's mass on either side.
func support(law lossLaw, tail float64) (low, high float64) {
	infinite := law.tails(math.Inf(1)).pAbove
	low = -quantile(func(l float64) bool { return law.tails(-l).pBelow <= tail })
	high = quantile(func(l float64) bool { return law.tails(l).pAbove-infinite <= tail })
	return low, high
}

// quantile finds about the smallest positive loss from which on the condition holds.
func quantile(holds func(loss float64) bool) float64 {
	high := 1e-9
	for !holds(high) && high < 1e9 {
		high *= 2
	}
	low := high / 2
	for range 12 {
		middle := (low + high) / 2
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// roughVariance is about the mean of L², by the integral of 2l·P(|L|>l). It sets the scale of the first grid.
func roughVariance(law lossLaw) float64 {
	infinite := law.tails(math.Inf(1)).pAbove
	const ratio = 1.5
	var sum float64
	for l := 1e-9; l < 1e9; l *= ratio {
		sum += 2 * l * l * (ratio - 1) * max(0, law.tails(l).pAbove-infinite+law.tails(-l).pBelow)
	}
	return max(sum, 1e-18)
}
