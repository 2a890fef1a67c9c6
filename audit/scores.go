package audit

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Scores are what an attack made of the outputs of a mechanism: the higher, the more it believes that the target was in.
type Scores struct {
	Without, With []float64 // of trials without the target, and with it
}

// Threshold is above which score an attack says that the target was in.
type Threshold float64

func (s Scores) check() error {
	for _, c := range []struct {
		name   string
		scores []float64
	}{{"without", s.Without}, {"with", s.With}} {
		if len(c.scores) == 0 {
			return fmt.Errorf("audit: 0 scores %s the target: at least one is needed", c.name)
		}
		for i, v := range c.scores {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("audit: score %d %s the target is %g: scores must be finite", i, c.name, v)
			}
		}
	}
	return nil
}

// Count counts the mistakes at a threshold that was chosen on other trials.
func (s Scores) Count(t Threshold) (Errors, error) {
	if err := s.check(); err != nil {
		return Errors{}, err
	}
	e := Errors{Negatives: len(s.Without), Positives: len(s.With)}
	for _, v := range s.Without {
		if v > float64(t) {
			e.FalsePositives++
		}
	}
	for _, v := range s.With {
		if v <= float64(t) {
			e.FalseNegatives++
		}
	}
	return e, nil
}

// Choose finds the threshold whose mistakes, counted on these scores, have the best value: on a hold-out, whose scores count for
// nothing else afterwards. Between two scores it lies in the middle.
func (s Scores) Choose(value func(Errors) float64) (Threshold, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	without, with := slices.Sorted(slices.Values(s.Without)), slices.Sorted(slices.Values(s.With))
	best, at := math.Inf(-1), Threshold(0)
	for _, t := range candidates(without, with) {
		e := Errors{Negatives: len(without), Positives: len(with)}
		e.FalsePositives = len(without) - above(without, t)
		e.FalseNegatives = above(with, t)
		if v := value(e); v > best {
			best, at = v, Threshold(t)
		}
	}
	return at, nil
}

// above is the first place in the sorted scores that lies above t.
func above(sorted []float64, t float64) int {
	return sort.Search(len(sorted), func(i int) bool { return sorted[i] > t })
}

// candidates are thresholds between scores: all of them when they are few; else some hundred, most of them far out in either tail,
// where the large epsilons are.
func candidates(without, with []float64) []float64 {
	var places []float64
	for _, sorted := range [][]float64{without, with} {
		n := len(sorted)
		for rank := 0; rank < n; rank += 1 + rank/16 {
			for _, i := range []int{rank, n - 1 - rank} {
				places = append(places, sorted[i])
				if i+1 < n {
					places = append(places, sorted[i]+(sorted[i+1]-sorted[i])/2)
				}
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// holdOutTail makes the choice careful: of a million normal scores 0.3 let chance pick a threshold too far out (bounds down to 1.18
// where 1.54 is usual), 0.05 does not.
const holdOutTail = 0.05

// Directly is the value of mistakes for [Scores.Choose]: the lower bound that so many trials of either kind would show if the
// rates were those of the hold-out. Counts are scaled before they are bounded.
func Directly(trials int, delta, confidence float64) func(Errors) float64 {
	tail := (1 - confidence) / 2
	return func(e Errors) float64 {
		// What the hold-out itself leaves open counts too: rare mistakes there are no evidence of a rare mistake.
		fpr := upperEstimate(float64(e.FalsePositives)/float64(e.Negatives), e.Negatives, holdOutTail)
		fnr := upperEstimate(float64(e.FalseNegatives)/float64(e.Positives), e.Positives, holdOutTail)
		return epsilonOf(upperEstimate(fpr, trials, tail), upperEstimate(fnr, trials, tail), delta)
	}
}

// upperEstimate is about [UpperRate] of rate·trials (Wilson's interval): it chooses, and proves nothing.
func upperEstimate(rate float64, trials int, tail float64) float64 {
	z, n := normalQuantile(1-tail), float64(trials)
	return min(1, (rate+z*z/(2*n)+z*math.Sqrt(rate*(1-rate)/n+z*z/(4*n*n)))/(1+z*z/n))
}

// Split takes every n-th score as a hold-out, and the rest to be counted.
func (s Scores) Split(n int) (holdOut, counted Scores, err error) {
	if n < 2 {
		return s, s, fmt.Errorf("audit: every %d-th score as a hold-out leaves none to count: at least 2", n)
	}
	split := func(scores []float64) (a, b []float64) {
		for i, v := range scores {
			if i%n == 0 {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
		return a, b
	}
	holdOut.Without, counted.Without = split(s.Without)
	holdOut.With, counted.With = split(s.With)
	return holdOut, counted, counted.check()
}

// Audit is the whole of it: a threshold from the hold-out, mistakes counted on the others, and their bound.
func Audit(holdOut, counted Scores, delta, confidence float64) (Bound, Errors, error) {
	if err := checkLevel(delta, confidence); err != nil {
		return Bound{}, Errors{}, err
	}
	if err := counted.check(); err != nil {
		return Bound{}, Errors{}, err
	}
	t, err := holdOut.Choose(Directly(min(len(counted.Without), len(counted.With)), delta, confidence))
	if err != nil {
		return Bound{}, Errors{}, err
	}
	e, err := counted.Count(t)
	if err != nil {
		return Bound{}, Errors{}, err
	}
	b, err := e.Bound(delta, confidence)
	return b, e, err
}
