package pld

import (
	"math"
	"slices"
)

// cells is a privacy loss distribution cut at some points of a grid. Cell k holds the losses between places k and
// k+1, in grid steps.
type cells struct {
	grid
	places []int
	mass   []float64 // of P in the cell
	atom   []float64 // of P at the place itself, where the law is known to have an atom
	// up says where in the cell the mean of e^-L lies: the share of mass that goes to the cell's upper end if the
	// rest goes to the lower end and the mean is kept. NaN where Q's mass underflows and the mean is unknown.
	up       []float64
	below    float64 // mass of P under the first cell
	above    float64 // mass of P over the last cell, infinite losses included
	infinite float64 // mass of P where Q has none
}

// importance says how much a loss matters to the question: as e^(tilt·L - level). Cells are wider where little of
// that is left, which only costs accuracy.
type importance struct {
	tilt, level float64
	widest      float64 // of a cell, so that the tilt does not change much inside it
}

// span is the width of a cell, in steps, that adds little variance for a mass at a loss.
func (i importance) span(step, loss, mass float64) int {
	const share = 0.02 // of the variance that the cells of width one add
	log := (math.Log(share/mass) + i.level - i.tilt*loss) / 2
	log = min(log, math.Log(i.widest/step))
	return 1 << int(min(40, max(0, log/math.Ln2)))
}

// boundary is the law's tails on both sides of a place. They differ by an atom there.
type boundary struct{ under, over tails }

// cut evaluates the law on a grid from low to high, going outward from zero. It gives up at limit places.
func cut(law lossLaw, atoms [2]float64, g grid, low, high float64, weight importance, limit int) (c cells, ok bool) {
	infinite := law.tails(math.Inf(1)).pAbove
	var places []int
	var masses []boundary
	visit := func(place int) tails {
		loss := g.at(place)
		t := law.tails(loss)
		b := boundary{t, t}
		// What lies beside the atom moves with it, by less than the margin.
		if near := margin / 8; math.Abs(loss-atoms[0]) < near || math.Abs(loss-atoms[1]) < near {
			b = boundary{law.tails(loss - near), law.tails(loss + near)}
		}
		places = append(places, place)
		masses = append(masses, b)
		return t
	}
	zero := int(math.Round(-g.origin / g.step))
	last := 1
	for place := zero - 1; ; place -= last {
		t := visit(place)
		if loss := g.at(place); loss > low {
			last = min(2*last, weight.span(g.step, loss, t.pBelow))
		} else {
			break
		}
		if len(places) > limit {
			return cells{}, false
		}
	}
	slices.Reverse(places)
	slices.Reverse(masses)
	last = 1
	for place := zero; ; place += last {
		t := visit(place)
		if loss := g.at(place); loss < high {
			last = min(2*last, weight.span(g.step, loss, max(0, t.pAbove-infinite)))
		} else {
			break
		}
		if len(places) > limit {
			return cells{}, false
		}
	}
	return fill(g, places, masses, infinite), true
}

// fill computes the cells between places from the tails there.
func fill(g grid, places []int, at []boundary, infinite float64) cells {
	n := len(places) - 1
	c := cells{
		grid:     g,
		places:   places,
		mass:     make([]float64, n),
		atom:     make([]float64, n+1),
		up:       make([]float64, n),
		below:    at[0].under.pBelow,
		above:    at[n].over.pAbove,
		infinite: infinite,
	}
	for k, b := range at {
		if b.under != b.over {
			c.atom[k] = between(b.under.pAbove, b.under.pBelow, b.over.pAbove, b.over.pBelow)
		}
	}
	for k := range n {
		lower, upper := at[k].over, at[k+1].under
		p := between(lower.pAbove, lower.pBelow, upper.pAbove, upper.pBelow)
		q := between(lower.qAbove, lower.qBelow, upper.qAbove, upper.qBelow)
		c.mass[k] = p
		switch {
		case p == 0:
		case q < 1e-290:
			c.up[k] = math.NaN()
		default:
			// p·(1 - E[e^(loss-L)]) / (1 - e^-width), where p·E[e^-L] = q.
			share := math.Expm1(g.at(places[k])+math.Log(q/p)) / math.Expm1(-c.width(k))
			c.up[k] = min(1, max(0, share))
		}
	}
	return c
}

func (c cells) width(k int) float64 { return float64(c.places[k+1]-c.places[k]) * c.step }

// between is the mass between two thresholds, from the pair of tails that cancels less.
func between(above0, below0, above1, below1 float64) float64 {
	if above0 < below1 {
		return max(0, above0-above1)
	}
	return max(0, below1-below0)
}

// pessimistic moves each loss to the two ends of its cell and keeps the mean of e^-L: delta rises everywhere.
// Losses under the grid move up to its first point, losses over it to infinity.
func (c cells) pessimistic() gridLaw {
	mass := slices.Clone(c.atom)
	mass[0] += c.below
	for k, m := range c.mass {
		up := c.up[k]
		if math.IsNaN(up) {
			up = 1
		}
		mass[k] += m * (1 - up)
		mass[k+1] += m * up
	}
	return newGridLaw(c.grid, c.places, mass, c.above)
}

// optimistic moves losses together: delta falls everywhere. Each cell's mass is taken at its mean of e^-L and goes
// up to the cell's upper end, as far as the next cells can send enough down to the same point to keep the mean there;
// what is left goes down. Losses under the grid are dropped, losses over it move down to its end.
func (c cells) optimistic() gridLaw {
	const (
		payers  = 4        // more would let a thin tail pay for a thick middle
		careful = 1 - 1e-9 // sends a little less up than the balance allows, for round-off
	)
	n := len(c.mass)
	mass := slices.Clone(c.atom)
	left := slices.Clone(c.mass)      // what cell k still holds after paying for the cells before it
	position := func(k int) float64 { // share of the way up
		if math.IsNaN(c.up[k]) {
			return 0
		}
		return c.up[k]
	}
	for k := range n {
		if left[k] == 0 {
			continue
		}
		// Debt and credit in units of e^-loss of the point above the cell.
		debt := left[k] * (1 - position(k)) * math.Expm1(c.width(k))
		var pay [payers]struct {
			cell   int
			credit float64
		}
		var total float64
		found := 0
		for j := k + 1; j < n && found < payers && total < 2*debt; j++ {
			if left[j] > 0 {
				away := float64(c.places[j]-c.places[k+1]) * c.step
				credit := -left[j] * (math.Expm1(-away) + math.Exp(-away)*position(j)*math.Expm1(-c.width(j)))
				pay[found].cell, pay[found].credit = j, credit
				total += credit
				found++
			}
		}
		sent := 1. // share of what is left in the cell that goes up
		switch {
		case position(k) < 1e-6:
			sent = 0 // it is at the lower end already
		case debt > total*careful:
			sent = careful * total / debt
		}
		mass[k+1] += sent * left[k]
		mass[k] += (1 - sent) * left[k]
		owed := sent * debt
		for _, p := range pay[:found] {
			if owed <= 0 {
				break
			}
			paid := left[p.cell]
			if p.credit > owed {
				paid *= owed / p.credit
			}
			mass[k+1] += paid
			left[p.cell] = max(0, left[p.cell]-paid)
			owed -= p.credit
		}
	}
	mass[n] += max(0, c.above-c.infinite)
	return newGridLaw(c.grid, c.places, mass, c.infinite)
}
