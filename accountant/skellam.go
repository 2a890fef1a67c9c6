package accountant

import "math"

// Paper 002: the distributed Skellam mechanism (anonymous, under review); [AKL21] Agarwal, Kairouz, Liu, The Skellam
// mechanism for differentially private federated learning, arXiv:2110.04995.

// rdp of Skellam noise on integer vectors. Divergences add over coordinates, so with rho = max D_a(s)/s^2 over the
// shifts s that one coordinate can make, the vector's divergence is at most rho * L2^2, whatever its direction.
func (e Skellam) rdp(orders []float64) []float64 {
	linf := e.L2
	if e.Linf != 0 {
		linf = e.Linf
	}
	out := filled(len(orders), math.Inf(1)) // at order infinity the ratio of two Skellam masses is unbounded
	switch e.Bound {
	case SkellamDSM:
		for i, a := range orders {
			out[i] = up(dsmPerSquare(e.Rate, linf, a) * e.L2 * e.L2)
		}
	case SkellamAKL:
		for i, a := range orders {
			if !math.IsInf(a, 1) {
				out[i] = up(between1(a, func(a float64) float64 { return aklVector(e.Rate, e.L2, a) }))
			}
		}
	default:
		for i, rho := range newSkellamNoise(e.Rate).rhos(orders, linf) {
			if !math.IsInf(orders[i], 1) {
				out[i] = up(rho * e.L2 * e.L2)
			}
		}
	}
	return out
}

// dsmPerSquare is Theorem 1 of paper 002 over L2^2: (1.09a + 0.91)/2 / (2L) for a < 2L/Linf + 1.
func dsmPerSquare(rate, linf, a float64) float64 {
	if !(a < 2*rate/linf+1) {
		return math.Inf(1)
	}
	return (1.09*a + 0.91) / 2 / (2 * rate)
}

// aklVector is [AKL21, Corollary 4.1] for whole orders. Integer vectors have L1 <= L2^2.
func aklVector(rate, l2, a float64) float64 {
	variance, square := 2*rate, l2*l2
	l1 := square
	return a*square/(2*variance) + min(((2*a-1)*square+6*l1)/(4*variance*variance), 3*l1/(2*variance))
}

// aklPerSquare is the same for one coordinate that moves by s, over s^2. It falls in s.
func aklPerSquare(rate, s, a float64) float64 {
	variance := 2 * rate
	return a/(2*variance) + min(((2*a-1)+6/s)/(4*variance*variance), 3/s/(2*variance))
}

// between1 extends a bound at whole orders to all: the log of a moment is convex in its order.
func between1(a float64, bound func(whole float64) float64) float64 {
	lo, hi := math.Floor(a), math.Ceil(a)
	switch {
	case lo == hi:
		return bound(a)
	case lo == 1:
		return bound(2)
	}
	return ((hi-a)*(lo-1)*bound(lo) + (a-lo)*(hi-1)*bound(hi)) / (a - 1)
}

// exactShifts says for how many shifts the divergence is summed out. Beyond them, and beyond maxExactOrder, the
// published bound takes over: its relative gap is about 1/variance, which is small where sums are long.
func (n *skellamNoise) exactShifts() float64 {
	return min(64, math.Floor(3200/math.Sqrt(2*n.rate)))
}

const maxExactOrder = 128

// rhos is max D_a(s)/s^2 over whole shifts 1 <= s <= linf, for each finite order.
func (n *skellamNoise) rhos(orders []float64, linf float64) []float64 {
	out := make([]float64, len(orders))
	exact := n.exactShifts()
	for s := 1; s <= int(min(linf, exact)); s++ {
		shifted := n.shifted(s)
		for i, a := range orders {
			if a <= maxExactOrder {
				out[i] = max(out[i], shifted.divergence(a)/float64(s*s))
			}
		}
	}
	for i, a := range orders {
		if a > maxExactOrder {
			out[i] = between1(a, func(a float64) float64 { return aklPerSquare(n.rate, 1, a) })
		} else if math.Floor(linf) > exact {
			out[i] = max(out[i], between1(a, func(a float64) float64 { return aklPerSquare(n.rate, exact+1, a) }))
		}
	}
	return out
}

// skellamNoise holds log p(k) of Sk(L, L) around zero, grown as needed.
type skellamNoise struct {
	rate  float64
	logP  []float64 // logP[k] for k >= 0; the law is symmetric
	edge  int       // logP[edge] is below cut: what lies beyond is negligible beside 1
	terms []float64 // scratch
}

// cut is the logarithm below which a term is counted by a bound instead of being summed: 1e4 such terms stay below
// 1e-15 of the sum.
const cut = -45.0

func newSkellamNoise(rate float64) *skellamNoise {
	n := &skellamNoise{rate: rate}
	if n.exactShifts() > 0 { // else its law will not be summed
		n.fill()
	}
	return n
}

// fill computes the law as far as it matters by itself.
func (n *skellamNoise) fill() {
	n.grow(int(12*math.Sqrt(2*n.rate)) + 60)
	for n.edge = 1; n.logP[n.edge] > cut-3; n.edge++ {
		if n.edge+1 == len(n.logP) {
			n.grow(2 * len(n.logP))
		}
	}
}

// grow computes log p(0..top). The ratios r_k = p(k+1)/p(k) follow backwards from r_{k-1} = 1/(k/L + r_k), which is
// stable; their products, normalised to sum 1, are the law.
func (n *skellamNoise) grow(top int) {
	if top < len(n.logP) {
		return
	}
	t := 2 * n.rate
	// Start far beyond: the ratio's error shrinks by r^2 each step. The start value is the ratio's known upper bound.
	k := float64(top + 64)
	r := t / (k + math.Sqrt(k*k+t*t))
	logR := make([]float64, top+1)
	for i := top + 64; i >= 1; i-- {
		r = 1 / (2*float64(i)/t + r)
		if i-1 <= top {
			logR[i-1] = math.Log(r)
		}
	}
	logP := make([]float64, top+1)
	mass := 1.0 // relative to p(0)
	for i := 1; i <= top; i++ {
		logP[i] = logP[i-1] + logR[i-1]
		mass += 2 * math.Exp(logP[i])
	}
	shift := math.Log(mass)
	for i := range logP {
		logP[i] -= shift
	}
	n.logP = logP
}

// shiftedSkellam compares the law moved by s with the law itself. Both directions are the same, by reflection.
type shiftedSkellam struct {
	*skellamNoise
	s        int
	from     int       // the z of the first entry
	logQ     []float64 // log p(z)
	logRatio []float64 // log p(z-s)/p(z), rising in z
}

func (n *skellamNoise) shifted(s int) *shiftedSkellam {
	// Where z <= s/2 the ratio is at most 1, so the terms left of this sum to less than the law's tail, e^cut, while
	// the whole sum is at least 1.
	return &shiftedSkellam{skellamNoise: n, s: s, from: min(s-n.edge, s/2)}
}

// extend fills the tables up to z.
func (c *shiftedSkellam) extend(z int) {
	if need := max(z, c.s-c.from, -c.from) + 1; need >= len(c.logP) {
		c.grow(need + need/2)
	}
	for next := c.from + len(c.logQ); next <= z; next++ {
		c.logQ = append(c.logQ, c.logP[abs(next)])
		c.logRatio = append(c.logRatio, c.logP[abs(next-c.s)]-c.logP[abs(next)])
	}
}

// divergence is D_a(Z+s || Z) = 1/(a-1) log sum over z of p(z) (p(z-s)/p(z))^a, raised by what the sum leaves out.
func (c *shiftedSkellam) divergence(a float64) float64 {
	return up(c.logMoment(a) / (a - 1))
}

func (c *shiftedSkellam) logMoment(a float64) float64 {
	const chunk = 64
	t, s := 2*c.rate, float64(c.s)
	top, done := negInf, 0
	for to := chunk; ; to += chunk {
		if to > len(c.logQ) {
			c.extend(c.from + to + int(a*s))
		}
		if to > len(c.terms) {
			c.terms = append(c.terms, make([]float64, 2*to)...)
		}
		terms, logQ, logRatio := c.terms[done:to], c.logQ[done:to], c.logRatio[done:to]
		for i := range terms {
			terms[i] = logQ[i] + a*logRatio[i]
			if terms[i] > top {
				top = terms[i]
			}
		}
		done = to
		if terms[chunk-1] > top+cut {
			continue
		}
		if rest, ok := c.rightRest(c.from+done-1, c.s, a, t); ok && rest < top+cut {
			break
		}
	}
	sum := 0.0
	for _, term := range c.terms[:done] {
		if x := term - top; x > cut {
			sum += math.Exp(x)
		}
	}
	// What was skipped: at most one e^cut per term, the left tail, the right rest. Rounding: one unit per shift in the
	// ratio, times the order; the law's own error is common to both sides and cancels.
	skipped := (float64(done) + 3) * math.Exp(cut)
	log := top + math.Log(sum+skipped)
	return max(0, log+4e-16*(8+math.Abs(log)+a*s))
}

// rightRest bounds the log of the sum, over all places right of z, of p(.) (p(.-s)/p(.))^a. There
// p(z-s)/p(z) <= exp(s asinh(z/t)) (paper 002, Lemma 4), so the terms are at most B(z) = p(z-s) exp(s(a-1) asinh(z/t)),
// whose own ratio falls in z: a geometric series. Not ok: z is too far left to tell.
func (n *skellamNoise) rightRest(z, s int, a, t float64) (rest float64, ok bool) {
	v := z - s
	if v <= 0 {
		return 0, false
	}
	n.grow2(v + 1)
	steep := float64(s) * (a - 1)
	logFall := n.logP[v+1] - n.logP[v] + steep/math.Hypot(float64(z), t)
	if logFall > -1e-3 {
		return 0, false
	}
	return n.logP[v] + steep*math.Asinh(float64(z)/t) + logFall - math.Log(-math.Expm1(logFall)), true
}

func abs(k int) int {
	if k < 0 {
		return -k
	}
	return k
}
