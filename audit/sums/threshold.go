package sums

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"hubbub/audit"
)

// Outcomes are the statistics of trials: of the same others' sums, once with the first and once with the second update.
type Outcomes struct{ First, Second []float64 }

// Add notes a trial.
func (o *Outcomes) Add(first, second float64) {
	o.First = append(o.First, first)
	o.Second = append(o.Second, second)
}

// Errors are the mistakes of saying "second" above the threshold.
func (o Outcomes) Errors(threshold float64) audit.Errors {
	e := audit.Errors{Negatives: len(o.First), Positives: len(o.Second)}
	for _, x := range o.First {
		if x > threshold {
			e.FalsePositives++
		}
	}
	for _, x := range o.Second {
		if x <= threshold {
			e.FalseNegatives++
		}
	}
	return e
}

// Threshold is the one that proves the most on these trials. To prove anything it must be used on others: a threshold that was chosen
// on the trials that are counted fits their chance too.
func (o Outcomes) Threshold(delta, confidence float64) (float64, error) {
	if len(o.First) == 0 {
		return 0, fmt.Errorf("sums: no trials to choose a threshold on: give at least 1")
	}
	first, second := slices.Sorted(slices.Values(o.First)), slices.Sorted(slices.Values(o.Second))
	values := slices.Sorted(slices.Values(append(append([]float64(nil), first...), second...)))
	// Between two values the mistakes are the same; each count's rate is computed once.
	known := map[audit.Errors]float64{}
	rate := func(count, trials int) (float64, error) {
		key := audit.Errors{FalsePositives: count, Negatives: trials}
		if r, ok := known[key]; ok {
			return r, nil
		}
		r, err := audit.UpperRate(count, trials, (1-confidence)/2)
		known[key] = r
		return r, err
	}
	var best, from, to float64
	found := false
	for i := range len(values) - 1 {
		middle := (values[i] + values[i+1]) / 2
		fpr, err := rate(len(first)-sort.SearchFloat64s(first, math.Nextafter(middle, math.Inf(1))), len(first))
		if err != nil {
			return 0, err
		}
		fnr, err := rate(sort.SearchFloat64s(second, math.Nextafter(middle, math.Inf(1))), len(second))
		if err != nil {
			return 0, err
		}
		epsilon, err := audit.Epsilon(fpr, fnr, delta)
		if err != nil {
			return 0, err
		}
		switch {
		case !found || epsilon > best:
			best, from, to, found = epsilon, values[i], values[i+1], true
		case epsilon == best && to == values[i]: // no statistic between tells them apart: the middle is the safest
			to = values[i+1]
		}
	}
	return (from + to) / 2, nil
}

// Rate is a point of a trade-off curve that was measured: both rates are bounded from above, each point by itself.
type Rate struct {
	Threshold     float64 `json:"threshold"`
	FalsePositive float64 `json:"false_positive_rate_at_most"`
	FalseNegative float64 `json:"false_negative_rate_at_most"`
}

// Curve walks the threshold over the trials.
func (o Outcomes) Curve(points int, delta, confidence float64) ([]Rate, error) {
	values := slices.Sorted(slices.Values(append(append([]float64(nil), o.First...), o.Second...)))
	if len(values) < 2 || points < 2 {
		return nil, fmt.Errorf("sums: a curve of %d points over %d trials: both must be at least 2", points, len(o.First))
	}
	var curve []Rate
	low, high := values[0], values[len(values)-1]
	for i := range points {
		threshold := low + (high-low)*float64(i)/float64(points-1)
		b, err := o.Errors(threshold).Bound(delta, confidence)
		if err != nil {
			return nil, err
		}
		curve = append(curve, Rate{threshold, b.FalsePositiveRate, b.FalseNegativeRate})
	}
	sort.SliceStable(curve, func(i, j int) bool { return curve[i].FalsePositive < curve[j].FalsePositive })
	return curve, nil
}
