package pld

import (
	"fmt"
	"math"
)

// Tradeoff brackets the smallest type II error of any test between the two neighbours that has type I error alpha, in
// the direction that is easier to tell. Lower is the guarantee. The tolerance is meant absolutely; default 1e-4.
func Tradeoff(terms []Term, alpha float64, o Options) (Bracket, error) {
	if !(alpha >= 0 && alpha <= 1) {
		return Bracket{}, fmt.Errorf("pld: type I error %g outside [0, 1]", alpha)
	}
	o, err := o.checked(1e-4)
	if err != nil {
		return Bracket{}, err
	}
	power, err := solve(terms, powerAt{alpha}, o, o.Tolerance)
	return Bracket{max(0, 1-power.Upper), max(0, 1-power.Lower)}, err
}

// powerAt asks for the power of the best test, one minus its type II error: the smallest delta(eps) + e^eps·alpha over
// all eps of either sign, so that a larger value is worse, as for every question here.
type powerAt struct{ alpha float64 }

func (q powerAt) unknown() Bracket { return Bracket{0, 1} }

func (q powerAt) tail(Bracket) float64 { return 1e-14 }

// tilt is zero: the bulk of the sum decides.
func (q powerAt) tilt(total, Bracket) float64 { return 0 }

// cost is e^eps·alpha, where an infinite one times zero is zero.
func (q powerAt) cost(eps float64) float64 {
	if q.alpha == 0 {
		return 0
	}
	return math.Exp(eps) * q.alpha
}

func (q powerAt) answer(up, down sum, count float64) Bracket {
	// At any eps the upper law's value is an upper bound.
	b := Bracket{0, 1}
	for k := range up.window.length {
		eps := up.loss(k)
		if v := up.upper(eps, count) + q.cost(eps); v < b.Upper {
			b.Upper = v
		}
	}
	// The lower law's value is linear in e^eps between its places, so its least value over all eps is at a place (moved
	// by the margin), or outside the window, where delta is at least 1 - e^eps or zero.
	n := down.window.length
	shift := margin * count
	least := min(q.cost(down.loss(n-1)), -math.Expm1(down.loss(0)+math.Log1p(-q.alpha)))
	for k := range n {
		eps := down.loss(k) - shift
		v := down.lower(eps, count) + q.cost(eps)
		if math.IsNaN(v) {
			v = 0 // a weight overflowed: nothing is known here
		}
		least = min(least, v)
	}
	b.Lower = max(q.alpha, least-4*shift-1e-15) // a test can always guess
	b.Upper = max(b.Upper, b.Lower)
	return b
}
