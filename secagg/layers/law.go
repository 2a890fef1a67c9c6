// Package layers cuts a client's noise into layers so that the noise of a sum does not depend on how many clients came.
//
// If every client of a cohort of U adds a share L/U, each dropout takes noise away; if it adds more, a full cohort drowns. Here a
// client adds a base layer of L/U and, for k = 1 ... T, a layer of L/((U-k+1)·(U-k)), each from a seed of its own. After
// D <= T dropouts the layers 0 ... D are kept and the server takes the others out again, by seeds that the survivors reveal:
//
//	1/U + ∑_{k=1..D} 1/((U-k+1)·(U-k)) = 1/(U-D)
//
// so U-D survivors hold L together, exactly, for every D. L is any parameter that adds up: the rate of a [Skellam], the variance of a
// [Gaussian], the trials of a [Binomial]. A discrete Gaussian is no such law (the sum of two is not one), nor is Laplace:
// they are refused.
//
// # What is fixed, and when
//
// Before any cohort is known: the noise L that must stay unknown to the adversary, the minimum of survivors M and the colluders c.
// From these follows the total in every release, L·M/(M-c). The cohort's size U is known when the round begins (with Poisson sampling it is random),
// and with it T = U-M and the rates of the layers. The number of dropouts is known when the masked contributions are
// in: more than T, and the round is abandoned before anything is unmasked. A cohort below M is never started. Both show
// that few clients came, so those who see the releases must not learn which rounds were abandoned, or it must be part of
// what they are said to know.
//
// # Who is protected
//
//   - public (sees releases): the total is L·M/(M-c) in every release, whoever was sampled and whoever dropped out, if every survivor
//     adds what it should. A colluder that adds nothing takes away at most what it would have known anyway.
//   - server, and clients that collude: they know the noise of up to c survivors. The rest is L·M/(M-c)·(m-c)/m for m
//     survivors, which is at least L because m >= M. It depends on m: who knows shares may not count on a constant total.
//
// The removed layers are independent of the kept ones, so their seeds tell nothing of the noise that stays. They must be
// revealed once only, for one signed set of survivors: two sets would give the server two sums with different noise.
//
// [JWC24] Jiang, Wang, Chen, Efficient Federated Learning with Dropout-Resilient Differential Privacy (Dordis), EuroSys 2024,
// arXiv:2209.12528: the XNoise law; the factor for colluders is ours, from the minimum of survivors.
package layers

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Family names a family of laws that adds up, and so what its parameter is.
type Family string

// The families that add up. A Gaussian that is rounded to a grid adds up only as far as the rounding allows: what rounds has to
// account for it. A Binomial needs whole numbers of trials in each layer.
const (
	Skellam  Family = "skellam"  // the parameter is the rate
	Gaussian Family = "gaussian" // the parameter is the variance
	Binomial Family = "binomial" // the parameter is the number of trials
)

// The refusals that a caller may want to tell apart, with errors.Is.
var (
	ErrFamily  = errors.New("layers: this noise does not add up")
	ErrSetting = errors.New("layers: no such law")
	ErrCohort  = errors.New("layers: the cohort is too small")
	ErrDropped = errors.New("layers: too many clients dropped out")
)

// MaxCohort keeps the number of seeds that a client shares within reason.
const MaxCohort = 1 << 14

// Config is what is fixed before any cohort is known.
type Config struct {
	Family       Family
	Hidden       float64 // L, the noise that colluders must not know, in the family's parameter
	MinSurvivors int     // M, fewer contributions than this are never unmasked
	Colluders    int     // c, clients whose noise the adversary knows, at most; below M
}

// Law is a checked Config.
type Law struct {
	config Config
	total  *big.Rat
}

// New checks a configuration.
func New(c Config) (*Law, error) {
	switch c.Family {
	case Skellam, Gaussian, Binomial:
	default:
		return nil, fmt.Errorf("%w: %q; only %s, %s and %s do: take one of them, or shares sized for the minimum of survivors",
			ErrFamily, c.Family, Skellam, Gaussian, Binomial)
	}
	switch {
	case !(c.Hidden > 0) || math.IsInf(c.Hidden, 1):
		return nil, fmt.Errorf("%w: noise of %g, which must be above 0 and finite", ErrSetting, c.Hidden)
	case c.MinSurvivors < 1 || c.MinSurvivors > MaxCohort:
		return nil, fmt.Errorf("%w: minimum of survivors %d outside [1, %d]", ErrSetting, c.MinSurvivors, MaxCohort)
	case c.Colluders < 0 || c.Colluders >= c.MinSurvivors:
		return nil, fmt.Errorf("%w: %d colluders among a minimum of %d survivors: at least one survivor must be honest",
			ErrSetting, c.Colluders, c.MinSurvivors)
	}
	total := new(big.Rat).SetFloat64(c.Hidden)
	total.Mul(total, big.NewRat(int64(c.MinSurvivors), int64(c.MinSurvivors-c.Colluders)))
	return &Law{c, total}, nil
}

// Total is the noise in every release, L·M/(M-c), rounded up.
func (l *Law) Total() float64 { return up(l.total) }

// Cohort cuts the noise for a cohort of U clients.
func (l *Law) Cohort(clients int) (*Layers, error) {
	if clients < l.config.MinSurvivors || clients > MaxCohort {
		return nil, fmt.Errorf("%w: %d clients outside [%d, %d], the minimum of survivors and the most that are allowed",
			ErrCohort, clients, l.config.MinSurvivors, MaxCohort)
	}
	layers := &Layers{law: l, clients: clients, rates: make([]float64, clients-l.config.MinSurvivors+1)}
	for k := range layers.rates {
		rate := new(big.Rat).Mul(l.total, fraction(clients, k))
		if l.config.Family == Binomial && !rate.IsInt() {
			return nil, fmt.Errorf("%w: %s trials in layer %d of a cohort of %d: binomial layers need whole numbers; use %s",
				ErrSetting, rate.RatString(), k, clients, Skellam)
		}
		layers.rates[k] = up(rate)
	}
	return layers, nil
}

// fraction is the part of the total in layer k of one of U clients.
func fraction(clients, k int) *big.Rat {
	if k == 0 {
		return big.NewRat(1, int64(clients))
	}
	return big.NewRat(1, int64(clients-k+1)*int64(clients-k))
}

// up rounds to the next float64 that is not smaller: noise is rounded in favour of privacy, by 2^-52 of itself at most.
func up(r *big.Rat) float64 {
	f, exact := r.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// down rounds to the next float64 that is not larger.
func down(r *big.Rat) float64 { return -up(new(big.Rat).Neg(r)) }
