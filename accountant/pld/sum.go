package pld

import "math"

// newSum undoes the tilt and adds up from the top.
func newSum(t total, spectrum []complex128, imaginary bool, p plan, w window, errorNorm float64) sum {
	g := t.grid()
	step, tilt := g.step, p.tilt
	value, mean, _ := t.cumulants(tilt)
	under, over := p.outside(t, w)
	_, last := t.support()
	n := w.length
	s := sum{
		grid:     g,
		window:   w,
		tilt:     tilt,
		anchor:   mean,
		scale:    value - tilt*mean,
		mass:     make([]float64, n+1),
		shrunk:   make([]float64, n+1),
		infinite: t.infinite(),
		largest:  g.origin + last*step,
		roundoff: errorNorm * weightNorm(step, tilt, n),
		wrapped:  under + over,
		beyond:   over * math.Exp(-tilt*(g.at(int(w.first)+n-1)-mean)),
	}
	// Weights e^(-tilt·L) and e^(-(1+tilt)·L), relative to the mean, as a product of two: one exponential a block.
	const block = 256
	var fine, fineShrunk [block]float64
	for j := range block {
		fine[j] = math.Exp(-tilt*float64(j)*step) / float64(n)
		fineShrunk[j] = math.Exp(-(1+tilt)*float64(j)*step) / float64(n)
	}
	mask := int64(n) - 1
	var mass, shrunk compensated
	for start := (n - 1) / block * block; start >= 0; start -= block {
		loss := s.loss(start) - mean
		weight, weightShrunk := math.Exp(-tilt*loss), math.Exp(-(1+tilt)*loss)
		for k := min(start+block, n) - 1; k >= start; k-- {
			z := spectrum[(w.first+int64(k))&mask]
			x := real(z)
			if imaginary {
				x = imag(z)
			}
			mass.add(x * fine[k-start] * weight)
			shrunk.add(x * fineShrunk[k-start] * weightShrunk)
			s.mass[k], s.shrunk[k] = mass.sum, shrunk.sum
		}
	}
	return s
}

// onlyInfinite is the sum where no loss is finite.
func onlyInfinite(t total) sum {
	none := math.Inf(-1)
	return sum{grid: grid{step: 1}, scale: none, largest: none, infinite: t.infinite()}
}

// weightNorm bounds the 2-norm of the weights with which delta adds up the masses above eps,
// e^(-tilt·L)·(1-e^-L) at distances L above eps, of which the k-th lies between k-1 and k steps.
func weightNorm(step, tilt float64, n int) float64 {
	flat := float64(n) // 1-e^-L <= 1
	x := math.Exp(-2 * tilt * step)
	if x < 1 {
		flat = min(flat, 1/(1-x))
		linear := step * step * (1 + x) / ((1 - x) * (1 - x) * (1 - x)) // 1-e^-L <= L
		flat = min(flat, linear)
	}
	return math.Sqrt(flat)
}

// loss is the one at place k of the window.
func (s sum) loss(k int) float64 { return s.at(int(s.window.first) + k) }

// top is the loss at the upper end of the window.
func (s sum) top() float64 {
	return max(0, s.loss(s.window.length))
}

// finite is what the finite losses contribute to delta at eps, in units of e^scale.
func (s sum) finite(eps float64) float64 {
	k := math.Floor((eps-s.origin)/s.step) + 1 - float64(s.window.first)
	if k >= float64(s.window.length) {
		return 0
	}
	k = max(0, k)
	return s.mass[int(k)] - math.Exp(eps-s.anchor)*s.shrunk[int(k)]
}

// margin is a loss per composed step that covers round-off in the cells' masses: these are differences of tails that
// are correct to a few units of round-off, which moves a loss by much less than this.
const margin = 1e-12

// upper is delta at eps or more.
func (s sum) upper(eps, count float64) float64 {
	eps -= margin * count
	if eps >= s.largest {
		return s.infinite * (1 + margin*count) // no finite loss is larger, whatever the round-off
	}
	factor := math.Exp(s.scale + margin*count)
	noise := s.roundoff * math.Exp(s.scale-s.tilt*(eps-s.anchor))
	return (s.finite(eps)+s.beyond)*factor + noise + s.infinite*(1+margin*count)
}

// lower is delta at eps or less.
func (s sum) lower(eps, count float64) float64 {
	eps += margin * count
	factor := math.Exp(s.scale - margin*count)
	noise := (s.roundoff + s.wrapped) * math.Exp(s.scale-s.tilt*(eps-s.anchor))
	return s.finite(eps)*factor - noise + s.infinite*(1-margin*count)
}

// compensated is a running sum with the round-off carried along (Neumaier).
type compensated struct{ sum, high, low float64 }

func (c *compensated) add(x float64) {
	t := c.high + x
	if math.Abs(c.high) >= math.Abs(x) {
		c.low += (c.high - t) + x
	} else {
		c.low += (x - t) + c.high
	}
	c.high = t
	c.sum = c.high + c.low
}
