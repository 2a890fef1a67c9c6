package pld

import (
	"math"
	"math/bits"
)

// tailMass is what may lie outside the window, as a share of the tilted distribution. It is charged to the result.
const tailMass = 1e-11

// plan holds the choices that are made once and reused on finer grids. Any choice is sound; a good one keeps the error
// terms and the window small.
type plan struct {
	tilt        float64
	level       float64 // of one step, on average: the cumulant function at the tilt
	under, over float64 // exponents for Chernoff's bound on both tails of the tilted sum
}

// newPlan searches the exponents that give the narrowest window.
func newPlan(t total, count, tilt float64) plan {
	value, mean, variance := t.cumulants(tilt)
	p := plan{tilt: tilt, level: value / count}
	normal := math.Sqrt(-2 * math.Log(tailMass) / max(variance, t[0].step*t[0].step)) // best for a normal distribution
	search := func(direction float64) (exponent float64) {
		best := math.Inf(1)
		for _, scale := range []float64{1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 0.7, 1, 1.4, 2, 4, 8} {
			e := scale * normal
			v, _, _ := t.cumulants(tilt + direction*e)
			if reach := (v - value - direction*e*mean - math.Log(tailMass)) / e; reach < best {
				best, exponent = reach, e
			}
		}
		return exponent
	}
	p.under, p.over = search(-1), search(1)
	return p
}

// window is a range of losses of the sum, in grid steps, with a power of two as its length. A sum outside it wraps
// around.
type window struct {
	first  int64
	length int
}

// window covers all but tailMass of the tilted sum. It is empty if more than limit places are needed.
func (p plan) window(t total, limit int) (w window, need float64) {
	g := t.grid()
	value, _, _ := t.cumulants(p.tilt)
	under, _, _ := t.cumulants(p.tilt - p.under)
	over, _, _ := t.cumulants(p.tilt + p.over)
	first, last := t.support()
	low := max(first, math.Floor(((value-under+math.Log(tailMass))/p.under-g.origin)/g.step))
	high := min(last, math.Ceil(((over-value-math.Log(tailMass))/p.over-g.origin)/g.step))
	need = max(2, high-low+1)
	if !(need <= float64(limit)) {
		return window{}, need
	}
	return window{int64(low), 1 << bits.Len(uint(need-1))}, need
}

// outside bounds the share of the tilted sum under and over the window.
func (p plan) outside(t total, w window) (under, over float64) {
	g := t.grid()
	value, _, _ := t.cumulants(p.tilt)
	first, last := t.support()
	low, high := float64(w.first), float64(w.first)+float64(w.length)-1
	const careful = 1 + 1e-6 // round-off of the cumulants
	if first < low {
		v, _, _ := t.cumulants(p.tilt - p.under)
		under = careful * math.Exp(v-value+p.under*(g.origin+low*g.step))
	}
	if last > high {
		v, _, _ := t.cumulants(p.tilt + p.over)
		over = careful * math.Exp(v-value-p.over*(g.origin+high*g.step))
	}
	return under, over
}

// sum is the distribution of a sum of losses inside a window, ready to be asked for delta.
type sum struct {
	grid
	window window
	tilt   float64
	anchor float64 // losses are taken relative to it, and
	scale  float64 // masses are relative to e^scale, which may underflow
	// Sums over the losses from place k of the window on: of the mass, and of mass·e^-(L-anchor).
	mass, shrunk []float64
	infinite     float64
	largest      float64 // finite loss
	roundoff     float64 // bound on delta's error, in units of e^(scale-tilt·(eps-anchor))
	wrapped      float64 // the same for what wrapped around
	beyond       float64 // mass over the window, in units of e^scale
}

// compose sums up two compositions on one window, an upper and a lower one, in a single complex transform.
func compose(upper, lower total, p plan, w window) (up, down sum) {
	n := w.length
	t := newTransform(n)
	product := make([]complex128, n)
	factor := make([]complex128, n)
	var count, errorNorm float64 // of all factors; Σ count·(error of a factor's spectrum in the 2-norm)/√n
	for i := range upper {
		clear(factor)
		fold(factor, upper[i].gridLaw, p.tilt, 1)
		fold(factor, lower[i].gridLaw, p.tilt, 1i)
		errorNorm += upper[i].count * t.relativeError() * norm2(factor)
		count += upper[i].count
		t.forward(factor)
		power(factor, upper[i].count)
		if i == 0 {
			product, factor = factor, product
		} else {
			multiply(product, factor)
		}
	}
	norm := norm2(product) / math.Sqrt(float64(n))
	t.inverse(product)
	// The spectra are at most one in size, so a factor's error grows by its count at most; the power itself errs by
	// 8 units of round-off for each factor, and 1e-30 was cut off.
	const unit = 0x1p-53
	errorNorm = 1.1*errorNorm + (8*unit*count+t.relativeError())*norm + 1e-30
	up = newSum(upper, product, false, p, w, errorNorm)
	down = newSum(lower, product, true, p, w, errorNorm)
	return up, down
}

// fold adds the tilted law, normalised to one, to x, wrapped around at its length, times the unit.
func fold(x []complex128, g gridLaw, tilt float64, unit complex128) {
	value, _, _ := g.cumulants(tilt)
	mask := len(x) - 1
	for k, l := range g.logMass {
		if e := l + tilt*g.at(g.places[k]) - value; e > -700 { // no denormal numbers: they are slow
			x[g.places[k]&mask] += complex(math.Exp(e), 0) * unit
		}
	}
}

// power raises the two laws that are packed into one spectrum (real and imaginary part before the transform) to a
// power, and packs them again.
func power(x []complex128, count float64) {
	if count == 1 {
		return
	}
	negligible := math.Exp(-2 * 70 / count) // |z|² below it: |z|^count < 1e-30
	raise := func(z complex128) complex128 {
		size2 := real(z)*real(z) + imag(z)*imag(z)
		if size2 < negligible {
			return 0
		}
		result := complex(1, 0)
		for k := uint64(count); ; z *= z {
			if k&1 == 1 {
				result *= z
			}
			if k >>= 1; k == 0 {
				return result
			}
		}
	}
	for i := range x {
		if j := mirror(i); i <= j {
			p, q := unpack(x[i], x[j])
			x[i], x[j] = pack(raise(p), raise(q))
		}
	}
}

// multiply multiplies two packed pairs of spectra into x.
func multiply(x, y []complex128) {
	for i := range x {
		if j := mirror(i); i <= j {
			p, q := unpack(x[i], x[j])
			r, s := unpack(y[i], y[j])
			x[i], x[j] = pack(p*r, q*s)
		}
	}
}

// unpack separates the spectra of the real and the imaginary part of a signal, given theirs at a frequency and at its
// negative: the spectrum of a real signal is conjugate there.
func unpack(at, mirrored complex128) (p, q complex128) {
	b := complex(real(mirrored), -imag(mirrored))
	return (at + b) / 2, (at - b) * -0.5i
}

func pack(p, q complex128) (at, mirrored complex128) {
	return p + q*1i, complex(real(p)+imag(q), real(q)-imag(p))
}
