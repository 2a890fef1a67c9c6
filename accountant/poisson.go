package accountant

import "math"

// rdp of a Poisson-sampled event. With Q the output without the unit and P the output with it, neighbours compare
// S = (1-q)Q + qP with Q, in both directions; [Poisson.rdp] bounds the larger.
func (e Poisson) rdp(orders []float64) []float64 {
	switch {
	case e.Rate == 0:
		return make([]float64, len(orders))
	case e.Rate == 1:
		return e.Event.rdp(orders)
	}
	if mu, ok := asGaussian(e.Event); ok {
		return sampledGaussian(e.Rate, mu, orders)
	}
	if inner, ok := e.Event.(Poisson); ok { // sampled twice is sampled once, less often
		return Poisson{e.Rate * inner.Rate * (1 + slack), inner.Event}.atMostOne().rdp(orders)
	}
	return sampled(e.Rate, e.Event, orders)
}

func (e Poisson) atMostOne() Poisson {
	e.Rate = min(e.Rate, 1)
	return e
}

// sampled bounds any event from its divergences at whole orders, as follows, and takes the unsampled value when that is
// smaller (a mixture is never farther from Q than P is).
//
// Forward, E_Q[(S/Q)^a] is the binomial sum over E_Q[(P/Q)^l] exactly. When the event is plain noise that looks the same
// mirrored, P and Q swap roles under reflection and this direction is the larger [MTZ19, Theorem 5]. Otherwise the
// reverse direction is bounded by its own lemma. Orders between whole ones follow by log-convexity of moments.
func sampled(q float64, e Event, orders []float64) []float64 {
	in := wholeMoments(e, orders)
	mirrored := mirrors(e)
	return in.sampled(q, e, orders, func(a float64) float64 {
		forward := sampledForward(q, a, in.at)
		if mirrored {
			return forward
		}
		return max(forward, sampledReverse(q, a, in.at(2)))
	})
}

// moments holds log E_Q[(P/Q)^l] = (l-1) D_l of an event at whole l.
type moments struct {
	table []float64 // by l; 0 and 1 unused
	pure  float64   // its divergence at order infinity
}

func (m moments) at(l float64) float64 { return m.table[int(l)] }

// wholeMoments computes an event's moments up to the largest of orders. Beyond 64 it computes one in every 4% and
// interpolates, which is an upper bound because the logarithm of a moment is convex in its order.
func wholeMoments(e Event, orders []float64) moments {
	top := 2.0
	for _, a := range orders {
		if !math.IsInf(a, 1) {
			top = max(top, math.Ceil(a))
		}
	}
	var grid []float64
	for a := 2.0; a < top; {
		grid = append(grid, a)
		if a < 64 {
			a++
		} else {
			a = math.Ceil(a * 1.04)
		}
	}
	grid = append(grid, top, math.Inf(1))
	rdp := e.rdp(grid)
	m := moments{table: make([]float64, int(top)+1), pure: rdp[len(grid)-1]}
	for i, a := range grid[:len(grid)-1] {
		value := (a - 1) * rdp[i]
		m.table[int(a)] = value
		if i == 0 {
			continue
		}
		before := grid[i-1]
		for l := before + 1; l < a; l++ {
			m.table[int(l)] = ((a-l)*m.at(before) + (l-before)*value) / (a - before)
		}
	}
	return m
}

// sampled turns moment, the sampled event's log moment at whole orders, into divergences at any order.
func (m moments) sampled(q float64, e Event, orders []float64, moment func(a float64) float64) []float64 {
	memo := make([]float64, len(m.table))
	whole := func(a float64) float64 {
		if memo[int(a)] == 0 {
			memo[int(a)] = min(moment(a), m.at(a))
		}
		return memo[int(a)]
	}
	out := make([]float64, len(orders))
	for i, a := range orders {
		if math.IsInf(a, 1) {
			out[i] = up(min(m.pure, amplified(q, m.pure)))
			continue
		}
		out[i] = up(between1(a, func(a float64) float64 { return whole(a) / (a - 1) }))
	}
	// Between whole orders the unsampled event may be the better bound, but only when sampling gains nothing: at order
	// near 1 when q^2 e^(D_2/2) is not small.
	if 2*math.Log(q)+m.at(2)/2 > -1 {
		for i, d := range e.rdp(orders) {
			out[i] = min(out[i], d)
		}
	}
	return out
}

// amplified is the pure epsilon of a sampled event whose own is pure.
func amplified(q, pure float64) float64 {
	if math.IsInf(pure, 1) {
		return pure
	}
	return log1pExp(math.Log(q) + logExpm1(pure))
}

// sampledForward is log E_Q[(S/Q)^a], an upper bound when logMoment(l) bounds log E_Q[(P/Q)^l] from above.
// The binomial weights sum to 1, so only what each moment has above 1 is added up: no cancellation.
func sampledForward(q, a float64, logMoment func(l float64) float64) float64 {
	logOdds, logRest := math.Log(q)-math.Log1p(-q), a*math.Log1p(-q)
	terms := make([]float64, 0, int(a))
	top := negInf
	for l := 2.0; l <= a; l++ {
		m := logMoment(l)
		if math.IsInf(m, 1) || math.IsNaN(m) {
			return math.Inf(1)
		}
		if m > 0 {
			term := logChoose(int(a), int(l)) + l*logOdds + logRest + logExpm1(m)
			terms = append(terms, term)
			top = max(top, term)
		}
	}
	if len(terms) == 0 {
		return 0
	}
	sum := 0.0
	for _, term := range terms {
		if term > top-50 {
			sum += math.Exp(term - top)
		}
	}
	sum += float64(len(terms)) * math.Exp(-50) // what was not summed
	return log1pExp(top + math.Log(sum))
}

// sampledReverse bounds log E_Q[(Q/S)^(a-1)] for any P and Q. With v = q(P/Q - 1) >= -q, E_Q v = 0, and
// (1+v)^(1-a) having a second derivative that falls, Taylor's remainder gives
// 1 + a(a-1)/2 (1-q)^-(a+1) q^2 E_Q[(P/Q - 1)^2], and the last factor is exp(D_2(P||Q)) - 1.
func sampledReverse(q, a, logMoment2 float64) float64 {
	if math.IsInf(logMoment2, 1) {
		return logMoment2
	}
	if logMoment2 == 0 {
		return 0
	}
	return log1pExp(math.Log(a*(a-1)/2) - (a+1)*math.Log1p(-q) + 2*math.Log(q) + logExpm1(logMoment2))
}

// mirrors says whether, for any shift s, reflection z -> s-z swaps the outputs with and without the unit and leaves the
// noise as it is. Composed events may choose s by what came before, so they do not count.
func mirrors(e Event) bool {
	switch e := e.(type) {
	case Gaussian, Laplace, GDP, Skellam, DiscreteGaussian, DiscreteGaussianSum:
		return true
	case Repeat:
		return e.Count == 1 && mirrors(e.Event)
	case Compose:
		return len(e) == 1 && mirrors(e[0])
	}
	return false
}

// sampledGaussian is the exact divergence of the Poisson-sampled Gaussian mechanism [MTZ19]; of its two directions
// the forward one is the larger (Theorem 5 there). mu is sensitivity over noise.
func sampledGaussian(q, mu float64, orders []float64) []float64 {
	out := make([]float64, len(orders))
	plain := gaussianRDP(mu, orders)
	if mu == 0 {
		return plain
	}
	for i, a := range orders {
		var m float64
		switch {
		case math.IsInf(a, 1):
			m = math.Inf(1)
		case a == math.Trunc(a):
			m = sampledForward(q, a, func(l float64) float64 { return l * (l - 1) / 2 * mu * mu })
		default:
			m = sampledFractional(q, 1/mu, a)
		}
		out[i] = min(plain[i], up(m/(a-1)))
	}
	return out
}

// sampledFractional is the log moment of the sampled Gaussian at an order that is not whole: [MTZ19, section 3.3]. The
// expectation is split where q P = (1-q) Q; on each side the smaller part is expanded in powers.
func sampledFractional(q, sigma, a float64) float64 {
	logQ, logRest := math.Log(q), math.Log1p(-q)
	split := 0.5 + sigma*sigma*(logRest-logQ)
	v := 2 * sigma * sigma
	root := math.Sqrt2 * sigma
	add, sub, last := negInf, negInf, negInf
	choose, sign := 0.0, 1 // of a over i
	// Past i > a the terms alternate in sign and fall, so what is left out is below the last term.
	for i := 0.0; i < 20000; i++ {
		j := a - i
		below := choose + j*logRest + i*logQ + i*(i-1)/v + logErfc((i-split)/root) - math.Ln2
		above := choose + i*logRest + j*logQ + j*(j-1)/v + logErfc((split-j)/root) - math.Ln2
		last = logAdd(below, above)
		if sign > 0 {
			add = logAdd(add, last)
		} else {
			sub = logAdd(sub, last)
		}
		if i > a && last < math.Max(add, 0)-32 {
			break
		}
		choose += math.Log(math.Abs(j) / (i + 1))
		if j < 0 {
			sign = -sign
		}
	}
	// The omitted rest, and the rounding error of the sum, which is 1 plus little for rare sampling.
	moment := logSub(add, sub)
	return logAdd(max(moment, 0), max(last, add-33))
}
