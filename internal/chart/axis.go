package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// axis is one direction of a picture: a range that is not empty, and its ticks.
type axis struct {
	min, max float64
	log      bool
	ticks    []plot.Tick
}

// Ticks implements plot.Ticker: they were chosen when the chart was checked.
func (a axis) Ticks(_, _ float64) []plot.Tick { return a.ticks }

// Values beyond these would overflow when a range is widened or its logarithm is taken.
const (
	largest  = 1e300
	smallest = 1e-300
)

// reach is the range of the data along one axis.
type reach struct {
	name      string // "x" or "y", for errors
	log       bool
	low, high float64
	whole     bool // all values are whole numbers: so are the ticks
}

func newReach(name string, log bool) reach {
	return reach{name: name, log: log, low: math.Inf(1), high: math.Inf(-1), whole: true}
}

// add takes a value in or says why it cannot be drawn.
func (r *reach) add(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%s is %g: it must be finite", r.name, v)
	case math.Abs(v) > largest:
		return fmt.Errorf("%s = %g is beyond the largest drawable value %g", r.name, v, largest)
	case r.log && v < smallest:
		return fmt.Errorf("%s = %g on a logarithmic axis: it must be at least %g", r.name, v, smallest)
	}
	r.low, r.high = min(r.low, v), max(r.high, v)
	r.whole = r.whole && v == math.Trunc(v)
	return nil
}

// axis chooses range and ticks. A limit that is given stays as it is; a free one is the data's, widened to the next tick if
// the axis is to be roomy. A single value gets an axis around it.
func (r reach) axis(limitLow, limitHigh *float64, roomy bool) (axis, error) {
	for _, limit := range []*float64{limitLow, limitHigh} {
		if limit == nil {
			continue
		}
		probe := newReach(r.name+" limit", r.log)
		if err := probe.add(*limit); err != nil {
			return axis{}, err
		}
	}
	low, high := r.low, r.high
	if limitLow != nil {
		low = *limitLow
	}
	if limitHigh != nil {
		high = *limitHigh
	}
	if low > high || limitLow != nil && limitHigh != nil && low == high {
		return axis{}, fmt.Errorf("%s axis from %g to %g is empty: the limits must lie around the data", r.name, low, high)
	}
	if high-low <= 1e-9*max(math.Abs(low), math.Abs(high)) || high-low < smallest {
		if limitLow != nil && limitHigh != nil {
			return axis{}, fmt.Errorf("%s axis from %g to %g is too narrow to draw", r.name, low, high)
		}
		low, high = r.around(low, high, limitLow == nil, limitHigh == nil)
	}
	if roomy {
		outerLow, outerHigh := r.outward(low, high)
		if limitLow == nil {
			low = outerLow
		}
		if limitHigh == nil {
			high = outerHigh
		}
	}
	if r.log {
		return axis{low, high, true, logTicks(low, high)}, nil
	}
	return axis{low, high, false, linearTicks(low, high, r.whole)}, nil
}

// around opens a range that is a single point, on the sides that are free.
func (r reach) around(low, high float64, openLow, openHigh bool) (float64, float64) {
	below, above := low/2, high*2
	if !r.log {
		pad := math.Abs(high) / 10
		if pad < 1e-9 {
			pad = 1
		}
		if r.whole {
			pad = max(pad, 1)
		}
		below, above = low-pad, high+pad
	}
	if openLow {
		low = below
	}
	if openHigh {
		high = above
	}
	return low, high
}

// outward widens a range to the next ticks outside it.
func (r reach) outward(low, high float64) (float64, float64) {
	if r.log {
		return below125(low), above125(high)
	}
	s := stepFor(high-low, r.whole)
	return s.at(math.Floor(s.count(low))), s.at(math.Ceil(s.count(high)))
}

// below125 is the largest of 1, 2, 5, 10, 20, 50, … that is not above v.
func below125(v float64) float64 {
	exponent := int(math.Floor(math.Log10(v)))
	best := step{5, exponent - 1}.at(1)
	for _, s := range []step{{1, exponent}, {2, exponent}, {5, exponent}, {1, exponent + 1}} {
		if s.at(1) <= v {
			best = s.at(1)
		}
	}
	return best
}

// above125 is the smallest of 1, 2, 5, 10, 20, 50, … that is not below v.
func above125(v float64) float64 {
	exponent := int(math.Floor(math.Log10(v)))
	for _, s := range []step{{1, exponent}, {2, exponent}, {5, exponent}, {1, exponent + 1}} {
		if s.at(1) >= v {
			return s.at(1)
		}
	}
	return step{2, exponent + 1}.at(1)
}
