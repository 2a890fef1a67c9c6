package accountant

import "math"

// mixLaw is the law of a rounded coordinate x = k+p, as log ratios to the noise: log M_x(z)/Q(z), in both directions from
// the middle, as far as was asked for.
type mixLaw struct {
	k, p     float64
	mid      int // between 0 and k+1
	up, down []mixPoint
}

type mixPoint struct {
	logQ     float64
	logRatio float64 // rising in z
}

// momentAt is logMoment, remembered for the order at hand.
func (n *roundedNoise) momentAt(x, a float64, reverse bool) float64 {
	key := momentKey{x, reverse && x != math.Trunc(x)} // at whole x the directions mirror each other
	if _, ok := n.moments[key]; !ok {
		n.moments[key] = n.logMoment(x, a, key.reverse)
	}
	return n.moments[key]
}

// logMoment is log E_Q[(M_x/Q)^a], or in reverse log E_Q[(Q/M_x)^(a-1)], raised by what the sum leaves out.
func (n *roundedNoise) logMoment(x, a float64, reverse bool) float64 {
	m := n.mixes[x]
	if m == nil {
		k := math.Floor(x)
		m = &mixLaw{k: k, p: x - k, mid: int(k+1) / 2}
		n.mixes[x] = m
	}
	power := a
	if reverse {
		power = 1 - a
	}
	// One side is light: there the terms are at most Q, or the mixture, itself, and past edge sum to less than e^cut.
	// The other is heavy: there they are at most those of a plain shift by k+1, whose rest is known; the reverse
	// direction is its mirror image.
	light, heavy := &m.down, &m.up
	if reverse {
		light, heavy = heavy, light
	}
	lightLength := n.edge + int(m.k) + 2
	shift := int(m.k) + 1
	n.fillMix(m, light, lightLength)
	top := negInf
	for _, pt := range (*light)[:lightLength] {
		top = max(top, pt.logQ+power*pt.logRatio)
	}
	t := 2 * n.rate
	length := 0
	for {
		from := length
		length += 32
		n.fillMix(m, heavy, length)
		last := negInf
		for _, pt := range (*heavy)[from:length] {
			last = pt.logQ + power*pt.logRatio
			top = max(top, last)
		}
		if last > top+cut {
			continue
		}
		// The last z, mirrored when in reverse.
		z := m.mid + length - 1
		if reverse {
			z = shift - (m.mid - length)
		}
		if rest, ok := n.rightRest(z, shift, a, t); ok && rest < top+cut {
			break
		}
	}
	sum := 0.0
	for _, side := range [][]mixPoint{(*light)[:lightLength], (*heavy)[:length]} {
		for _, pt := range side {
			if v := pt.logQ + power*pt.logRatio - top; v > cut {
				sum += math.Exp(v)
			}
		}
	}
	skipped := (float64(lightLength+length) + 3) * math.Exp(cut)
	log := top + math.Log(sum+skipped)
	return max(0, log+4e-16*(8+math.Abs(log)+a*float64(shift)))
}

// fillMix computes a side of the law up to the given length.
func (n *roundedNoise) fillMix(m *mixLaw, side *[]mixPoint, length int) {
	k := int(m.k)
	n.grow2(length + 2*k + 4)
	for i := len(*side); i < length; i++ {
		z := m.mid + i
		if side == &m.down {
			z = m.mid - 1 - i
		}
		logQ := n.logP[abs(z)]
		low := n.logP[abs(z-k)] - logQ
		ratio := low
		if m.p > 0 {
			high := n.logP[abs(z-k-1)] - logQ
			// log((1-p) e^low + p e^high), about the larger of the two
			if high > low {
				ratio = high + math.Log1p((1-m.p)*math.Expm1(low-high))
			} else {
				ratio = low + math.Log1p(m.p*math.Expm1(high-low))
			}
		}
		*side = append(*side, mixPoint{logQ, ratio})
	}
}
