package pld

import (
	"fmt"
	"math"
)

// Pair is a dominating pair (P, Q) of output distributions: P with the protected data, Q without it.
// The direction "remove" compares P to Q; "add" compares Q to P.
type Pair struct {
	law       lossLaw
	symmetric bool // the privacy loss has the same law in both directions
	// atoms are two losses of large mass; a grid that holds both, and so all multiples of their distance, does not
	// have to move that mass. Equal: there is none.
	atoms [2]float64
}

// lossLaw is the distribution of L = ln(dP/dQ) under both P and Q.
type lossLaw interface {
	// tails splits the masses at a loss. An atom exactly at the loss may be counted on either side, as long as one
	// law always decides alike. At +Inf above is the mass of infinite loss; at -Inf below is that of loss -infinity.
	tails(loss float64) tails
}

// tails holds the masses of P and Q above and below a loss, each with a small relative error.
type tails struct {
	pAbove, pBelow float64
	qAbove, qBelow float64
}

// Poisson returns the pair of a mechanism that sees the protected data only with probability rate, for add-remove
// adjacency: P' = (1-rate)·Q + rate·P against Q [ZDW22].
func Poisson(p Pair, rate float64) (Pair, error) {
	if err := checkRate(rate); err != nil {
		return Pair{}, err
	}
	if rate == 1 {
		return p, nil
	}
	s := poisson{p.law, rate}
	return Pair{law: s, atoms: [2]float64{s.loss(p.atoms[0]), s.loss(p.atoms[1])}}, nil
}

// WithoutReplacement returns the pair of a mechanism that runs on a random subset of fixed size, a share rate of all
// records, for replace-one adjacency: the trade-off function C_rate(f) of Dong, Roth, Su, Gaussian Differential
// Privacy, arXiv:1905.02383, Theorem 4.2. It needs a pair with the same loss in both directions, such as
// [Gaussian], whose noise multiplier here is relative to the sensitivity under replacement.
func WithoutReplacement(p Pair, rate float64) (Pair, error) {
	if err := checkRate(rate); err != nil {
		return Pair{}, err
	}
	if !p.symmetric {
		return Pair{}, fmt.Errorf("pld: sampling without replacement needs a mechanism whose loss is the same in both directions; sample this one by Poisson")
	}
	if rate == 1 {
		return p, nil
	}
	remove := poisson{p.law, rate}
	return Pair{law: symmetrized{remove, reversed{remove}}, symmetric: true}, nil
}

func checkRate(rate float64) error {
	if !(rate > 0 && rate <= 1) {
		return fmt.Errorf("pld: sampling rate %g outside (0, 1]; leave out a mechanism that never sees the data", rate)
	}
	return nil
}

// reversed is the same pair with P and Q exchanged: the loss changes its sign.
type reversed struct{ lossLaw }

func (r reversed) tails(loss float64) tails {
	t := r.lossLaw.tails(-loss)
	return tails{pAbove: t.qBelow, pBelow: t.qAbove, qAbove: t.pBelow, qBelow: t.pAbove}
}

// poisson mixes P into Q. The new loss ln(1-rate+rate·e^L) grows with L, so an event about one is an event about
// the other.
type poisson struct {
	base lossLaw
	rate float64
}

func (s poisson) tails(loss float64) tails {
	if loss <= math.Log1p(-s.rate) { // the new loss is never smaller than that
		return tails{pAbove: 1, qAbove: 1}
	}
	t := s.base.tails(s.baseLoss(loss))
	return tails{
		pAbove: (1-s.rate)*t.qAbove + s.rate*t.pAbove,
		pBelow: (1-s.rate)*t.qBelow + s.rate*t.pBelow,
		qAbove: t.qAbove,
		qBelow: t.qBelow,
	}
}

// loss is the one that a base loss becomes.
func (s poisson) loss(base float64) float64 {
	if base > 30 { // e^base would overflow long before the result does
		return base + math.Log(s.rate) + math.Log1p((1-s.rate)/s.rate*math.Exp(-base))
	}
	return math.Log1p(s.rate * math.Expm1(base))
}

// baseLoss undoes loss.
func (s poisson) baseLoss(loss float64) float64 {
	if loss > 30 { // e^loss would overflow long before the result does
		return loss - math.Log(s.rate) + math.Log1p(-(1-s.rate)*math.Exp(-loss))
	}
	return math.Log1p(math.Expm1(loss) / s.rate)
}

// symmetrized has delta(eps) = max of both directions of a pair whose "remove" direction is the larger one for
// eps >= 0: losses above zero are those of remove, losses below zero those of add, and what is left is
// an atom at zero, of the same mass under P and Q.
type symmetrized struct {
	remove lossLaw
	add    lossLaw
}

func (s symmetrized) tails(loss float64) tails {
	if loss >= 0 {
		t := s.remove.tails(loss)
		return tails{pAbove: t.pAbove, pBelow: 1 - t.pAbove, qAbove: t.qAbove, qBelow: 1 - t.qAbove}
	}
	t := s.add.tails(loss)
	return tails{pAbove: 1 - t.pBelow, pBelow: t.pBelow, qAbove: 1 - t.qBelow, qBelow: t.qBelow}
}
