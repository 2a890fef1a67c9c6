package algorithm

import (
	"fmt"
	"math"
)

// Schedule says what becomes of a learning rate from round to round. It depends on the number of the round alone, never on data, so it
// costs no privacy. The zero value leaves the rate as it is.
type Schedule struct {
	Kind   string  // constant, linear, cosine, step or inverse-sqrt; default constant
	Warmup int     // the rate grows evenly over so many first rounds
	Rounds int     // of the run; linear and cosine end there
	Final  float64 // linear, cosine: the part of the rate that they fall towards
	Every  int     // step: so many rounds between two steps
	Drop   float64 // step: what is left after each
}

// Check refuses what has no meaning.
func (s Schedule) Check() error {
	switch {
	case s.Warmup < 0:
		return fmt.Errorf("algorithm: warmup of %d rounds: must be at least 0", s.Warmup)
	case (s.Kind == "linear" || s.Kind == "cosine") && s.Rounds <= s.Warmup:
		return fmt.Errorf("algorithm: schedule %s over %d rounds, of which %d are warmup: some must be left", s.Kind, s.Rounds, s.Warmup)
	case !(s.Final >= 0 && s.Final <= 1):
		return fmt.Errorf("algorithm: schedule %s ends at %g of the rate: must be from 0 to 1", s.Kind, s.Final)
	case s.Kind == "step" && (s.Every < 1 || !(s.Drop > 0 && s.Drop < 1)):
		return fmt.Errorf("algorithm: schedule step leaves %g of the rate every %d rounds: must be between 0 and 1, and at least 1", s.Drop, s.Every)
	}
	switch s.Kind {
	case "", "constant", "linear", "cosine", "step", "inverse-sqrt":
		return nil
	}
	return fmt.Errorf("algorithm: schedule %q is none of constant, linear, cosine, step, inverse-sqrt", s.Kind)
}

// Factor is the part of the rate that is left in a round, counted from 1: above 0, and at most 1.
func (s Schedule) Factor(round int) float64 {
	if round <= s.Warmup {
		return float64(round) / float64(s.Warmup)
	}
	past := float64(round - s.Warmup - 1)                 // rounds since the warmup
	progress := past / float64(max(1, s.Rounds-s.Warmup)) // below 1 in the last round, so that none goes by without a step
	switch s.Kind {
	case "linear":
		return 1 - (1-s.Final)*progress
	case "cosine":
		return s.Final + (1-s.Final)*(1+math.Cos(math.Pi*progress))/2
	case "step":
		return math.Pow(s.Drop, math.Floor(past/float64(s.Every)))
	case "inverse-sqrt": // Vaswani et al. 2017, section 5.3
		return math.Sqrt(float64(max(1, s.Warmup)) / float64(round))
	}
	return 1
}
