package audit

import (
	"fmt"
	"math"
	"slices"
)

// TradeoffPoint is one point of an empirical trade-off curve, and whether it contradicts a claimed one.
type TradeoffPoint struct {
	FalsePositiveRate float64 `json:"false_positive_rate"` // as counted
	FalseNegativeRate float64 `json:"false_negative_rate"`
	// Upper ends of both rates, which hold for all points of the curve together.
	FalsePositiveAtMost float64 `json:"false_positive_rate_at_most"`
	FalseNegativeAtMost float64 `json:"false_negative_rate_at_most"`
	Claimed             float64 `json:"claimed_false_negative_rate"` // at FalsePositiveAtMost
	Violated            bool    `json:"violated"`
}

// Claim is a trade-off function: whoever has so many false positives has at least so many false negatives. It never increases.
type Claim interface{ Beta(alpha float64) float64 }

// Curve counts the mistakes at thresholds that were chosen on other trials, and holds them against a claim. A claim f is violated
// where f(FPR) > FNR. The confidence is shared between the thresholds (Bonferroni), so all points hold together.
func (s Scores) Curve(thresholds []Threshold, claim Claim, confidence float64) ([]TradeoffPoint, error) {
	if len(thresholds) == 0 {
		return nil, fmt.Errorf("audit: 0 thresholds: at least one is needed for a curve")
	}
	if err := checkConfidence(confidence); err != nil {
		return nil, err
	}
	tail := (1 - confidence) / 2 / float64(len(thresholds))
	points := make([]TradeoffPoint, len(thresholds))
	for i, t := range thresholds {
		if math.IsNaN(float64(t)) {
			return nil, fmt.Errorf("audit: threshold %d is NaN", i)
		}
		e, err := s.Count(t)
		if err != nil {
			return nil, err
		}
		p := TradeoffPoint{
			FalsePositiveRate:   float64(e.FalsePositives) / float64(e.Negatives),
			FalseNegativeRate:   float64(e.FalseNegatives) / float64(e.Positives),
			FalsePositiveAtMost: upperRate(e.FalsePositives, e.Negatives, tail),
			FalseNegativeAtMost: upperRate(e.FalseNegatives, e.Positives, tail),
		}
		p.Claimed = claim.Beta(p.FalsePositiveAtMost)
		p.Violated = p.Claimed > p.FalseNegativeAtMost
		points[i] = p
	}
	return points, nil
}

// Spread gives so many thresholds for either kind of mistake, at which its rate goes down to a few in all trials, in even steps on a
// logarithmic scale: for a curve that is counted on other trials.
func (s Scores) Spread(count int) ([]Threshold, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if count < 1 {
		return nil, fmt.Errorf("audit: %d thresholds: at least one", count)
	}
	var thresholds []Threshold
	without, with := slices.Sorted(slices.Values(s.Without)), slices.Sorted(slices.Values(s.With))
	for i := range count {
		share := (float64(i) + 0.5) / float64(count)
		n, m := float64(len(without)), float64(len(with))
		thresholds = append(thresholds,
			Threshold(without[len(without)-1-int(math.Pow(n, 1-share)/2)]), // n^-share/2 of them lie above
			Threshold(with[int(math.Pow(m, 1-share)/2)]))
	}
	slices.Sort(thresholds)
	return slices.Compact(thresholds), nil
}
