package audit

import (
	"fmt"
	"math"
	"slices"
)

// Rule is an attack that speaks only when it is sure: "in" above In, "out" at Out or below, nothing in between. Infinite ends are
// never spoken of.
type Rule struct{ In, Out float64 }

// Sure counts what such an attack said. Large epsilons show in the tails, and an attack may look at both at once: privacy bounds the
// mass of either by e^epsilon times what the other input has there, and so it bounds their sum.
type Sure struct {
	Correct int `json:"correct"`
	Wrong   int `json:"wrong"`
	Trials  int `json:"trials"` // in which it could have been correct, and as many in which it could have been wrong
}

// Count counts what a rule says, that was chosen on other trials. To speak of both tails, it needs as many trials with the target
// as without.
func (r Rule) Count(s Scores) (Sure, error) {
	if err := s.check(); err != nil {
		return Sure{}, err
	}
	in, out := !math.IsInf(r.In, 1), !math.IsInf(r.Out, -1)
	switch {
	case math.IsNaN(r.In) || math.IsNaN(r.Out) || r.Out > r.In:
		return Sure{}, fmt.Errorf("audit: a rule that says out at %g and in above %g: the first must not exceed the second", r.Out, r.In)
	case len(s.Without) != len(s.With):
		return Sure{}, fmt.Errorf("audit: %d scores without the target and %d with it: as many of either kind are needed", len(s.Without), len(s.With))
	}
	var c Sure
	for i, v := range s.With {
		if u := s.Without[i]; in {
			c.Correct += one(v > r.In)
			c.Wrong += one(u > r.In)
		}
		if u := s.Without[i]; out {
			c.Correct += one(u <= r.Out)
			c.Wrong += one(v <= r.Out)
		}
	}
	c.Trials = len(s.With) * (one(in) + one(out))
	return c, nil
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Bound is the largest epsilon that these guesses rule out at delta: correct <= e^epsilon·wrong + delta, in rates. Two tails are two
// binomials; the sum of them has lighter tails than one binomial of the mean rate, from one count off its mean on [H56], so Clopper and
// Pearson's bounds hold. They are that far off at every confidence from a half on.
func (c Sure) Bound(delta, confidence float64) (Bound, error) {
	switch {
	case c.Trials < 1:
		return Bound{}, fmt.Errorf("audit: %d trials: at least one is needed", c.Trials)
	case c.Correct < 0 || c.Correct > c.Trials || c.Wrong < 0 || c.Wrong > c.Trials:
		return Bound{}, fmt.Errorf("audit: %d correct and %d wrong guesses: between 0 and %d, the trials", c.Correct, c.Wrong, c.Trials)
	}
	if err := checkLevel(delta, confidence); err != nil {
		return Bound{}, err
	}
	if confidence < 0.5 {
		return Bound{}, fmt.Errorf("audit: confidence %g: at least 0.5 is needed where two tails are counted together", confidence)
	}
	tail := (1 - confidence) / 2
	epsilon := func(correct, wrong int) float64 {
		return logRatio(lowerRate(correct, c.Trials, tail)-delta, upperRate(wrong, c.Trials, tail))
	}
	return Bound{Epsilon: epsilon(c.Correct, c.Wrong), Delta: delta, Confidence: confidence, Largest: epsilon(c.Trials, 0)}, nil
}

// logRatio is log(a/b), and 0 where that is less.
func logRatio(a, b float64) float64 {
	if a > b {
		return math.Log(a / b)
	}
	return 0
}

// holdOutTail makes the choice careful: of a million normal scores 0.3 let chance pick a threshold too far out, 0.05 does not.
const holdOutTail = 0.05

// ChooseRule finds the rule that should show most when so many trials of either kind are counted, on a hold-out, whose scores
// count for nothing else afterwards. It looks at one tail, at the other, and at both.
func (s Scores) ChooseRule(trials int, delta, confidence float64) (Rule, error) {
	if err := s.check(); err != nil {
		return Rule{}, err
	}
	without, with := slices.Sorted(slices.Values(s.Without)), slices.Sorted(slices.Values(s.With))
	never := Rule{math.Inf(1), math.Inf(-1)}
	best, chosen := 0.0, Rule{without[len(without)-1], math.Inf(-1)}
	// How many wrong guesses a side may make: none, and on from one in steps of an eighth.
	for wrong := 0; wrong < min(len(without), len(with)); wrong += 1 + wrong/8 {
		in := without[len(without)-1-wrong]
		out := math.Nextafter(with[wrong], math.Inf(-1))
		for _, r := range []Rule{{in, never.Out}, {never.In, out}, {in, out}} {
			if r.Out > r.In {
				continue
			}
			right, bad, sides := 0.0, 0.0, 0.0
			if r.In == in {
				right += share(len(with)-above(with, in), len(with))
				bad += share(len(without)-above(without, in), len(without))
				sides++
			}
			if r.Out == out {
				right += share(above(without, out), len(without))
				bad += share(above(with, out), len(with))
				sides++
			}
			right, bad = right/sides, bad/sides
			// What the hold-out itself leaves open counts too: no mistake there is no evidence of none at all.
			right = 1 - upperEstimate(1-right, sides*float64(len(with)), holdOutTail)
			bad = upperEstimate(bad, sides*float64(len(without)), holdOutTail)
			tail := (1 - confidence) / 2
			value := logRatio(1-upperEstimate(1-right, sides*float64(trials), tail)-delta, upperEstimate(bad, sides*float64(trials), tail))
			if value > best {
				best, chosen = value, r
			}
		}
	}
	return chosen, nil
}

func share(part, of int) float64 { return float64(part) / float64(of) }

// upperEstimate is about [UpperRate] of rate·trials (Wilson's interval): it chooses, and proves nothing.
func upperEstimate(rate, trials, tail float64) float64 {
	z := normalQuantile(1 - tail)
	return min(1, (rate+z*z/(2*trials)+z*math.Sqrt(rate*(1-rate)/trials+z*z/(4*trials*trials)))/(1+z*z/trials))
}

// Audit is the whole of it: a rule from the hold-out, its guesses counted on the others, and their bound.
func Audit(holdOut, counted Scores, delta, confidence float64) (Bound, Sure, error) {
	if err := checkLevel(delta, confidence); err != nil {
		return Bound{}, Sure{}, err
	}
	rule, err := holdOut.ChooseRule(len(counted.With), delta, confidence)
	if err != nil {
		return Bound{}, Sure{}, err
	}
	said, err := rule.Count(counted)
	if err != nil {
		return Bound{}, Sure{}, err
	}
	b, err := said.Bound(delta, confidence)
	return b, said, err
}
