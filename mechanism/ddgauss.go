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
	if err := c.Encoding.check(); err != nil {
		return nil, err
	}
	if err := c.Crowd.check(); err != nil {
		return nil, err
	}
	if !(c.Sigma2 >= 0.25) || math.IsInf(c.Sigma2, 1) {
		return nil, fmt.Errorf("mechanism: sigma2 %g must be finite and at least 0.25: below, no bound is known for a sum of discrete Gaussians; use fewer shares or a smaller granularity", c.Sigma2)
	}
	norm, err := c.norm()
	if err != nil {
		return nil, err
	}
	codec := newCodec(c.Encoding)
	if c.Rounding != Stochastic {
		codec.limit = int64(norm * norm)
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
	event := accountant.DiscreteGaussianSum{Clients: c.Shares, Sigma2: c.Sigma2, L2: norm, Dim: c.width()}
	return &DiscreteGaussian{Integer: base, event: event}, nil
}

// norm bounds an update after rounding.
func (c *DiscreteGaussianConfig) norm() (float64, error) {
	switch c.Rounding {
	case "":
		c.Rounding = Conditional
	case Conditional, Stochastic:
	default:
		return 0, fmt.Errorf("mechanism: rounding %q is neither %q nor %q", c.Rounding, Stochastic, Conditional)
	}
	if c.Rounding == Stochastic {
		if c.Beta != 0 {
			return 0, fmt.Errorf("mechanism: beta %g belongs to rounding %q: leave it out", c.Beta, Conditional)
		}
		return RoundedNorm(c.width(), c.l2(), 0), nil
	}
	if c.Beta == 0 {
		c.Beta = math.Exp(-0.5)
	}
	// A draw is accepted with a probability of 1 - beta at least [KLS21].
	if !(c.Beta > 0 && c.Beta <= 1-minAcceptance) {
		return 0, fmt.Errorf("mechanism: beta %g outside (0, %g]: conditional rounding would hardly ever end", c.Beta, 1-minAcceptance)
	}
	return RoundedNorm(c.width(), c.l2(), c.Beta), nil
}

// Event is the price of one round.
func (g *DiscreteGaussian) Event() accountant.Event { return g.event }
