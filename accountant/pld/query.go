package pld

import (
	"fmt"
	"math"
)

// Term is a mechanism that runs Count times.
type Term struct {
	Pair  Pair
	Count int
}

// Bracket holds a true value between two computed ones. Upper may be +Inf.
type Bracket struct{ Lower, Upper float64 }

// Options say how narrow a bracket should be. Zero fields take the stated default.
type Options struct {
	Tolerance float64 // width of the bracket relative to its upper end; default 1e-4 for epsilon, 1e-3 for delta
	MaxPoints int     // bound on the grid, and so on memory (about 100 bytes each) and time; default 1<<20
}

// Epsilon brackets the smallest epsilon >= 0 for which the composition of all terms is (epsilon, delta)-private, in
// the worse one of the two directions. The bracket is as narrow as the options ask, or as they allow.
func Epsilon(terms []Term, delta float64, o Options) (Bracket, error) {
	if !(delta > 0 && delta < 1) {
		return Bracket{}, fmt.Errorf("pld: delta %g outside (0, 1)", delta)
	}
	o, err := o.checked(1e-4)
	if err != nil {
		return Bracket{}, err
	}
	const floor = 1e-10 // an epsilon this small need not be known better
	return solve(terms, epsilonAt{delta}, o, floor)
}

// Delta brackets the smallest delta for which the composition of all terms is (epsilon, delta)-private, in the worse
// one of the two directions.
func Delta(terms []Term, epsilon float64, o Options) (Bracket, error) {
	if math.IsNaN(epsilon) || math.IsInf(epsilon, 0) || epsilon < 0 {
		return Bracket{}, fmt.Errorf("pld: epsilon %g is not a number of at least zero", epsilon)
	}
	o, err := o.checked(1e-3)
	if err != nil {
		return Bracket{}, err
	}
	return solve(terms, deltaAt{epsilon}, o, 0)
}

func (o Options) checked(tolerance float64) (Options, error) {
	if o.Tolerance == 0 {
		o.Tolerance = tolerance
	}
	if !(o.Tolerance > 0 && o.Tolerance < 1) {
		return o, fmt.Errorf("pld: tolerance %g outside (0, 1)", o.Tolerance)
	}
	if o.MaxPoints == 0 {
		o.MaxPoints = 1 << 20
	}
	if o.MaxPoints < 1<<10 {
		return o, fmt.Errorf("pld: %d grid points are too few; allow at least 1024", o.MaxPoints)
	}
	return o, nil
}

// question is what is asked of a composition.
type question interface {
	// tilt picks the exponent that puts the answer into the middle of the tilted sum.
	tilt(upper total, known Bracket) float64
	// tail is a mass that does not matter to the answer, given the bracket known so far.
	tail(known Bracket) float64
	answer(up, down sum, count float64) Bracket
	unknown() Bracket // what is known without looking
}

// solve refines the direction that decides until the bracket is narrow or does not improve.
func solve(terms []Term, q question, o Options, floor float64) (Bracket, error) {
	directions, err := split(terms, q)
	if err != nil {
		return Bracket{}, err
	}
	for {
		worst := directions[0]
		result := worst.known
		for _, d := range directions[1:] {
			result.Lower = max(result.Lower, d.known.Lower)
			result.Upper = max(result.Upper, d.known.Upper)
			if d.known.Upper > worst.known.Upper || worst.exhausted && d.known.Upper == worst.known.Upper {
				worst = d
			}
		}
		narrow := result.Upper == result.Lower ||
			!math.IsInf(result.Upper, 1) && result.Upper-result.Lower <= o.Tolerance*result.Upper+floor
		if worst.exhausted || narrow {
			return result, nil
		}
		worst.refine(q, o)
	}
}

// split checks the terms and lays out the directions: all terms removing, and all adding unless that is the same.
func split(terms []Term, q question) ([]*direction, error) {
	if len(terms) == 0 {
		return nil, fmt.Errorf("pld: nothing to compose; give at least one term")
	}
	remove, add := &direction{known: q.unknown()}, &direction{known: q.unknown()}
	symmetric := true
	var aligned float64 // count of the term that the step is fitted to
	for i, t := range terms {
		if t.Pair.law == nil {
			return nil, fmt.Errorf("pld: term %d has no pair; make one with Gaussian, Laplace or another constructor", i)
		}
		if t.Count < 1 || t.Count > 1<<40 {
			return nil, fmt.Errorf("pld: term %d has count %d outside 1..2^40; leave out a mechanism that never runs", i, t.Count)
		}
		remove.laws = append(remove.laws, t.Pair.law)
		add.laws = append(add.laws, reversed{t.Pair.law})
		remove.counts = append(remove.counts, float64(t.Count))
		remove.count += float64(t.Count)
		symmetric = symmetric && t.Pair.symmetric
		a := t.Pair.atoms
		remove.atoms = append(remove.atoms, a)
		add.atoms = append(add.atoms, [2]float64{-a[0], -a[1]})
		if d := math.Abs(a[1] - a[0]); d > 0 && float64(t.Count) > aligned {
			remove.lattice, aligned = d, float64(t.Count)
		}
	}
	if symmetric {
		return []*direction{remove}, nil
	}
	add.counts, add.count, add.lattice = remove.counts, remove.count, remove.lattice
	return []*direction{remove, add}, nil
}
