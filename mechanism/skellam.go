package mechanism

import (
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/noise"
)

// SkellamConfig describes a [Skellam] mechanism. Zero fields take the stated default.
type SkellamConfig struct {
	Encoding
	Crowd
	Rate     float64                 // L: the total of Shares shares is the difference of two Poisson numbers of this rate; required
	Rounding Rounding                // default Stochastic
	K        float64                 // conditional rounding keeps the norm below K·Clip/Granularity; required for it
	Bound    accountant.SkellamBound // which proof prices conditional rounding; default the exact one
}

// Skellam is the distributed Skellam mechanism of paper 002: updates become integers, and each client adds the difference of
// two Poisson numbers of rate L/h. Such differences add up to one of rate L as soon as h honest clients are in the sum.
//
// Guarantee: for all cohorts with at least Shares honest contributions and all updates of one further client, or zeros instead of
// it, the sum modulo 2^Bits is a post-processing of the mechanism that Event prices. With stochastic rounding that is the rounding
// itself together with the noise, so the L2 norm counts before rounding; with conditional rounding it is the noise alone,
// and the norm after rounding counts. Under ByShares this is against those who know who took part, without amplification by
// sampling; under Exact the total noise is the same with or without the client, and sampling may amplify.
type Skellam struct {
	*Integer
	event accountant.Event
}

// NewSkellam checks its settings; past here nothing re-checks.
func NewSkellam(c SkellamConfig) (*Skellam, error) {
	event, err := c.Event()
	if err != nil {
		return nil, err
	}
	codec := newCodec(c.Encoding)
	if e, conditional := event.(accountant.Skellam); conditional {
		codec.limit = int64(e.L2 * e.L2) // rounded down
	}
	base, err := newSkellamNoise(codec, c.Crowd, c.Rate)
	if err != nil {
		return nil, err
	}
	return &Skellam{Integer: base, event: event}, nil
}

// newSkellamNoise makes a mechanism whose shares are Skellam numbers of rate L/h.
func newSkellamNoise(codec *codec, crowd Crowd, rate float64) (*Integer, error) {
	perShare := rate / float64(crowd.Shares) // λ = L/h
	m, err := newInteger(codec, crowd, skellamPart(perShare*crowd.mostShares()))
	if err != nil {
		return nil, err
	}
	if m.share, err = noise.NewSkellam(perShare); err != nil {
		return nil, err
	}
	if m.committee, err = noise.NewSkellam(rate); err != nil {
		return nil, err
	}
	m.part = func(of float64) (sampler, error) { return noise.NewSkellam(rate * of) }
	// n shares are one Skellam number of n times the rate: the same law, drawn once.
	m.together = func(n int) (sampler, error) { return noise.NewSkellam(perShare * float64(n)) }
	return m, nil
}

func checkRate(rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("mechanism: rate %g must be finite and greater than 0: without noise nothing is protected", rate)
	}
	return nil
}

// Event is the price of one round, for a calibration to try: it checks all but the bits.
func (c SkellamConfig) Event() (accountant.Event, error) {
	if err := check(c.Encoding, c.Crowd); err != nil {
		return nil, err
	}
	if err := checkRate(c.Rate); err != nil {
		return nil, err
	}
	switch c.Rounding {
	case "", Stochastic:
		if c.K != 0 || c.Bound != "" {
			return nil, fmt.Errorf("mechanism: k %g and bound %q belong to rounding %q: leave them out", c.K, c.Bound, Conditional)
		}
		return accountant.RoundedSkellam{Rate: c.Rate, L2: c.l2()}, nil
	case Conditional:
	default:
		return nil, fmt.Errorf("mechanism: rounding %q is neither %q nor %q", c.Rounding, Stochastic, Conditional)
	}
	if err := checkAcceptance(c.width(), c.l2(), c.K); err != nil {
		return nil, err
	}
	// No rounding exceeds the second bound, so a larger k promises nothing.
	norm := min(c.K*c.l2(), RoundedNorm(c.width(), c.l2(), 0))
	if norm < 1 {
		return nil, fmt.Errorf("mechanism: k·clip/granularity is %g: below 1 only zeros pass, use a smaller granularity than %g", norm, c.Granularity)
	}
	event := accountant.Skellam{Rate: c.Rate, L2: norm, Bound: c.Bound}
	switch c.Bound {
	case "", accountant.SkellamExact, accountant.SkellamAKL:
		// No coordinate exceeds the clip by a whole step.
		event.Linf = min(norm, math.Ceil(c.l2()))
	case accountant.SkellamDSM: // as Theorem 2 of the paper has it: no bound on a coordinate but the norm
	default:
		return nil, fmt.Errorf("mechanism: bound %q is none of %q, %q, %q", c.Bound, accountant.SkellamExact, accountant.SkellamDSM, accountant.SkellamAKL)
	}
	return event, nil
}

// Event is the price of one round.
func (s *Skellam) Event() accountant.Event { return s.event }

const (
	// rateHeadroom is what the certified price of rounding may ask of the rate beyond that of normal noise, for rates from 20 on.
	rateHeadroom = 1.1
	// minFitRate: with noise of less than about a step, the price of rounding departs from that of normal noise.
	minFitRate = 1
	// maxFitRate: finer grids gain nothing, and the accountant certifies their price with a wider margin.
	maxFitRate = 8e4
)

// FitGranularity chooses the finest useful granularity whose sums fit the bits, and the rate that gives the noise in the sum a
// standard deviation of noiseMultiplier times the clip. Granularity and Rate of c are not looked at. The rate leaves 10% to
// be raised by, as a calibration of the event will do.
func (c SkellamConfig) FitGranularity(noiseMultiplier float64) (granularity, rate float64, err error) {
	if !(noiseMultiplier > 0 && noiseMultiplier <= maxNoise) {
		return 0, 0, fmt.Errorf("mechanism: noise multiplier %g outside (0, %d]", noiseMultiplier, maxNoise)
	}
	c.Granularity = c.Clip
	if err := check(c.Encoding, c.Crowd); err != nil {
		return 0, 0, err
	}
	grid := func(rate float64) float64 { return noiseMultiplier * c.Clip / math.Sqrt(2*rate) } // 2L = (zC/g)²
	sums := func(logRate float64) spread {
		e, rate := c.Encoding, math.Exp(logRate)
		e.Granularity = grid(rate)
		part := skellamPart(rateHeadroom * rate / float64(c.Shares) * c.mostShares())
		return sumSpread(e, shape{reach: e.l2(), biased: c.Rounding == Conditional}, c.Clients, part)
	}
	most := maxOverflow
	if c.AllowOverflow {
		most = allowedOverflow
	}
	fits := func(logRate float64) bool { return sums(logRate).overflow(c.Bits) <= most }
	lo, hi := math.Log(minFitRate), math.Log(maxFitRate)
	if !fits(lo) {
		return 0, 0, fmt.Errorf("mechanism: %d bits are %w for %d clients at any useful granularity: %d would do at %.3g", c.Bits, ErrTooFewBits, c.Clients, sums(lo).bits(), grid(minFitRate))
	}
	if fits(hi) {
		return grid(maxFitRate), maxFitRate, nil
	}
	for hi-lo > 1e-6 {
		if mid := (lo + hi) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	rate = math.Exp(lo)
	return grid(rate), rate, nil
}
