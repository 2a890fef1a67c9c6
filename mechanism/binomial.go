package mechanism

import (
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/noise"
)

// BinomialConfig describes a [Binomial] mechanism. Encoding.Granularity must be zero: Levels takes its place.
type BinomialConfig struct {
	Encoding
	Crowd
	Levels int     // k: the levels from -Clip to Clip that a weight is rounded to; odd, so that zero is one; required
	Trials int     // coins of each share; Trials·P must be a whole number; required
	P      float64 // chance of each coin; default 1/2
	Beta   float64 // as in [DiscreteGaussianConfig]
}

// Binomial is cpSGD: k-level stochastic quantisation, and every client adds Bin(Trials, P), less its mean. Coins add up: h shares
// are Bin(h·Trials, P).
//
// The paper bounds the norms after rounding with a part of delta; here conditional rounding holds them for certain. A binomial
// has no finite Renyi divergence: its price is a pair of epsilon and delta, exact in one dimension, a closed form beyond.
//
// Guarantee: for all cohorts with at least Shares honest contributions and all updates of one further client, or zeros instead of
// it, the sum modulo 2^Bits is a post-processing of the mechanism that Event prices. See [Skellam] for who may count on it.
//
// [ASYKM18] Agarwal, Suresh, Yu, Kumar, McMahan, cpSGD: communication-efficient and differentially-private distributed
// SGD, arXiv:1805.10559
type Binomial struct {
	*Integer
	event accountant.Event
}

// NewBinomial checks its settings; past here nothing re-checks.
func NewBinomial(c BinomialConfig) (*Binomial, error) {
	event, err := c.Event()
	if err != nil {
		return nil, err
	}
	c = c.filled()
	codec := newCodec(c.Encoding)
	if e, many := event.(accountant.CPSGD); many {
		codec.limit = int64(e.L2 * e.L2) // rounded down
	}
	base, err := newInteger(codec, c.Crowd, binomialPart(float64(c.Trials)*c.mostShares(), c.P))
	if err != nil {
		return nil, err
	}
	if base.share, err = newCentred(c.Trials, c.P); err != nil {
		return nil, err
	}
	if base.committee, err = newCentred(c.Trials*c.Shares, c.P); err != nil {
		return nil, err
	}
	base.together = func(n int) (sampler, error) { return newCentred(n*c.Trials, c.P) }
	return &Binomial{Integer: base, event: event}, nil
}

// filled has the default of P, and the granularity that follows from the levels.
func (c BinomialConfig) filled() BinomialConfig {
	if c.P == 0 {
		c.P = 0.5
	}
	c.Granularity = c.Clip / c.top()
	return c
}

// top is the largest level, in steps.
func (c BinomialConfig) top() float64 { return float64(c.Levels-1) / 2 }

// Event is the price of one round, for a calibration to try: it checks all but the bits.
func (c BinomialConfig) Event() (accountant.Event, error) {
	if c.Granularity != 0 {
		return nil, fmt.Errorf("mechanism: granularity %g: the binomial mechanism has levels instead, leave granularity out", c.Granularity)
	}
	c = c.filled()
	mean := float64(c.Trials) * c.P
	switch {
	case c.Levels < 3 || c.Levels%2 == 0 || c.Levels > 1<<30:
		return nil, fmt.Errorf("mechanism: %d levels must be an odd number in [3, 2^30], so that zero is one of them", c.Levels)
	case !(c.P > 0 && c.P < 1):
		return nil, fmt.Errorf("mechanism: p %g outside (0, 1)", c.P)
	case c.Trials < 1:
		return nil, fmt.Errorf("mechanism: %d trials: without a coin nothing is protected", c.Trials)
	case mean != math.Trunc(mean):
		return nil, fmt.Errorf("mechanism: %d trials with p %g have mean %g: it must be a whole number, to be taken off again", c.Trials, c.P, mean)
	}
	if err := check(c.Encoding, c.Crowd); err != nil {
		return nil, err
	}
	if most := max(c.Shares, c.Clients); c.Trials > 1<<50/most {
		return nil, fmt.Errorf("mechanism: %d trials in each of %d shares exceed 2^50", c.Trials, most)
	}
	if c.width() == 1 {
		if c.Beta != 0 {
			return nil, fmt.Errorf("mechanism: beta %g: in one dimension there is no norm to hold, leave it out", c.Beta)
		}
		return accountant.Binomial{Trials: c.Trials * c.Shares, P: c.P, Shift: int(c.top())}, nil
	}
	norm, err := conditionalNorm(c.Encoding, c.Beta)
	if err != nil {
		return nil, err
	}
	return accountant.CPSGD{
		Trials: c.Trials * c.Shares, P: c.P, L2: norm, Linf: c.top(), Dim: c.width(),
		L1: min(norm*math.Sqrt(float64(c.width())), norm*norm), // Cauchy-Schwarz; and |y| <= y² for integers
	}, nil
}

// Event is the price of one round.
func (b *Binomial) Event() accountant.Event { return b.event }

// centred is a binomial less its mean, a whole number.
type centred struct {
	*noise.Binomial
	mean int64
}

func newCentred(trials int, p float64) (*centred, error) {
	b, err := noise.NewBinomial(trials, p)
	return &centred{b, int64(math.Round(float64(trials) * p))}, err
}

// Add adds draws less their mean.
func (c *centred) Add(dst []int64, random *noise.Stream) {
	c.Binomial.Add(dst, random)
	for i := range dst {
		dst[i] -= c.mean
	}
}
