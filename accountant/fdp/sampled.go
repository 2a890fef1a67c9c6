package fdp

import (
	"fmt"
	"math"

	"hubbub/accountant/pld"
)

// Sampled is C_p(G_mu): the Gaussian mechanism on a random subset of fixed size, a share Rate of all records, when one
// record is replaced [DRS22, Theorem 4.2]. Mu is the sensitivity under replacement over the noise: a mechanism that
// clips to C and adds noise of C·sigma has Mu = 2/sigma here, since a replacement moves the sum by up to 2C.
type Sampled struct{ Mu, Rate float64 }

func (s Sampled) check() error {
	if err := checkMu(s.Mu); err != nil {
		return err
	}
	if !(s.Rate > 0 && s.Rate <= 1) {
		return fmt.Errorf("fdp: sampling rate %g outside (0, 1]", s.Rate)
	}
	return nil
}

// Tradeoff is the trade-off function of one run.
func (s Sampled) Tradeoff() (Function, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return symmetrizeAt(mixed(s), survival(s.Mu/2)), nil // the tangent has slope -1 there, whatever the rate
}

// mixed is f_p: with probability 1-p the record is not in the subset, and a test does no better than guessing.
type mixed Sampled

func (m mixed) Beta(alpha float64) float64 {
	return down(m.Rate*gaussian{m.Mu}.Beta(alpha) + (1-m.Rate)*(1-alpha))
}

// Pair is the same as a dominating pair, for compositions with other mechanisms.
func (s Sampled) Pair() (pld.Pair, error) {
	if err := s.check(); err != nil {
		return pld.Pair{}, err
	}
	base, err := pld.Gaussian(1 / s.Mu)
	if err != nil {
		return pld.Pair{}, err
	}
	return pld.WithoutReplacement(base, s.Rate)
}

// Epsilon brackets epsilon of count runs, C_p(G_mu) composed with itself.
func (s Sampled) Epsilon(count int, delta float64, o pld.Options) (pld.Bracket, error) {
	p, err := s.Pair()
	if err != nil {
		return pld.Bracket{}, err
	}
	return pld.Epsilon([]pld.Term{{Pair: p, Count: count}}, delta, o)
}

// Beta brackets the trade-off function of count runs.
func (s Sampled) Beta(count int, alpha float64, o pld.Options) (pld.Bracket, error) {
	p, err := s.Pair()
	if err != nil {
		return pld.Bracket{}, err
	}
	return pld.Tradeoff([]pld.Term{{Pair: p, Count: count}}, alpha, o)
}

// LimitMu is the mu that count runs approach by the central limit theorem [DRS22, Corollary 5.4; ZCLS22, Theorem 2, whose
// sqrt(2c) is a misprint for c·sqrt(2)]. It is information, not a bound.
func (s Sampled) LimitMu(count int) (float64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	if count < 1 {
		return 0, fmt.Errorf("fdp: count %d is below 1", count)
	}
	// e^(mu²)·Φ(1.5mu) + 3Φ(-0.5mu) - 2, without the cancellation for small mu.
	m := s.Mu
	sum := math.Expm1(m*m)*survival(-1.5*m) + math.Erf(1.5*m/math.Sqrt2)/2 - 3*math.Erf(0.5*m/math.Sqrt2)/2
	return s.Rate * math.Sqrt(float64(count)) * math.Sqrt(2*max(0, sum)), nil
}

// PoissonLimitMu is the same limit for the Gaussian mechanism under Poisson sampling and add-remove adjacency. It is
// known to underestimate: information, not a bound.
func PoissonLimitMu(mu, rate float64, count int) (float64, error) {
	if err := (Sampled{mu, rate}).check(); err != nil {
		return 0, err
	}
	if count < 1 {
		return 0, fmt.Errorf("fdp: count %d is below 1", count)
	}
	return rate * math.Sqrt(float64(count)*math.Expm1(mu*mu)), nil
}
