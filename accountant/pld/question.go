package pld

import "math"

// epsilonAt asks for epsilon at a delta.
type epsilonAt struct{ delta float64 }

func (q epsilonAt) unknown() Bracket { return Bracket{0, math.Inf(1)} }

func (q epsilonAt) tail(Bracket) float64 { return max(1e-300, 1e-9*q.delta) }

// tilt puts the mean of the sum at epsilon. As long as that is unknown it minimises Chernoff's bound on epsilon,
// (K(tilt) - ln delta)/tilt, where K is the cumulant function.
func (q epsilonAt) tilt(upper total, known Bracket) float64 {
	if !math.IsInf(known.Upper, 1) {
		return centered(upper, known.Upper)
	}
	finite := max(q.delta-upper.infinite(), 1e-3*q.delta)
	return rising(upper, func(tilt, value, mean float64) bool {
		return tilt*mean-value >= -math.Log(finite)
	})
}

func (q epsilonAt) answer(up, down sum, count float64) Bracket {
	if down.infinite*(1-margin*count) >= q.delta { // no epsilon will do, however large
		return Bracket{math.Inf(1), math.Inf(1)}
	}
	b := Bracket{0, math.Inf(1)}
	// Far from the middle of the window round-off dominates: there upper is too large and lower too small, or NaN
	// where a weight overflows. So the search is for a place where the comparison holds, not where it fails.
	if enough := func(eps float64) bool { return up.upper(eps, count) <= q.delta }; enough(0) {
		b.Upper = 0
	} else if top := max(up.top(), up.largest+2*margin*count); enough(top) {
		_, b.Upper = bisect(0, top, enough)
	}
	const strides = 256
	for k := range strides {
		eps := down.top() - float64(k)*down.step*float64(down.window.length)/strides
		if eps < 0 {
			break
		}
		below := func(eps float64) bool { return !(down.lower(eps, count) >= q.delta) }
		if !below(eps) {
			b.Lower, _ = bisect(eps, down.top(), below)
			break
		}
	}
	return b
}

// bisect narrows down where a condition begins to hold, given that it fails at low and holds at high.
func bisect(low, high float64, holds func(float64) bool) (float64, float64) {
	for range 100 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low, high
}

// deltaAt asks for delta at an epsilon.
type deltaAt struct{ epsilon float64 }

func (q deltaAt) unknown() Bracket { return Bracket{0, 1} }

func (q deltaAt) tail(known Bracket) float64 {
	if known.Upper == 1 && known.Lower == 0 {
		return 1e-300 // nothing is known yet, so nothing may be dropped
	}
	return max(1e-300, 1e-9*known.Upper*1e-3)
}

func (q deltaAt) tilt(upper total, _ Bracket) float64 { return centered(upper, q.epsilon) }

func (q deltaAt) answer(up, down sum, count float64) Bracket {
	b := Bracket{down.lower(q.epsilon, count), up.upper(q.epsilon, count)}
	if !(b.Lower > 0) {
		b.Lower = 0
	}
	if !(b.Upper < 1) {
		b.Upper = 1
	}
	return b
}

// centered is the tilt that puts the mean of the sum at a loss, or zero where it is above.
func centered(t total, loss float64) float64 {
	if _, mean, _ := t.cumulants(0); mean >= loss {
		return 0
	}
	return rising(t, func(_, _, mean float64) bool { return mean >= loss })
}

// rising finds the tilt from which on a condition holds, or the one at which the tilted sum has shrunk to a few points.
func rising(t total, holds func(tilt, value, mean float64) bool) float64 {
	enough := func(tilt float64) bool {
		value, mean, variance := t.cumulants(tilt)
		step := t[0].step
		return holds(tilt, value, mean) || variance < step*step
	}
	high := 1e-6
	for !enough(high) && high < 1e9 {
		high *= 2
	}
	low := high / 2
	for range 10 { // three digits do
		middle := (low + high) / 2
		if enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
