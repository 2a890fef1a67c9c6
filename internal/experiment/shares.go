package experiment

import (
	"math"

	"hubbub/accountant"
	"hubbub/mechanism"
	"hubbub/statement"
)

// skellam is the mechanism of the file, its rate left open.
func (f *Federation) skellam() mechanism.SkellamConfig {
	c := f.Config
	m := c.Privacy.Mechanism
	s := mechanism.SkellamConfig{
		Encoding: mechanism.Encoding{
			Dimension: f.Net.Size(), Clip: m.Clip, Granularity: m.Granularity, Bits: m.Bits, Rotate: m.Rotate, RotationKey: f.key.Derive("rotation"),
		},
		Crowd:    mechanism.Crowd{Noise: mechanism.Exact, Shares: max(1, f.Facts.MinSurvivors), Clients: f.largestCohort()},
		Rounding: mechanism.Rounding(m.Rounding), K: m.K, Bound: accountant.SkellamBound(m.Bound),
	}
	if c.Secagg.Noise == "minimum" {
		s.Noise = mechanism.ByShares
	}
	return s
}

// largestCohort is a size that a cohort exceeds with probability below 1e-6 (Chernoff); a larger one could only
// overflow the bits, and would leak nothing.
func (f *Federation) largestCohort() int {
	if !f.Facts.Poisson {
		return int(f.Facts.CohortSize)
	}
	m, tail := f.Facts.CohortSize, math.Log(1e6)
	return min(f.Facts.Clients, int(math.Ceil(m+tail/3+math.Sqrt(tail*tail/9+2*m*tail))))
}

// presumedDistance is more than any sampler is off in a round; the calibration counts on it, and the real one is checked later.
const presumedDistance = 1e-20

// shareNoise states the facts of shares of integer noise.
func (f *Federation) shareNoise() error {
	c := f.Config
	f.Facts.Protection = statement.Distributed
	f.Facts.Aggregated = c.Secagg.Kind == "ideal"
	f.Facts.ExactTotal = c.Secagg.Noise == "exact"
	f.Facts.Distance = presumedDistance // until the mechanism is there to be asked
	s := f.skellam()
	if _, err := s.EventAt(1); err != nil {
		return c.refuse("privacy.mechanism", "is impossible: %v", err)
	}
	f.Facts.Total = func(rate float64) accountant.Event {
		event, err := s.EventAt(rate)
		if err != nil {
			return accountant.None{} // the settings were checked above: only an impossible rate is left
		}
		return event
	}
	f.Facts.Share = func(rate float64) accountant.Event { return f.Facts.Total(rate / float64(s.Shares)) }
	return nil
}
