package accountant

import "math"

// delta of the binomial mechanism in one dimension, exactly: the larger of the two directions of
// sum max(0, P(z) - e^epsilon Q(z)). Binomial laws are log-concave, so the largest shift is the worst.
func (e Binomial) delta(epsilon float64) float64 { return e.deltas()(epsilon) }

// deltas computes the law once for many epsilons.
func (e Binomial) deltas() func(epsilon float64) float64 {
	pmf, first := e.law()
	at := func(z int) float64 {
		if i := z - first; i >= 0 && i < len(pmf) {
			return pmf[i]
		}
		return 0
	}
	direction := func(shift int, grow float64) float64 {
		sum := 0.0
		for i, p := range pmf {
			// P is the law moved by shift; where Q is zero the whole of P counts.
			q := at(first + i + shift)
			if q == 0 {
				sum += p
			} else if over := p - grow*q; over > 0 {
				sum += over
			}
		}
		return sum
	}
	return func(epsilon float64) float64 {
		grow := math.Exp(epsilon)
		// The last term covers the rounding of the law and what float64 cannot tell from zero.
		return min(1, max(direction(e.Shift, grow), direction(-e.Shift, grow))*(1+slack)+1e-16)
	}
}

// law is Bin(trials, p) as far as float64 can tell it from zero, and the first outcome listed. It follows the ratio of
// neighbours outwards from the mode, which keeps every digit.
func (e Binomial) law() (pmf []float64, first int) {
	n, odds := float64(e.Trials), e.P/(1-e.P)
	mode := min(int((n+1)*e.P), e.Trials)
	var right []float64
	for k, v := mode, 1.0; k < e.Trials && v > 1e-300; k++ {
		v *= (n - float64(k)) / float64(k+1) * odds
		right = append(right, v)
	}
	var left []float64
	for k, v := mode, 1.0; k > 0 && v > 1e-300; k-- {
		v *= float64(k) / (n - float64(k) + 1) / odds
		left = append(left, v)
	}
	pmf = make([]float64, 0, len(left)+len(right)+1)
	total := 1.0
	for i := len(left) - 1; i >= 0; i-- {
		pmf = append(pmf, left[i])
		total += left[i]
	}
	pmf = append(pmf, 1)
	pmf = append(pmf, right...)
	for _, v := range right {
		total += v
	}
	for i := range pmf {
		pmf[i] /= total
	}
	return pmf, mode - len(left)
}

// epsilonOf inverts a delta that falls in epsilon, rounding up. +Inf when no epsilon reaches it.
func epsilonOf(target float64, delta func(epsilon float64) float64) float64 {
	if delta(0) <= target {
		return 0
	}
	lo, hi := 0.0, 1.0
	for delta(hi) > target {
		lo, hi = hi, 2*hi
		if hi > 700 { // e^hi would overflow
			return math.Inf(1)
		}
	}
	for hi-lo > 1e-10*hi {
		if mid := (lo + hi) / 2; delta(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return up(hi)
}

// epsilon of cpSGD's binomial mechanism (Agarwal et al. 2018, arXiv:1805.10559, Theorem 1), in integer units. It needs
// N p (1-p) >= max(23 log(10 d/delta), 2 Linf); otherwise there is no bound.
func (e CPSGD) epsilon(delta float64) float64 {
	n, p, d := float64(e.Trials), e.P, float64(e.Dim)
	variance := n * p * (1 - p)
	if !(variance >= max(23*math.Log(10*d/delta), 2*e.Linf)) {
		return math.Inf(1)
	}
	q := 1 - p
	b := 2*(p*p+q*q)/3 + math.Abs(1-2*p)
	c := math.Sqrt2 * (3*p*p*p + 3*q*q*q + 2*p*p + 2*q*q)
	dp := 4 * (p*p + q*q) / 3
	epsilon := e.L2*math.Sqrt(2*math.Log(1.25/delta))/math.Sqrt(variance) +
		(e.L2*c*math.Sqrt(math.Log(10/delta))+e.L1*b)/(variance*(1-delta/10)) +
		(2*e.Linf*math.Log(1.25/delta)/3+e.Linf*dp*math.Log(20*d/delta)*math.Log(10/delta))/variance
	return up(epsilon)
}
