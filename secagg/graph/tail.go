package graph

import "math"

// All probabilities here are base-2 logarithms, and every sum is rounded up: errors of the logarithms of factorials, at
// most 1e-8 for a million clients, are covered by slack.
const slack = 1e-6

// logChoose is log2 of the binomial coefficient; minus infinity if there is nothing to choose.
func logChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	lgamma := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return (lgamma(n) - lgamma(k) - lgamma(n-k)) / math.Ln2
}

// logAdd is log2(2^a + 2^b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp2(b-a))/math.Ln2
}

// hypergeometric describes the number of marked balls among drawn ones, out of all, without putting back.
type hypergeometric struct{ all, marked, drawn int }

func (h hypergeometric) log(hits int) float64 {
	return logChoose(h.marked, hits) + logChoose(h.all-h.marked, h.drawn-hits) - logChoose(h.all, h.drawn)
}

// atLeast is log2 P[hits or more marked balls], rounded up.
func (h hypergeometric) atLeast(hits int) float64 {
	return h.tail(max(hits, 0, h.drawn-(h.all-h.marked)), +1)
}

// atMost is log2 P[hits or fewer marked balls], rounded up.
func (h hypergeometric) atMost(hits int) float64 {
	return h.tail(min(hits, h.drawn, h.marked), -1)
}

// tail adds terms from one number of hits on, up or down, as multiples of the first. They are log-concave: once one is less than half of the one
// before, all that follow add up to less than it, and when it is below 2^-40 of the sum, slack covers them.
func (h hypergeometric) tail(from, step int) float64 {
	first := h.log(from)
	if math.IsInf(first, -1) { // past the end
		return first
	}
	rest := h.all - h.marked - h.drawn // so many unmarked balls are left, besides the hits
	sum, term := 1.0, 1.0
	for x := from; ; x += step {
		var ratio float64
		if step > 0 {
			ratio = float64(h.marked-x) * float64(h.drawn-x) / (float64(x+1) * float64(rest+x+1))
		} else {
			ratio = float64(x) * float64(rest+x) / (float64(h.marked-x+1) * float64(h.drawn-x+1))
		}
		term *= ratio
		sum += term
		if math.IsInf(sum, 1) { // the tail is 2^1000 times its first term: it may hold nearly everything
			return 0
		}
		if ratio < 0.5 && term < 0x1p-40*sum {
			break
		}
	}
	return min(first+math.Log2(sum)+slack, 0)
}

// torn bounds log2 of the probability that the clients who are left do not hang together, when removed clients at random
// places of a ring of n are taken out and each client knows the half next ones on either side.
//
// An edge spans fewer than half+1 places. So the ring is torn exactly where half or more neighbouring clients are gone, and
// what is left falls apart exactly if that happens at two places or more. The gaps between the m clients that are left
// are a uniform way to write removed as a sum of m terms; the expected number of pairs of long gaps bounds the probability:
//
//	C(m, 2) · C(removed - 2·half + m - 1, m - 1) / C(removed + m - 1, m - 1)
func torn(n, removed, half int) float64 {
	m := n - removed
	if m < 2 || removed < 2*half {
		return math.Inf(-1)
	}
	return min(logChoose(m, 2)+logChoose(removed-2*half+m-1, m-1)-logChoose(removed+m-1, m-1)+slack, 0)
}
