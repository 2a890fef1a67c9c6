package mechanism

import (
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/noise"
)

// DiscreteGaussianConfig describes a [DiscreteGaussian] mechanism. Zero fields take the stated default.
type DiscreteGaussianConfig struct {
	Encoding
	Crowd
	Sigma2   float64  // parameter of each share, about its variance in squared steps; required, at least 1/4
	Rounding Rounding // default Conditional
	// Beta is the chance that a draw of conditional rounding may exceed the norm it is held to; default e^-1/2, as in the paper.
	Beta float64
}

// DiscreteGaussian is the distributed discrete Gaussian mechanism: as [Skellam], but each client adds a discrete Gaussian.
//
// The sum of discrete Gaussians is not one, for which the event charges each dimension a little, and the norm counts after
// rounding: held to a bound by conditional rounding, or as large as stochastic rounding can make it.
//
// Guarantee: for all cohorts with at least Shares honest contributions and all updates of one further client, or zeros instead of
// it, the sum modulo 2^Bits is a post-processing of the mechanism that Event prices. See [Skellam] for who may count on it.
//
// [KLS21] Kairouz, Liu, Steinke, The distributed discrete Gaussian mechanism for federated learning with secure
// aggregation, arXiv:2102.06387
type DiscreteGaussian struct {
	*Integer
	event accountant.DiscreteGaussianSum
}

// NewDiscreteGaussian checks its settings; past here nothing re-checks.
func NewDiscreteGaussian(c DiscreteGaussianConfig) (*DiscreteGaussian, error) {
	event, err := c.Event()
	if err != nil {
		return nil, err
	}
	codec := newCodec(c.Encoding)
	if c.Rounding != Stochastic {
		codec.limit = int64(event.L2 * event.L2) // rounded down
	}
	// A discrete Gaussian is sub-Gaussian with variance sigma2 (Canonne, Kamath, Steinke 2020, arXiv:2004.00010).
	base, err := newInteger(codec, c.Crowd, subGaussian(c.Sigma2*c.mostShares()))
	if err != nil {
		return nil, err
	}
	// The law of a sum of shares has no sampler of its own: they are drawn one after the other, a committee's too.
	if base.share, err = noise.NewDiscreteGaussian(c.Sigma2); err != nil {
		return nil, err
	}
	return &DiscreteGaussian{Integer: base, event: event}, nil
}

// Event is the price of one round, for a calibration to try: it checks all but the bits.
func (c DiscreteGaussianConfig) Event() (accountant.DiscreteGaussianSum, error) {
	var none accountant.DiscreteGaussianSum
	if err := check(c.Encoding, c.Crowd); err != nil {
		return none, err
	}
	if !(c.Sigma2 >= 0.25) || math.IsInf(c.Sigma2, 1) {
		return none, fmt.Errorf("mechanism: sigma2 %g must be finite and at least 0.25: below, no bound is known for a sum of discrete Gaussians; use fewer shares or a smaller granularity", c.Sigma2)
	}
	norm := RoundedNorm(c.width(), c.l2(), 0)
	switch c.Rounding {
	case Stochastic:
		if c.Beta != 0 {
			return none, fmt.Errorf("mechanism: beta %g belongs to rounding %q: leave it out", c.Beta, Conditional)
		}
	case "", Conditional:
		var err error
		if norm, err = conditionalNorm(c.Encoding, c.Beta); err != nil {
			return none, err
		}
	default:
		return none, fmt.Errorf("mechanism: rounding %q is neither %q nor %q", c.Rounding, Stochastic, Conditional)
	}
	return accountant.DiscreteGaussianSum{Clients: c.Shares, Sigma2: c.Sigma2, L2: norm, Dim: c.width()}, nil
}

// conditionalNorm is the norm that a draw exceeds with a probability of at most beta, 0 meaning the paper's e^-1/2 [KLS21].
func conditionalNorm(e Encoding, beta float64) (float64, error) {
	if beta == 0 {
		beta = math.Exp(-0.5)
	}
	if !(beta > 0 && beta <= 1-minAcceptance) {
		return 0, fmt.Errorf("mechanism: beta %g outside (0, %g]: conditional rounding would hardly ever end", beta, 1-minAcceptance)
	}
	// Below 1 only zeros would pass, and a limit of zero steps means none: 1 is the least that says something.
	return max(1, RoundedNorm(e.width(), e.l2(), beta)), nil
}

// Event is the price of one round.
func (g *DiscreteGaussian) Event() accountant.Event { return g.event }
