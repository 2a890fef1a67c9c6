package pld

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// PMF is a distribution on the integers First, First+1, ... by the natural logarithms of its masses. It must be
// complete: what is left out counts as impossible, so leave out only what is below 1e-250.
type PMF struct {
	First   int64
	LogMass []float64
}

// maxAtoms bounds the memory of a distribution on integers.
const maxAtoms = 1 << 23

// Integers is the pair of any two distributions on the integers. Mass of p where q has none is an infinite loss.
func Integers(p, q PMF) (Pair, error) {
	for _, d := range []PMF{p, q} {
		if err := d.check(); err != nil {
			return Pair{}, err
		}
	}
	first := min(p.First, q.First)
	last := max(p.First+int64(len(p.LogMass)), q.First+int64(len(q.LogMass)))
	if last-first > maxAtoms {
		return Pair{}, fmt.Errorf("pld: distributions span %d integers; the limit is %d", last-first, maxAtoms)
	}
	atoms := make([]atom, 0, last-first)
	for k := first; k < last; k++ {
		a, b := p.at(k), q.at(k)
		if math.IsInf(a, -1) && math.IsInf(b, -1) {
			continue
		}
		atoms = append(atoms, atom{loss: a - b, p: math.Exp(a), q: math.Exp(b)})
	}
	law := newAtoms(atoms)
	return Pair{law: law, atoms: law.heaviest()}, nil
}

// Shifted is the pair of integer noise added to a value that differs by shift: the noise moved by shift against the
// noise as it is.
func Shifted(noise PMF, shift int64) (Pair, error) {
	if shift == 0 {
		return Pair{}, fmt.Errorf("pld: shift 0 loses no privacy; leave this mechanism out")
	}
	if shift > maxAtoms || shift < -maxAtoms {
		return Pair{}, fmt.Errorf("pld: shift %d is too large; the limit is %d", shift, maxAtoms)
	}
	moved := PMF{noise.First + shift, noise.LogMass}
	p, err := Integers(moved, noise)
	if err != nil {
		return Pair{}, err
	}
	mirrored := slices.Clone(noise.LogMass)
	slices.Reverse(mirrored)
	p.symmetric = slices.Equal(mirrored, noise.LogMass) // then a reflection exchanges P and Q
	return p, nil
}

// DiscreteGaussian is the pair of the discrete Gaussian, mass proportional to e^(-k²/(2·sigma2)), for a query that
// changes by an integer.
func DiscreteGaussian(sigma2 float64, shift int64) (Pair, error) {
	if !(sigma2 >= 1e-18) || math.IsInf(sigma2, 0) {
		return Pair{}, fmt.Errorf("pld: discrete Gaussian sigma2 %g is no number of at least 1e-18", sigma2)
	}
	reach := math.Ceil(math.Sqrt(2 * 690 * sigma2)) // to e^-690, which a float still holds
	if reach > maxAtoms/4 {
		return Pair{}, fmt.Errorf("pld: discrete Gaussian sigma2 %g is too large to list; take the Gaussian's value or at most %g", sigma2, math.Pow(maxAtoms/4, 2)/(2*690))
	}
	noise := PMF{First: -int64(reach), LogMass: make([]float64, 2*int(reach)+1)}
	var sum compensated
	for i := range noise.LogMass {
		k := float64(i) - reach
		noise.LogMass[i] = -k * k / (2 * sigma2)
		sum.add(math.Exp(noise.LogMass[i]))
	}
	for i := range noise.LogMass {
		noise.LogMass[i] -= math.Log(sum.sum)
	}
	p, err := Shifted(noise, shift)
	p.atoms = [2]float64{0, math.Abs(float64(shift)) / (2 * sigma2)} // L = shift·(2k-shift)/(2·sigma2)
	return p, err
}

func (d PMF) check() error {
	if len(d.LogMass) == 0 || len(d.LogMass) > maxAtoms {
		return fmt.Errorf("pld: distribution lists %d integers; the limits are 1 and %d", len(d.LogMass), maxAtoms)
	}
	if d.First > 1<<52 || d.First < -1<<52 {
		return fmt.Errorf("pld: distribution begins at %d; the limits are -2^52 and 2^52", d.First)
	}
	var sum compensated
	for i, l := range d.LogMass {
		if math.IsNaN(l) || l > 1e-9 {
			return fmt.Errorf("pld: logarithm of the mass at %d is %g, which is no probability", d.First+int64(i), l)
		}
		sum.add(math.Exp(l))
	}
	if math.Abs(sum.sum-1) > 1e-11 {
		return fmt.Errorf("pld: masses add up to %.15g; they must be complete and add up to 1", sum.sum)
	}
	return nil
}

func (d PMF) at(k int64) float64 {
	if i := k - d.First; i >= 0 && i < int64(len(d.LogMass)) {
		return d.LogMass[i]
	}
	return math.Inf(-1)
}

// atom is one output: its loss and its masses.
type atom struct{ loss, p, q float64 }

// atoms is a loss that takes finitely many values, in rising order, with running sums from both sides.
type atoms struct {
	losses []float64
	at     []tails // at[i] splits before loss i
}

func newAtoms(list []atom) atoms {
	slices.SortFunc(list, func(a, b atom) int {
		switch {
		case a.loss < b.loss:
			return -1
		case a.loss > b.loss:
			return 1
		}
		return 0
	})
	a := atoms{make([]float64, len(list)), make([]tails, len(list)+1)}
	var p, q compensated
	for i, x := range list {
		a.losses[i] = x.loss
		p.add(x.p)
		q.add(x.q)
		a.at[i+1].pBelow, a.at[i+1].qBelow = p.sum, q.sum
	}
	p, q = compensated{}, compensated{}
	for i := len(list) - 1; i >= 0; i-- {
		p.add(list[i].p)
		q.add(list[i].q)
		a.at[i].pAbove, a.at[i].qAbove = p.sum, q.sum
	}
	return a
}

// heaviest are the two finite losses of largest mass.
func (a atoms) heaviest() [2]float64 {
	var losses, masses [2]float64
	for i, loss := range a.losses {
		mass := a.at[i+1].pBelow - a.at[i].pBelow
		switch {
		case math.IsInf(loss, 0):
		case mass > masses[0]:
			losses[1], masses[1] = losses[0], masses[0]
			losses[0], masses[0] = loss, mass
		case mass > masses[1]:
			losses[1], masses[1] = loss, mass
		}
	}
	if masses[1] == 0 {
		losses[1] = losses[0]
	}
	return losses
}

// tails counts an atom at the loss as above it, and one at -infinity always as below.
func (a atoms) tails(loss float64) tails {
	if math.IsInf(loss, -1) {
		return a.at[sort.Search(len(a.losses), func(i int) bool { return a.losses[i] > loss })]
	}
	return a.at[sort.SearchFloat64s(a.losses, loss)]
}
