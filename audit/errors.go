package audit

import (
	"fmt"
	"math"
)

// Errors counts the mistakes of an attack. A positive is a trial in which the target was in, a negative one in which it was not.
type Errors struct {
	FalsePositives int `json:"false_positives"` // "it is in", in trials without it
	Negatives      int `json:"negatives"`       // trials without it
	FalseNegatives int `json:"false_negatives"` // "it is not", in trials with it
	Positives      int `json:"positives"`       // trials with it
}

// Bound is what an audit found: with this confidence no epsilon below Epsilon holds at Delta.
type Bound struct {
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`
	Confidence float64 `json:"confidence"`
	Largest    float64 `json:"largest_auditable"` // what an attack without a mistake would have shown in as many trials
	// Upper bounds on the rates, which hold together with the confidence; of [Errors] only.
	FalsePositiveRate float64 `json:"false_positive_rate_at_most,omitempty"`
	FalseNegativeRate float64 `json:"false_negative_rate_at_most,omitempty"`
}

// Bound is the largest epsilon that the mistakes rule out at delta. Half of what the confidence leaves goes to either rate.
func (e Errors) Bound(delta, confidence float64) (Bound, error) {
	if err := e.check(); err != nil {
		return Bound{}, err
	}
	if err := checkLevel(delta, confidence); err != nil {
		return Bound{}, err
	}
	tail := (1 - confidence) / 2
	b := Bound{Delta: delta, Confidence: confidence}
	b.FalsePositiveRate = upperRate(e.FalsePositives, e.Negatives, tail)
	b.FalseNegativeRate = upperRate(e.FalseNegatives, e.Positives, tail)
	b.Epsilon = epsilonOf(b.FalsePositiveRate, b.FalseNegativeRate, delta)
	b.Largest = epsilonOf(upperRate(0, e.Negatives, tail), upperRate(0, e.Positives, tail), delta)
	return b, nil
}

// Largest is the largest epsilon that so many trials of either kind can show: that of an attack which is never wrong.
func Largest(trials int, delta, confidence float64) (float64, error) {
	b, err := Errors{Negatives: trials, Positives: trials}.Bound(delta, confidence)
	return b.Epsilon, err
}

func (e Errors) check() error {
	for _, c := range []struct {
		name          string
		wrong, trials int
	}{{"false positives", e.FalsePositives, e.Negatives}, {"false negatives", e.FalseNegatives, e.Positives}} {
		switch {
		case c.trials < 1:
			return fmt.Errorf("audit: %d trials to count %s in: at least one is needed", c.trials, c.name)
		case c.wrong < 0:
			return fmt.Errorf("audit: %d %s: a count must be at least 0", c.wrong, c.name)
		case c.wrong > c.trials:
			return fmt.Errorf("audit: %d %s in %d trials: there cannot be more mistakes than trials", c.wrong, c.name, c.trials)
		}
	}
	return nil
}

func checkLevel(delta, confidence float64) error {
	if !(delta >= 0 && delta < 1) {
		return fmt.Errorf("audit: delta %g outside [0, 1)", delta)
	}
	return checkConfidence(confidence)
}

func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("audit: confidence %g outside (0, 1): use 0.95, say", confidence)
	}
	return nil
}

// Epsilon is the largest epsilon that an attack with these rates rules out at delta: (epsilon, delta)-privacy asks for
// FPR + e^epsilon FNR >= 1 - delta and the same with the rates exchanged [KOV15, Theorem 2.1]. Not below 0.
func Epsilon(falsePositiveRate, falseNegativeRate, delta float64) (float64, error) {
	for _, rate := range []float64{falsePositiveRate, falseNegativeRate} {
		if !(rate >= 0 && rate <= 1) {
			return 0, fmt.Errorf("audit: rate %g outside [0, 1]", rate)
		}
	}
	if err := checkLevel(delta, 0.5); err != nil {
		return 0, err
	}
	return epsilonOf(falsePositiveRate, falseNegativeRate, delta), nil
}

func epsilonOf(fpr, fnr, delta float64) float64 {
	one := func(small, other float64) float64 {
		if rest := 1 - delta - other; rest > small {
			return math.Log(rest / small)
		}
		return 0
	}
	return max(one(fpr, fnr), one(fnr, fpr))
}
