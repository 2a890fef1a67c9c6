package accountant

import "math"

// rdp of sampling a fixed share without replacement, for replace-one neighbours: [WBK19, Theorem 9]
//
//	E^(a) <= 1 + q^2 C(a,2) min(4(e^D2 - 1), e^D2 min(2, (e^Dinf - 1)^2))
//	           + sum over l = 3..a of q^l C(a,l) e^((l-1) Dl) min(2, (e^Dinf - 1)^l)
//
// at whole orders, and log-convexity between them. The unsampled value is taken when it is smaller.
func (e WithoutReplacement) rdp(orders []float64) []float64 {
	switch {
	case e.Rate == 0:
		return make([]float64, len(orders))
	case e.Rate == 1:
		return e.Event.rdp(orders)
	}
	in := wholeMoments(e.Event, orders)
	return in.sampled(e.Rate, e.Event, orders, func(a float64) float64 {
		return withoutReplacement(e.Rate, a, in.pure, in.at)
	})
}

func withoutReplacement(q, a, pure float64, logMoment func(l float64) float64) float64 {
	logQ := math.Log(q)
	logPure := math.Inf(1)
	if pure < 40 {
		logPure = logExpm1(pure)
	}
	d2 := logMoment(2)
	second := min(math.Log(4)+logExpm1(d2), d2+min(math.Ln2, 2*logPure))
	top := 2*logQ + math.Log(a*(a-1)/2) + second
	terms := []float64{top}
	for l := 3.0; l <= a; l++ {
		m := logMoment(l)
		if math.IsInf(m, 1) || math.IsNaN(m) {
			return math.Inf(1)
		}
		term := l*logQ + logChoose(int(a), int(l)) + m + min(math.Ln2, l*logPure)
		terms = append(terms, term)
		top = max(top, term)
	}
	if math.IsInf(top, -1) {
		return 0 // the event itself costs nothing
	}
	sum := 0.0
	for _, term := range terms {
		sum += math.Exp(term - top)
	}
	return log1pExp(top + math.Log(sum))
}
