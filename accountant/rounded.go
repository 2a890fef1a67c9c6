package accountant

import "math"

// rdp of randomised rounding followed by Skellam noise. A coordinate x = k+p leaves as M_x, the mixture of the law Q
// moved by k (weight 1-p) and by k+1 (weight p). With rho the supremum of D_a(M_x||Q)/x^2, and of the reverse, over all
// x, divergences add over coordinates to at most rho * L2^2: free of the dimension, and L2 is the norm before rounding.
//
// The supremum is certified, not sampled: see [roundedNoise.certify]. It is computed at whole orders; between them the log
// moment is interpolated, which is an upper bound.
func (e RoundedSkellam) rdp(orders []float64) []float64 {
	top := 2.0
	for _, a := range orders {
		if !math.IsInf(a, 1) {
			top = max(top, math.Ceil(a))
		}
	}
	noise := newRoundedNoise(e.Rate, e.L2)
	grid := noise.orders(min(top, maxRoundedOrder))
	table := make([]float64, len(grid))
	for i, a := range grid {
		table[i] = (a - 1) * noise.certify(a)
	}
	out := filled(len(orders), math.Inf(1))
	for i, a := range orders {
		if a <= grid[len(grid)-1] {
			out[i] = up(interpolate(grid, table, a) / (a - 1) * e.L2 * e.L2)
		}
	}
	return out
}

const (
	maxRoundedOrder = 512 // beyond, no bound: larger orders serve only epsilons below 0.03
	maxRoundedRate  = 1e8 // beyond, no bound: the sums would take seconds
)

// interpolate reads a convex function with f(1) = 0 at a, from its values on a grid of whole orders.
func interpolate(grid, values []float64, a float64) float64 {
	beforeX, beforeY := 1.0, 0.0
	for i, x := range grid {
		switch {
		case x == a:
			return values[i]
		case x > a:
			if math.IsInf(values[i], 1) {
				return values[i]
			}
			return beforeY + (a-beforeX)/(x-beforeX)*(values[i]-beforeY)
		}
		beforeX, beforeY = x, values[i]
	}
	return math.Inf(1)
}

// roundedNoise is Skellam noise seen through rounding.
type roundedNoise struct {
	*skellamNoise
	l2        float64
	tolerance float64             // how far the certified supremum may lie above the true one
	logExcess []float64           // log E_Q[(W-1)^l] by l, where W = p(z-1)/p(z)
	mixes     map[float64]*mixLaw // by x
	moments   map[momentKey]float64
}

type momentKey struct {
	x       float64
	reverse bool
}

func newRoundedNoise(rate, l2 float64) *roundedNoise {
	n := &roundedNoise{skellamNoise: &skellamNoise{rate: rate}, l2: l2, mixes: map[float64]*mixLaw{}, moments: map[momentKey]float64{}}
	if rate > maxRoundedRate {
		return n
	}
	n.fill()
	// The finer the certificate, the more sums over about 19 standard deviations.
	switch width := 19 * math.Sqrt(2*rate); {
	case width < 400:
		n.tolerance = 1e-4
	case width < 1500:
		n.tolerance = 2e-4
	case width < 8000:
		n.tolerance = 1e-3
	default:
		n.tolerance = 1e-2
	}
	return n
}

// orders are the whole orders at which the supremum is certified: fewer when each takes long.
func (n *roundedNoise) orders(top float64) []float64 {
	dense, ratio := 48.0, 1.08
	if n.tolerance > 2e-4 {
		dense, ratio = 8, 1.1
	}
	if n.tolerance > 1e-3 {
		dense, ratio, top = 6, 1.15, min(top, 128)
	}
	var grid []float64
	for a := 2.0; a < top; {
		grid = append(grid, a)
		if a < dense {
			a++
		} else {
			a = math.Ceil(a * ratio)
		}
	}
	return append(grid, top)
}

// certify bounds sup over 0 < x <= L2 of D_a(M_x||Q)/x^2 and D_a(Q||M_x)/x^2 from above, for a whole order a.
//
// Pieces of the line are bounded one by one and halved until each lies below the largest value found so far, times
// 1 + tolerance. Each bound is proved where it stands; the pieces cover (0, L2].
func (n *roundedNoise) certify(a float64) float64 {
	if n.rate > maxRoundedRate {
		return math.Inf(1)
	}
	s := supremum{tolerance: n.tolerance}
	clear(n.moments)
	end := min(n.l2, 1)
	n.forwardNearZero(&s, a, end)
	n.reverseNearZero(&s, a, end)
	exact := min(n.l2, max(8, n.exactShifts())) // beyond 8 rounding is worth less than 0.4%
	for k := 1.0; k < exact; k++ {
		s.cover(k, min(k+1, n.l2), func(u, v float64) float64 {
			return forwardChord(u, v, n.momentAt(u, a, false), n.momentAt(v, a, false), a)
		})
		s.cover(k, min(k+1, n.l2), func(u, v float64) float64 {
			return reverseChord(u, v, n.momentAt(u, a, true), n.momentAt(v, a, true))
		})
	}
	if n.l2 > exact {
		k := math.Floor(exact)
		s.take(n.farBound(a, k))
	}
	return up(s.value / (a - 1))
}

// supremum collects upper bounds of pieces.
type supremum struct {
	value     float64 // the certified bound so far
	attained  float64 // the largest value that was found: the supremum is at least this
	tolerance float64
}

func (s *supremum) take(bound float64) {
	if math.IsNaN(bound) {
		bound = math.Inf(1)
	}
	s.value = max(s.value, bound)
}

// cover bounds a function over [u, v] given how to bound it over any part; bound(x, x) is its value at x. A part is
// accepted when its bound hardly exceeds a value that is attained, or when it is too short for halving to gain.
func (s *supremum) cover(u, v float64, bound func(u, v float64) float64) {
	b := bound(u, v)
	if b <= s.attained*(1+s.tolerance) || v-u < 1e-5 || math.IsInf(b, 1) || math.IsNaN(b) {
		s.take(b)
		return
	}
	mid := (u + v) / 2
	if at := bound(mid, mid); !math.IsInf(at, 1) {
		s.attained = max(s.attained, at)
	}
	s.cover(u, mid, bound)
	s.cover(mid, v, bound)
}

// forwardNearZero covers [0, end], end <= 1, for E_Q[(M_x/Q)^a] = 1 + sum over l of C(a,l) x^l E_Q[(W-1)^l]. By the
// reflection z -> 1-z every E_Q[(W-1)^l] is >= 0, so g(x) = (moment - 1)/x^2 never falls, and over [u, v]
// log(1 + x^2 g(x))/x^2 <= log(1 + u^2 g(v))/u^2, which is g(v) when u = 0.
func (n *roundedNoise) forwardNearZero(s *supremum, a, end float64) {
	top := int(a)
	n.excessTo(top)
	coefficients := make([]float64, top+1)
	for l := 2; l <= top; l++ {
		choose, _ := logBinomial(a, float64(l))
		coefficients[l] = math.Exp(choose + n.logExcess[l])
	}
	// As x <= 1, the last powers may be lowered: an upper bound, worth it where they are negligible.
	for top > 2 && coefficients[top] < 1e-14*coefficients[2] {
		coefficients[top-1] += coefficients[top]
		top--
	}
	g := func(x float64) float64 {
		sum := 0.0
		for l := top; l >= 2; l-- {
			sum = sum*x + coefficients[l]
		}
		return sum
	}
	s.cover(0, end, func(u, v float64) float64 {
		if u == 0 {
			return g(v)
		}
		gv := g(v)
		flat := math.Log1p(u*u*gv) / (u * u)
		if u == v {
			return flat
		}
		return min(flat, forwardChord(u, v, math.Log1p(u*u*g(u)), math.Log1p(v*v*gv), a))
	})
}

// excessTo computes log E_Q[(W-1)^l] up to top. The terms of z and 1-z are taken together:
// Q(z) (W-1)^l (1 + (-1)^l W^(1-l)) >= 0 for z >= 1, so nothing cancels.
func (n *roundedNoise) excessTo(top int) {
	if len(n.logExcess) == 0 {
		n.logExcess = []float64{0, negInf}
	}
	t := 2 * n.rate
	for l := len(n.logExcess); l <= top; l++ {
		a := float64(l)
		sign := 1.0
		if l%2 == 1 {
			sign = -1
		}
		sum, best := negInf, negInf
		for z := 1; ; z++ {
			n.grow2(z + 1)
			logW := n.logP[z-1] - n.logP[z]
			term := n.logP[z] + a*logExpm1(logW) + math.Log1p(sign*math.Exp((1-a)*logW))
			best = max(best, term)
			if term > best+cut {
				sum = logAdd(sum, term)
			}
			if z&15 == 0 && term < best+cut {
				if rest, ok := n.rightRest(z, 1, a, t); ok && rest < best+cut {
					break
				}
			}
		}
		n.logExcess = append(n.logExcess, sum+1e-13*a)
	}
}

func (n *skellamNoise) grow2(need int) {
	if need >= len(n.logP) {
		n.grow(need + need/2)
	}
}

// reverseNearZero covers [0, end] for E_Q[(Q/M_x)^(a-1)] = E_Q[(1+v)^(1-a)], v = x(W-1) >= -x. Near 0 by Taylor with the
// fourth-order remainder, whose derivative is largest at v = -x; E_Q v = 0 and E_Q[(W-1)^3] >= 0 help:
//
//	(moment - 1)/x^2 <= C(a,2) m2 - C(a+1,3) x m3 + C(a+2,4) (1-x)^-(a+3) x^2 m4.
//
// From there on by chords.
func (n *roundedNoise) reverseNearZero(s *supremum, a, end float64) {
	n.excessTo(max(4, int(a)))
	m2, m3, m4 := math.Exp(n.logExcess[2]), math.Exp(n.logExcess[3]), math.Exp(n.logExcess[4])
	second, third, fourth := a*(a-1)/2*m2, (a+1)*a*(a-1)/6*m3, (a+2)*(a+1)*a*(a-1)/24*m4
	near := min(end, 0.5)
	// The cubic in brackets is convex in x where it counts: it is at most the larger of its ends, 0 and at near.
	extra := func(x float64) float64 { return -third*x + fourth*math.Exp(-(a+3)*math.Log1p(-x))*x*x }
	for extra(near) > s.tolerance*second {
		near /= 2
	}
	s.take(second + max(0, extra(near)))
	for u := near; u < end; {
		v := min(2*u, end)
		s.cover(u, v, func(u, v float64) float64 {
			return reverseChord(u, v, n.momentAt(u, a, true), n.momentAt(v, a, true))
		})
		u = v
	}
}

// forwardChord bounds sup over [u, v] of log h(x)/x^2 for h(x) = E_Q[(M_x/Q)^a]. Its a-th root is a norm of something
// affine in x, hence convex: h(x) <= (A + Bx)^a through the ends. a log(A+Bx)/x^2 rises and then falls, if it rises.
func forwardChord(u, v, logU, logV, a float64) float64 {
	atU, atV := logU/(u*u), logV/(v*v)
	if u == v || math.IsInf(logU, 1) || math.IsInf(logV, 1) {
		return max(atU, atV)
	}
	// Scaled by e^(-logV/a), lest large moments overflow.
	scale := logV / a
	yU := math.Exp(logU/a - scale)
	slope := (1 - yU) / (v - u)
	if slope <= 0 {
		return max(atU, logU/(u*u))
	}
	value := func(x float64) float64 { return a * (scale + math.Log(1+slope*(x-v))) / (x * x) }
	falls := func(x float64) bool { // sign of the derivative
		y := 1 + slope*(x-v)
		return slope*x/y < 2*(scale+math.Log(y))
	}
	if falls(u) {
		return atU
	}
	if !falls(v) {
		return atV
	}
	lo, hi := u, v
	for range 40 {
		mid := (lo + hi) / 2
		if falls(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return max(value(lo), value(hi)) * (1 + slack)
}

// reverseChord bounds sup over [u, v] of log h(x)/x^2 for h(x) = E_Q[(Q/M_x)^(a-1)]. By the reverse Minkowski inequality
// h^(-1/(a-1)) is concave, so log h is convex and below its chord A + Bx, and (A+Bx)/x^2 peaks at -2A/B.
func reverseChord(u, v, logU, logV float64) float64 {
	atU, atV := logU/(u*u), logV/(v*v)
	if u == v || math.IsInf(logU, 1) || math.IsInf(logV, 1) {
		return max(atU, atV)
	}
	slope := (logV - logU) / (v - u)
	base := logU - slope*u
	if peak := -2 * base / slope; peak > u && peak < v {
		return max(atU, atV, (base+slope*peak)/(peak*peak)) * (1 + slack)
	}
	return max(atU, atV)
}

// farBound covers all x >= k without sums: with log h(j) <= c j^2 at whole j >= k (the published bound), Minkowski and
// Hoeffding's lemma give log h(x) <= c x^2 + c p(1-p) + (c(2j+1))^2/(8a) between them, forward; the reverse is less.
func (n *roundedNoise) farBound(a, k float64) float64 {
	c := (a - 1) * aklPerSquare(n.rate, k, a)
	return c * (1 + 1/(4*k*k) + c*(2+1/k)*(2+1/k)/(8*a))
}
