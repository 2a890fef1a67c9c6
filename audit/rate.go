package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// UpperRate bounds a rate from above after so many of the trials were counted: the true rate is larger with a probability of at
// most tail [CP34]. It is the quantile 1-tail of Beta(count+1, trials-count).
func UpperRate(count, trials int, tail float64) (float64, error) {
	if err := checkCount(count, trials, tail); err != nil {
		return 0, err
	}
	return upperRate(count, trials, tail), nil
}

// LowerRate bounds a rate from below: the true rate is smaller with a probability of at most tail.
func LowerRate(count, trials int, tail float64) (float64, error) {
	if err := checkCount(count, trials, tail); err != nil {
		return 0, err
	}
	return lowerRate(count, trials, tail), nil
}

func checkCount(count, trials int, tail float64) error {
	switch {
	case trials < 1:
		return fmt.Errorf("audit: %d trials: at least one is needed", trials)
	case count < 0 || count > trials:
		return fmt.Errorf("audit: %d of %d trials were counted: the count must be between 0 and the trials", count, trials)
	case !(tail > 0 && tail < 1):
		return fmt.Errorf("audit: tail probability %g outside (0, 1)", tail)
	}
	return nil
}

// upperRate narrows down the p at which P[Bin(trials, p) <= count], which falls in p, is tail. The upper end is returned, so
// that the bisection errs upwards; the incomplete beta function itself is good to some ten digits for millions of trials.
func upperRate(count, trials int, tail float64) float64 {
	switch {
	case count == trials:
		return 1
	case count == 0: // (1-p)^trials = tail
		return -math.Expm1(math.Log(tail) / float64(trials))
	}
	k, n := float64(count), float64(trials)
	lo, hi := k/n, 1.0
	for hi-lo > 1e-13*hi {
		mid := (lo + hi) / 2
		if mathext.RegIncBeta(n-k, k+1, 1-mid) > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func lowerRate(count, trials int, tail float64) float64 {
	return 1 - upperRate(trials-count, trials, tail)
}
