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
	top := 2.0
	for _, a := range orders {
		if !math.IsInf(a, 1) {
			top = max(top, math.Ceil(a))
		}
	}
	grid := wholeOrders(top)
	inner := e.rdp(append(append([]float64{}, grid...), math.Inf(1)))
	pure := inner[len(grid)]
	logMoment := convexMoments(grid, inner[:len(grid)])
	direct := e.rdp(orders)
	mirrored := mirrors(e)

	// At whole orders: log of the larger moment of the two directions.
	moment := func(a float64) float64 {
		forward := sampledForward(q, a, logMoment)
		if mirrored {
			return forward
		}
		return max(forward, sampledReverse(q, a, logMoment(2)))
	}
	out := make([]float64, len(orders))
	for i, a := range orders {
		if math.IsInf(a, 1) {
			out[i] = min(direct[i], up(amplified(q, pure)))
			continue
		}
		lo, hi := math.Floor(a), math.Ceil(a)
		var m float64
		switch {
		case lo == hi:
			m = moment(a)
		case lo == 1:
			m = (a - 1) * moment(2)
		default:
			m = (hi-a)*moment(lo) + (a-lo)*moment(hi)
		}
		out[i] = min(direct[i], up(m/(a-1)))
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
	logQ, logRest := math.Log(q), math.Log1p(-q)
	excess := negInf
	for l := 2.0; l <= a; l++ {
		m := logMoment(l)
		if math.IsInf(m, 1) || math.IsNaN(m) {
			return math.Inf(1)
		}
		if m == 0 {
			continue
		}
		choose, _ := logBinomial(a, l)
		excess = logAdd(excess, choose+l*logQ+(a-l)*logRest+logExpm1(m))
	}
	return log1pExp(excess)
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

// wholeOrders are the integers from 2 to top at which moments are computed: all up to 64, then 4% apart.
func wholeOrders(top float64) []float64 {
	var grid []float64
	for a := 2.0; a < top; {
		grid = append(grid, a)
		if a < 64 {
			a++
		} else {
			a = math.Ceil(a * 1.04)
		}
	}
	return append(grid, top)
}

// convexMoments returns log E_Q[(P/Q)^l] = (l-1) D_l at any whole l. Between grid orders it interpolates, which is an
// upper bound because the logarithm of a moment is convex in its order.
func convexMoments(grid, rdp []float64) func(l float64) float64 {
	top := int(grid[len(grid)-1])
	table := make([]float64, top+1)
	for i, a := range grid {
		value := (a - 1) * rdp[i]
		table[int(a)] = value
		if i == 0 {
			continue
		}
		before := grid[i-1]
		for l := before + 1; l < a; l++ {
			table[int(l)] = ((a-l)*table[int(before)] + (l-before)*value) / (a - before)
		}
	}
	return func(l float64) float64 { return table[int(l)] }
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
	add, sub := negInf, negInf
	last := negInf
	// Past i > a the terms alternate in sign and fall, so what is left out is below the first omitted term.
	for i := 0.0; i < 20000; i++ {
		choose, sign := logBinomial(a, i)
		j := a - i
		below := choose + j*logRest + i*logQ + i*(i-1)/v + logErfc((i-split)/root) - math.Ln2
		above := choose + i*logRest + j*logQ + j*(j-1)/v + logErfc((split-j)/root) - math.Ln2
		last = logAdd(below, above)
		if i > a && last < math.Max(add, 0)-36 {
			break
		}
		if sign > 0 {
			add = logAdd(add, last)
		} else {
			sub = logAdd(sub, last)
		}
	}
	// The omitted rest, and the rounding error of the sum, which is 1 plus little for rare sampling.
	moment := logSub(add, sub)
	return logAdd(max(moment, 0), max(last, add-33))
}
