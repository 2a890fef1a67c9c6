package pld

import "math"

// grid is the losses origin + place·step.
type grid struct{ origin, step float64 }

func (g grid) at(place int) float64 { return g.origin + float64(place)*g.step }

// gridLaw is a privacy loss distribution on places of a grid. Its masses and the infinite one add up to
// one, or to less where losses were dropped.
type gridLaw struct {
	grid
	places   []int
	logMass  []float64 // every tilt needs the logarithm
	infinite float64
}

func newGridLaw(g grid, places []int, mass []float64, infinite float64) gridLaw {
	for len(mass) > 1 && mass[len(mass)-1] == 0 { // so that the last place is the largest loss
		mass, places = mass[:len(mass)-1], places[:len(mass)-1]
	}
	logMass := make([]float64, len(mass))
	for k, m := range mass {
		logMass[k] = math.Log(m)
	}
	return gridLaw{g, places, logMass, infinite}
}

func (g gridLaw) first() int { return g.places[0] }

func (g gridLaw) last() int { return g.places[len(g.places)-1] }

// cumulants returns ln E[e^(tilt·L)] over the finite losses, with its first and second derivative in tilt.
func (g gridLaw) cumulants(tilt float64) (value, mean, variance float64) {
	offset := tilt * g.origin
	tilt *= g.step                 // from here on everything is in steps from the origin
	shift, peak := math.Inf(-1), 0 // the largest exponent, so that nothing overflows
	for k, l := range g.logMass {
		if e := l + tilt*float64(g.places[k]); e > shift {
			shift, peak = e, g.places[k]
		}
	}
	if math.IsInf(shift, -1) {
		return shift, 0, 0 // no finite loss at all
	}
	var sum, first, second float64
	for k, l := range g.logMass {
		exponent := l + tilt*float64(g.places[k]) - shift
		if exponent < -60 {
			continue // under 1e-26 of the sum
		}
		x := float64(g.places[k] - peak) // relative to the peak the moments cancel less
		w := math.Exp(exponent)
		sum += w
		first += w * x
		second += w * x * x
	}
	center := first / sum
	mean = g.at(peak) + center*g.step
	variance = max(0, second/sum-center*center) * g.step * g.step
	return offset + shift + math.Log(sum), mean, variance
}

// total is a composition: law k is taken count k times. All laws share one step.
type total []repeated

type repeated struct {
	gridLaw
	count float64
}

func (t total) cumulants(tilt float64) (value, mean, variance float64) {
	for _, r := range t {
		v, m, s := r.cumulants(tilt)
		value += r.count * v
		mean += r.count * m
		variance += r.count * s
	}
	return value, mean, variance
}

// infinite is the probability that any of the losses is infinite.
func (t total) infinite() float64 {
	var logFinite float64
	for _, r := range t {
		logFinite += r.count * math.Log1p(-min(1, r.gridLaw.infinite))
	}
	return -math.Expm1(logFinite)
}

// grid holds the sums.
func (t total) grid() grid {
	g := grid{step: t[0].step}
	for _, r := range t {
		g.origin += r.count * r.origin
	}
	return g
}

// support is the range of finite sums, in steps from the origin.
func (t total) support() (first, last float64) {
	for _, r := range t {
		first += r.count * float64(r.first())
		last += r.count * float64(r.last())
	}
	return first, last
}
