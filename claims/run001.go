package claims

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant"
	"hubbub/accountant/fdp"
	"hubbub/accountant/pld"
	"hubbub/audit"
	"hubbub/audit/sums"
	"hubbub/noise"
)

func correlatedGaussian() (Evidence, error) {
	// Variances 1 and 1, correlation 0.6: the difference (1, 0.6) is one standard deviation of the first entry, and explained by nothing else.
	distance, err := sums.Distance(sums.Covariance{Dim: 2, Values: []float64{1, .6, .6, 1}}, []float64{1, .6})
	if err != nil {
		return Evidence{}, err
	}
	pair, err := pld.Gaussian(1 / distance)
	if err != nil {
		return Evidence{}, err
	}
	b, err := pld.Delta([]pld.Term{{Pair: pair, Count: 1}}, 1, pld.Options{})
	if err != nil {
		return Evidence{}, err
	}
	claimed := accountant.GaussianDelta(1, 1)
	return Evidence{
		Ran:        "covariance [[1, .6], [.6, 1]], difference (1, .6), so Δ = 1: the formula at epsilon 1 against a bracket of the privacy loss distribution",
		Claimed:    number(claimed, "as delta"),
		Found:      number(b.Upper, "as delta at the most, and %.9g at the least", b.Lower),
		Contradict: claimed < b.Lower*(1-1e-9) || claimed > b.Upper*(1+1e-9) || math.Abs(claimed-.1269367375) > 1e-9,
	}, nil
}

func gaussianTradeoff() (Evidence, error) {
	const distance, alpha, trials = 2., .05, 200_000
	f, err := fdp.Gaussian(distance)
	if err != nil {
		return Evidence{}, err
	}
	claimed := f.Beta(alpha)
	threshold := distuv.UnitNormal.Quantile(1 - alpha)
	misses := 0
	z := make([]float64, trials)
	noise.Seeded(1).Derive("proposition 1").Stream().Gaussian(z)
	for _, v := range z {
		if v+distance <= threshold {
			misses++
		}
	}
	found := float64(misses) / trials
	return Evidence{
		Ran:        "200,000 draws two standard deviations apart, 5% false positives: the share that is missed",
		Claimed:    number(claimed, ""),
		Found:      number(found, ""),
		Contradict: math.Abs(found-claimed) > 5*math.Sqrt(claimed/trials), // false alarm 6e-7, and the seed is fixed
	}, nil
}

func missingRoot() (Evidence, error) {
	// d = 4 entries of variance 4, radius r·√d = 2.
	c := sums.Covariance{Dim: 4, Values: make([]float64, 16)}
	for i := range 4 {
		c.Values[5*i] = 4
	}
	found, err := sums.BallDistance(c, 2)
	if err != nil {
		return Evidence{}, err
	}
	direct, err := sums.Distance(c, []float64{4, 0, 0, 0}) // from -2 to 2 along one axis
	if err != nil {
		return Evidence{}, err
	}
	claimed := 2 * 2 / 4.
	return Evidence{
		Ran:        "d = 4, r = 1, all variances 4: the two updates (±2, 0, 0, 0)",
		Claimed:    number(claimed, "standard deviations apart"),
		Found:      number(found, "standard deviations apart (%.6g measured along the axis)", direct),
		Contradict: math.Abs(found-direct) < 1e-12 && math.Abs(claimed-found) > 1e-9,
	}, nil
}

func traceOfCovariance() (Evidence, error) {
	// A client that always sends 1.
	moments, err := sums.NewMoments(1)
	if err != nil {
		return Evidence{}, err
	}
	if err := moments.Add([]float32{1, 1, 1, 1}, sums.OneByOne); err != nil {
		return Evidence{}, err
	}
	square := moments.Mean()[0] * moments.Mean()[0]
	return Evidence{
		Ran:        "one client that always sends 1",
		Claimed:    number(square, "as variance: E‖x‖²"),
		Found:      number(0, "as variance: the update never differs from its mean %g", moments.Mean()[0]),
		Contradict: square > 0,
	}, nil
}

func reversedTradeoff() (Evidence, error) {
	// A perfectly private mechanism, tested by a coin: FPR 0.25, FNR 0.75. The trivial f = 0 lies below the point.
	const fpr, fnr, f = .25, .75, 0.
	epsilon, err := audit.Epsilon(fpr, fnr, 0)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "a mechanism whose output does not depend on the data, tested by a coin (FPR 0.25, FNR 0.75), and f = 0, which every mechanism fulfils",
		Claimed:    number(1, "violation of f, because f(FPR) = %g < FNR = %g", f, fnr),
		Found:      number(0, "violations: the audited epsilon is %g", epsilon),
		Contradict: f < fnr && epsilon == 0,
	}, nil
}

func gammaIsNotSymmetric() (Evidence, error) {
	const n, epsilon, move = 10, 1., 4.
	s, err := sums.New(sums.Gamma, n, 1)
	if err != nil {
		return Evidence{}, err
	}
	b, err := s.Delta(epsilon)
	if err != nil {
		return Evidence{}, err
	}
	// The other direction, in closed form: (x/(x-4))^(n-1)·e^-4 falls in x, so its inverse exceeds e^ε above a point.
	law := distuv.Gamma{Alpha: n, Beta: 1}
	z := move / -math.Expm1((epsilon-move)/(n-1))
	other := law.Survival(z-move) - math.Exp(epsilon)*law.Survival(z)
	return Evidence{
		Ran:        "exponential updates, 10 other clients, one entry, epsilon 1: delta of 0 against 4 and of 4 against 0",
		Claimed:    number(b.Lower, "in both directions, by symmetry"),
		Found:      number(other, "in the other direction; and with probability %.4g the sum of the one cannot come from the other at all", s.Certain()),
		Contradict: math.Abs(other-b.Lower) > .01,
	}, nil
}

func dependenceCanHide() (Evidence, error) {
	// Total variation between the sums for the target's bit 0 and 1.
	difference := func(other func(bit, coin int) int) float64 {
		var mass [2][3]float64
		for bit := range 2 {
			for coin := range 2 {
				mass[bit][bit+other(bit, coin)] += .5
			}
		}
		tv := 0.0
		for k := range 3 {
			tv += math.Abs(mass[0][k]-mass[1][k]) / 2
		}
		return tv
	}
	independent := difference(func(_, coin int) int { return coin })
	dependent := difference(func(bit, _ int) int { return 1 - bit })
	return Evidence{
		Ran:        "the target sends a bit; the other client sends a coin, or 1 minus the target's bit: advantage of the best guess from the sum",
		Claimed:    number(independent, "at the least when dependent, since independent clients have it"),
		Found:      number(dependent, "when dependent: the sum is always 1"),
		Contradict: dependent < independent,
	}, nil
}

func chunksCompose() (Evidence, error) {
	whole, err := sums.New(sums.Uniform, 10, 10)
	if err != nil {
		return Evidence{}, err
	}
	piece, err := sums.New(sums.Uniform, 10, 2)
	if err != nil {
		return Evidence{}, err
	}
	w, err := whole.Delta(1)
	if err != nil {
		return Evidence{}, err
	}
	p, err := piece.Delta(1)
	if err != nil {
		return Evidence{}, err
	}
	all, err := piece.Together(5, 1)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "uniform updates, 10 other clients, 10 entries in 5 chunks of 2, delta at epsilon 1",
		Claimed:    number(w.Upper, "in one piece"),
		Found:      number(all.Upper, "for all chunks together; %.6g for one of them alone", p.Upper),
		Contradict: math.Abs(all.Upper-w.Upper) > 1e-4 || p.Upper > w.Upper/2,
	}, nil
}

func clopperPearson() (Evidence, error) {
	const trials, delta = 5000, 1e-5
	largest, err := audit.Largest(trials, delta, .95)
	if err != nil {
		return Evidence{}, err
	}
	b := -math.Expm1(math.Log(.025) / trials)
	claimed := math.Log((1 - delta - b) / b)
	return Evidence{
		Ran:        "5,000 trials without a mistake, delta 1e-5, confidence 95%",
		Claimed:    number(claimed, "as largest auditable epsilon"),
		Found:      number(largest, "by the audit"),
		Contradict: math.Abs(claimed-largest) > 1e-9 || math.Abs(claimed-7.2114915324) > 1e-8,
	}, nil
}

// looks are the mistakes of an attack on Laplace noise of scale 1 on a value that moves by epsilon, at thresholds ever farther outside of
// 0 to epsilon. There the likelihood ratio is e^epsilon, so that all thresholds look at the same truth. Only how many outputs lie
// beyond each threshold matters, and that is a chain of binomial counts.
func looks(r *rand.Rand, epsilon float64, trials, thresholds int) []audit.Errors {
	const step = .35
	chain := func(first float64) []int {
		counts := []int{int(distuv.Binomial{N: float64(trials), P: first, Src: r}.Rand())}
		for i := 1; i < thresholds; i++ {
			last := counts[i-1]
			if last > 0 {
				last = int(distuv.Binomial{N: float64(last), P: math.Exp(-step), Src: r}.Rand())
			}
			counts = append(counts, last)
		}
		return counts
	}
	var all []audit.Errors
	for _, side := range []bool{true, false} {
		wrong, right := chain(math.Exp(-epsilon)/2), chain(.5)
		for i := range wrong {
			e := audit.Errors{FalsePositives: wrong[i], Negatives: trials, FalseNegatives: trials - right[i], Positives: trials}
			if !side { // the same below 0, where the roles are exchanged
				e.FalsePositives, e.FalseNegatives = e.FalseNegatives, e.FalsePositives
			}
			all = append(all, e)
		}
	}
	return all
}

// thresholdOnTheSameTrials audits a mechanism whose epsilon is known.
func thresholdOnTheSameTrials() (Evidence, error) {
	const repetitions, trials, truth, thresholds = 300, 200_000, 6., 14
	r := rand.New(rand.NewPCG(1, 95))
	wrong, wrongHeldOut := 0, 0
	for range repetitions {
		best, at := -1., 0
		for i, e := range looks(r, truth, trials, thresholds) {
			// A bound lies below the rates that were counted: where these do not exceed the truth, it does not.
			counted, err := audit.Epsilon(float64(e.FalsePositives)/trials, float64(e.FalseNegatives)/trials, 0)
			if err != nil {
				return Evidence{}, err
			}
			if counted <= truth {
				continue
			}
			b, err := e.Bound(0, .95)
			if err != nil {
				return Evidence{}, err
			}
			if b.Epsilon > best {
				best, at = b.Epsilon, i
			}
		}
		held, err := looks(r, truth, trials, thresholds)[at].Bound(0, .95)
		if err != nil {
			return Evidence{}, err
		}
		if best > truth {
			wrong++
		}
		if held.Epsilon > truth {
			wrongHeldOut++
		}
	}
	least, err := audit.LowerRate(wrong, repetitions, 1e-4)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        fmt.Sprintf("%d audits of Laplace noise (true epsilon %g), %d trials each, the best of %d thresholds: how often the bound is above the truth", repetitions, truth, trials, 2*thresholds),
		Claimed:    number(.05, "of the audits at the most"),
		Found:      number(float64(wrong)/repetitions, "of the audits with the threshold chosen on the same trials; %.3g with one chosen on others", float64(wrongHeldOut)/repetitions),
		Contradict: least > .05, // false alarm 1e-4, and the seed is fixed
	}, nil
}
