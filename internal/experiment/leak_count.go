package experiment

import (
	"math"

	"hubbub/audit"
)

// count turns the statistics of trials into bounds. The threshold comes from the hold-out, the curve's from the distance.
func (k *Leak) count(holdout, counted audit.Scores, o LeakOptions) error {
	var err error
	if k.Bound, k.Errors, err = boundAt(holdout, counted, o.Delta, o.Confidence); err != nil {
		return err
	}
	for _, delta := range []float64{0, 1e-5, 1e-3, .01, .03, .1, .2, .3, .5, .7, .9} {
		b, _, err := boundAt(holdout, counted, delta, o.Confidence)
		if err != nil {
			return err
		}
		k.ByDelta = append(k.ByDelta, LeakPoint{delta, b.Epsilon})
	}
	middle, err := counted.Count(0)
	if err != nil {
		return err
	}
	balanced, err := middle.Bound(o.Delta, o.Confidence)
	if err != nil {
		return err
	}
	k.Balanced = LeakRates{balanced.FalsePositiveRate, balanced.FalseNegativeRate}
	if k.Gaussian, err = middle.Gaussian(o.Delta, o.Confidence); err != nil {
		return err
	}
	var thresholds []audit.Threshold
	for i := range 41 {
		thresholds = append(thresholds, audit.Threshold((k.Distance/2+2)*(float64(i)/20-1)))
	}
	points, err := counted.Curve(thresholds, nothingClaimed{}, o.Confidence)
	for _, p := range points {
		k.Curve = append(k.Curve, LeakRates{p.FalsePositiveAtMost, p.FalseNegativeAtMost})
	}
	return err
}

// boundAt counts at the threshold that proves the most at delta on the hold-out.
func boundAt(holdout, counted audit.Scores, delta, confidence float64) (audit.Bound, audit.Errors, error) {
	chosen, err := holdout.Choose(audit.Directly(len(counted.Without), delta, confidence))
	if err != nil {
		return audit.Bound{}, audit.Errors{}, err
	}
	errors, err := counted.Count(centre(holdout, chosen))
	if err != nil {
		return audit.Bound{}, audit.Errors{}, err
	}
	b, err := errors.Bound(delta, confidence)
	return b, errors, err
}

// nothingClaimed is the trade-off function that every mechanism fulfils.
type nothingClaimed struct{}

func (nothingClaimed) Beta(float64) float64 { return 0 }

// centre moves a threshold to the middle between the scores beside it, where chance is farthest: the hold-out cannot tell the difference.
func centre(s audit.Scores, t audit.Threshold) audit.Threshold {
	below, above := math.Inf(-1), math.Inf(1)
	for _, scores := range [][]float64{s.Without, s.With} {
		for _, x := range scores {
			if x <= float64(t) {
				below = max(below, x)
			} else {
				above = min(above, x)
			}
		}
	}
	if math.IsInf(below, 0) || math.IsInf(above, 0) {
		return t
	}
	return audit.Threshold(below + (above-below)/2)
}
