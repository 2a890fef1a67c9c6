package accountant

import (
	"fmt"
	"math"
)

// positive refuses what is not a finite number above zero. NaN fails every comparison, hence the "not" form.
func positive(kind, key string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s: %s %g must be finite and greater than 0", kind, key, v)
	}
	return nil
}

func atLeastOne(kind, key string, n int) error {
	if n < 1 {
		return fmt.Errorf("%s: %s %d must be at least 1", kind, key, n)
	}
	return nil
}

func share(kind, key string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s: %s %g outside [0, 1]", kind, key, v)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func nested(kind string, e Event) error {
	if e == nil {
		return fmt.Errorf("%s: has no event inside", kind)
	}
	if err := e.check(); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

func (e Gaussian) check() error { return positive(e.kind(), "noise_multiplier", e.NoiseMultiplier) }
func (e Laplace) check() error {
	if e.Dim < 0 {
		return fmt.Errorf("%s: dim %d must be at least 1", e.kind(), e.Dim)
	}
	return positive(e.kind(), "scale", e.Scale)
}

func (e Skellam) check() error {
	switch e.Bound {
	case "", SkellamExact, SkellamDSM, SkellamAKL:
	default:
		return fmt.Errorf("skellam: bound %q unknown: exact, dsm or akl", e.Bound)
	}
	if e.Linf != 0 && !(e.Linf <= e.L2) {
		return fmt.Errorf("skellam: linf %g exceeds l2 %g: no vector is like that", e.Linf, e.L2)
	}
	if e.Linf != 0 && e.Linf < 1 {
		return fmt.Errorf("skellam: linf %g below 1: integer vectors move by whole steps (for real vectors use rounded_skellam)", e.Linf)
	}
	if e.L2 < 1 && e.L2 > 0 {
		return fmt.Errorf("skellam: l2 %g below 1: integer vectors move by whole steps (for real vectors use rounded_skellam)", e.L2)
	}
	return firstError(positive(e.kind(), "rate", e.Rate), positive(e.kind(), "l2", e.L2))
}

func (e RoundedSkellam) check() error {
	return firstError(positive(e.kind(), "rate", e.Rate), positive(e.kind(), "l2", e.L2))
}

func (e SMM) check() error {
	return firstError(positive(e.kind(), "rate", e.Rate), positive(e.kind(), "c", e.C), positive(e.kind(), "linf", e.Linf))
}

func (e DiscreteGaussian) check() error {
	return firstError(positive(e.kind(), "sigma2", e.Sigma2), positive(e.kind(), "l2", e.L2))
}

func (e DiscreteGaussianSum) check() error {
	return firstError(atLeastOne(e.kind(), "clients", e.Clients), positive(e.kind(), "sigma2", e.Sigma2),
		positive(e.kind(), "l2", e.L2), atLeastOne(e.kind(), "dim", e.Dim))
}

// maxTrials keeps the exact sums over a binomial's support within memory and float precision.
const maxTrials = 1 << 26

func (e Binomial) check() error {
	if e.Trials > maxTrials {
		return fmt.Errorf("binomial: trials %d above %d: use cpsgd, whose price is a closed form", e.Trials, maxTrials)
	}
	if !(e.P > 0 && e.P < 1) {
		return fmt.Errorf("binomial: p %g outside (0, 1)", e.P)
	}
	return firstError(atLeastOne(e.kind(), "trials", e.Trials), atLeastOne(e.kind(), "shift", e.Shift))
}

func (e CPSGD) check() error {
	if !(e.P > 0 && e.P < 1) {
		return fmt.Errorf("cpsgd: p %g outside (0, 1)", e.P)
	}
	return firstError(atLeastOne(e.kind(), "trials", e.Trials), positive(e.kind(), "l1", e.L1), positive(e.kind(), "l2", e.L2),
		positive(e.kind(), "linf", e.Linf), atLeastOne(e.kind(), "dim", e.Dim))
}

func (e Waterfill) check() error {
	return sampling(e.kind(), e.Clients, e.Records, e.Batch, e.Clip, "variance", e.Variance)
}

func (e GaussianSampling) check() error {
	return sampling(e.kind(), e.Clients, e.Records, e.Batch, e.Clip, "variance", e.Variance)
}

func (e Subspace) check() error {
	return sampling(e.kind(), e.Clients, e.Records, e.Batch, e.Clip, "eigenvalue", e.Eigenvalue)
}

func sampling(kind string, clients, records int, batch, clip float64, key string, v float64) error {
	return firstError(atLeastOne(kind, "clients", clients), atLeastOne(kind, "records", records),
		positive(kind, "batch", batch), positive(kind, "clip", clip), positive(kind, key, v))
}

func (e GDP) check() error { return positive(e.kind(), "mu", e.Mu) }

func (None) check() error { return nil }

func (e Unsound) check() error {
	if e.Why == "" {
		return fmt.Errorf("unsound: why is empty: say what is wrong with the published guarantee")
	}
	return nil
}

func (e Poisson) check() error {
	return firstError(share(e.kind(), "rate", e.Rate), nested(e.kind(), e.Event))
}

func (e WithoutReplacement) check() error {
	return firstError(share(e.kind(), "rate", e.Rate), nested(e.kind(), e.Event))
}

func (e Repeat) check() error {
	if e.Count < 0 {
		return fmt.Errorf("repeat: count %d must be at least 0", e.Count)
	}
	return nested(e.kind(), e.Event)
}

func (e Compose) check() error {
	for i, part := range e {
		if err := nested(fmt.Sprintf("compose[%d]", i), part); err != nil {
			return err
		}
	}
	return nil
}
