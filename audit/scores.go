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

// Directly is the value of mistakes for [Scores.Choose]: the lower bound that so many trials of either kind would show if the
// rates were about those of the hold-out.
func Directly(trials int, delta, confidence float64) func(Errors) float64 {
	tail, n := (1-confidence)/2, float64(trials)
	return func(e Errors) float64 {
		fpr := upperEstimate(share(e.FalsePositives, e.Negatives), float64(e.Negatives), holdOutTail)
		fnr := upperEstimate(share(e.FalseNegatives, e.Positives), float64(e.Positives), holdOutTail)
		return epsilonOf(upperEstimate(fpr, n, tail), upperEstimate(fnr, n, tail), delta)
	}
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
