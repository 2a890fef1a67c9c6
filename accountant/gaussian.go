package accountant

import "math"

// rdp of the Gaussian mechanism: order/(2 z^2) [Mir17].
func (e Gaussian) rdp(orders []float64) []float64 { return gaussianRDP(1/e.NoiseMultiplier, orders) }

// rdp of mu-GDP: by definition its outputs can be made from N(0,1) against N(mu,1), which is the Gaussian mechanism.
func (e GDP) rdp(orders []float64) []float64 { return gaussianRDP(e.Mu, orders) }

func gaussianRDP(mu float64, orders []float64) []float64 {
	out := make([]float64, len(orders))
	if mu == 0 {
		return out
	}
	for i, a := range orders {
		out[i] = up(a / 2 * mu * mu)
	}
	return out
}

// rdp of the Laplace mechanism [Mir17]; its largest divergence, 1/scale, is at order infinity. In several dimensions the divergences
// of the coordinates add up, and each is convex in its shift (a logarithm of a sum of exponentials, over a-1) and zero at zero,
// so that one coordinate which takes all of the L1 norm is the worst case.
func (e Laplace) rdp(orders []float64) []float64 {
	out := make([]float64, len(orders))
	for i, a := range orders {
		pure := 1 / e.Scale
		if math.IsInf(a, 1) {
			out[i] = up(pure)
			continue
		}
		grow := math.Log(a/(2*a-1)) + (a-1)*pure
		shrink := math.Log((a-1)/(2*a-1)) - a*pure
		d := logAdd(grow, shrink) / (a - 1)
		// Near order 1 the two terms cancel; the loss is a few units of rounding over a-1.
		out[i] = min(up(d+8e-16*(1+pure)/(a-1)), up(pure))
	}
	return out
}

// asGaussian says whether an event is, exactly, a Gaussian mechanism of some mu: Gaussians compose to a Gaussian, also
// when each may depend on what came before [DRS19].
func asGaussian(e Event) (mu float64, ok bool) {
	switch e := e.(type) {
	case Gaussian:
		return 1 / e.NoiseMultiplier, true
	case GDP:
		return e.Mu, true
	case Poisson:
		if e.Rate == 1 {
			return asGaussian(e.Event)
		}
		return 0, e.Rate == 0
	case WithoutReplacement:
		if e.Rate == 1 {
			return asGaussian(e.Event)
		}
		return 0, e.Rate == 0
	case Repeat:
		mu, ok = asGaussian(e.Event)
		if e.Count == 0 {
			return 0, true
		}
		return mu * math.Sqrt(float64(e.Count)), ok
	case Compose:
		sum := 0.0
		for _, part := range e {
			mu, ok := asGaussian(part)
			if !ok {
				return 0, false
			}
			sum = math.Hypot(sum, mu)
		}
		return sum, true
	}
	return 0, false
}

func (None) rdp(orders []float64) []float64    { return filled(len(orders), math.Inf(1)) }
func (Unsound) rdp(orders []float64) []float64 { return filled(len(orders), math.Inf(1)) }

func (e Repeat) rdp(orders []float64) []float64 {
	if e.Count == 0 {
		return make([]float64, len(orders))
	}
	return times(e.Event.rdp(orders), e.Count)
}

func (e Compose) rdp(orders []float64) []float64 {
	sum := make([]float64, len(orders))
	for _, part := range e {
		sum = plus(sum, part.rdp(orders))
	}
	return sum
}
