package statement

import (
	"fmt"

	"hubbub/accountant"
)

// Range of noise over a clip that is tried. Below it nothing is hidden, above it nothing is left to learn.
const (
	leastNoise = 1e-2
	mostNoise  = 1 << 20
)

// Calibrate chooses the smallest noise that meets epsilon at the facts' delta against the adversary, for the
// facts' unit. It returns the facts with that noise.
func (f Facts) Calibrate(epsilon float64, adversary Adversary) (Facts, error) {
	f.Noise = 1 // the list of events depends on everything but the noise
	v := f.View(adversary, f.Unit)
	if v.Why != "" {
		return Facts{}, fmt.Errorf("statement: no noise gives a guarantee against %s: %s", adversary, v.Why)
	}
	target := accountant.Target{Epsilon: epsilon, Delta: f.Delta - v.Failure - spentDelta(v.Tau, max(epsilon, usualEpsilon))}
	least, most := leastNoise, float64(mostNoise)
	if f.NoiseRange[1] > 0 {
		least, most = f.NoiseRange[0], f.NoiseRange[1]
	}
	chosen := least
	for i := range v.spent(f) {
		noise, _, err := accountant.Calibrate(target, func(noise float64) (accountant.About, error) {
			tried := f
			tried.Noise = noise
			v := tried.View(adversary, f.Unit)
			return v.about(v.spent(tried)[i]), nil
		}, least, most)
		if err != nil {
			return Facts{}, fmt.Errorf("statement: epsilon %g at delta %g against %s: %w", epsilon, f.Delta, adversary, err)
		}
		chosen = max(chosen, noise)
	}
	f.Noise = chosen
	return f, nil
}
