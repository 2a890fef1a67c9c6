package claims

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant/fdp"
	"hubbub/accountant/pld"
	"hubbub/audit"
)

// reaches simulates the server's state: does what client j uploads without any protection (f = 0) reach client i? The state forgets a share
// of η in each round, never all of it.
func reaches(r *rand.Rand, p float64, rounds int) bool {
	const eta = .5
	state := 0.0 // the part of the global model that is j's data
	for range rounds {
		i, j := r.Float64() < p, r.Float64() < p
		upload, sampled := 0.0, 0
		if i {
			sampled++
		}
		if j {
			upload, sampled = 1, sampled+1
		}
		if sampled > 0 {
			state = (1-eta)*state + eta*upload/float64(sampled)
		}
		if i && state != 0 {
			return true // i is pushed the new global model
		}
	}
	return false
}

func share(p float64, rounds, trials int, seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 38))
	count := 0
	for range trials {
		if reaches(r, p, rounds) {
			count++
		}
	}
	return count
}

func oneRoundOfSampling() (Evidence, error) {
	const p, trials = .3, 200_000
	found := float64(share(p, 1, trials, 1)) / trials
	return Evidence{
		Ran:        "p = 0.3, one round, no protection of uploads: how often client i can tell, in 200,000 simulations",
		Claimed:    number(p*p, "at the most"),
		Found:      number(found, ""),
		Contradict: found > p*p+5*math.Sqrt(p*p/trials), // false alarm 3e-7, and the seed is fixed
	}, nil
}

func stateCarries() (Evidence, error) {
	const p, rounds, trials = .1, 20, 100_000
	claimed := -math.Expm1(rounds * math.Log1p(-p*p))
	count := share(p, rounds, trials, 2)
	least, err := audit.LowerRate(count, trials, 1e-9)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "p = 0.1, 20 rounds, η = 0.5, no protection of uploads: how often client i can tell one record of client j, in 100,000 simulations",
		Claimed:    number(claimed, "as advantage, at the most: 1 - (1-p²)^R"),
		Found:      number(float64(count)/trials, "as advantage"),
		Contradict: least > claimed,
	}, nil
}

func misprintedMu() (Evidence, error) {
	const batch, records, steps, sigma = 16., 600., 38 * 93, 1.
	right, err := fdp.Sampled{Mu: 1 / sigma, Rate: batch / records}.LimitMu(steps)
	if err != nil {
		return Evidence{}, err
	}
	c := batch / records * math.Sqrt(steps)
	printed := right / (math.Sqrt2 * c) * math.Sqrt(2*c)
	return Evidence{
		Ran:        "Table 1, first row: σ = 1, R = 93, K = 38, B = 16, n = 600; the table says 2.71",
		Claimed:    number(printed, "by the theorem as printed"),
		Found:      number(right, "with √2·c"),
		Contradict: math.Abs(right-2.71) < .005 && math.Abs(printed-2.71) > .1,
	}, nil
}

func allTables() (Evidence, error) {
	rows := []struct {
		sigma                    float64
		batch, local, rounds, of int
		mu                       float64
	}{
		{1, 16, 38, 93, 600, 2.71}, {.9, 16, 38, 83, 600, 3.10}, {.75, 16, 38, 64, 600, 3.96},
		{1, 16, 38, 194, 600, 3.92}, {.9, 16, 38, 176, 600, 4.51}, {.75, 16, 38, 127, 600, 5.58},
		{1, 16, 38, 386, 600, 5.52}, {.9, 16, 38, 325, 600, 6.13}, {.75, 16, 38, 245, 600, 7.75},
		{1, 8, 76, 266, 600, 3.24}, {1, 16, 38, 194, 600, 3.92}, {.9, 8, 76, 229, 600, 3.64},
		{.9, 16, 38, 176, 600, 4.51}, {.75, 8, 76, 191, 600, 4.84}, {.75, 16, 38, 127, 600, 5.58},
		{1, 16, 32, 468, 500, 6.70}, {.75, 16, 32, 321, 500, 9.77}, {.5, 16, 32, 207, 500, 26.81},
		{1, 16, 32, 904, 500, 9.31}, {.75, 16, 32, 671, 500, 14.13}, {.5, 16, 32, 405, 500, 37.51},
	}
	matching := 0
	for _, r := range rows {
		mu, err := fdp.Sampled{Mu: 1 / r.sigma, Rate: float64(r.batch) / float64(r.of)}.LimitMu(r.local * r.rounds)
		if err != nil {
			return Evidence{}, err
		}
		if math.Abs(mu-r.mu) <= .0050001 {
			matching++
		}
	}
	return Evidence{
		Ran:        "the corrected formula for every row",
		Claimed:    number(float64(len(rows)), "values"),
		Found:      number(float64(matching), "of them match to two decimals"),
		Contradict: matching != len(rows),
	}, nil
}

func limitIsNoBound() (Evidence, error) {
	const delta = 1e-5
	sampled := fdp.Sampled{Mu: 1, Rate: 16. / 600}
	at := func(steps int) (limit float64, exact pld.Bracket, err error) {
		mu, err := sampled.LimitMu(steps)
		if err != nil {
			return 0, exact, err
		}
		if limit, err = fdp.Epsilon(mu, delta); err != nil {
			return 0, exact, err
		}
		exact, err = sampled.Epsilon(steps, delta, pld.Options{})
		return limit, exact, err
	}
	limit, exact, err := at(38)
	if err != nil {
		return Evidence{}, err
	}
	later, exactLater, err := at(38 * 93)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "σ = 1, B = 16 of n = 600, one round of K = 38 steps, delta 1e-5: epsilon by the limit, and by the exact composition",
		Claimed:    number(limit, "as epsilon"),
		Found:      number(exact.Lower, "as epsilon, at the least (after 93 rounds: %.4f by the limit, %.4f exactly)", later, exactLater.Upper),
		Contradict: exact.Lower > limit,
	}, nil
}

func poissonLimit() (Evidence, error) {
	const steps, rate, delta = 38 * 93, 16. / 600, 1e-5
	mu, err := fdp.PoissonLimitMu(1, rate, steps)
	if err != nil {
		return Evidence{}, err
	}
	limit, err := fdp.Epsilon(mu, delta)
	if err != nil {
		return Evidence{}, err
	}
	pair, err := pld.SubsampledGaussian(1, rate)
	if err != nil {
		return Evidence{}, err
	}
	exact, err := pld.Epsilon([]pld.Term{{Pair: pair, Count: steps}}, delta, pld.Options{})
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "σ = 1, rate 16/600, 3,534 steps, delta 1e-5: epsilon by the limit, and by the exact composition",
		Claimed:    number(limit, "as epsilon, μ = %.6f", mu),
		Found:      number(exact.Lower, "as epsilon, at the least"),
		Contradict: exact.Lower > limit,
	}, nil
}

func replacementMovesTwice() (Evidence, error) {
	// One step with all records (B = n): the sums with the gradient C and with -C, in units of the noise C·σ, tested by simulation.
	const sigma, clip, alpha, trials = 1., 1., .05, 100_000
	f, err := fdp.Gaussian(1 / sigma)
	if err != nil {
		return Evidence{}, err
	}
	claimed := f.Beta(alpha)
	r := rand.New(rand.NewPCG(4, 2))
	threshold := -clip + clip*sigma*distuv.UnitNormal.Quantile(1-alpha)
	misses := 0
	for range trials {
		if clip+clip*sigma*r.NormFloat64() <= threshold {
			misses++
		}
	}
	most, err := audit.UpperRate(misses, trials, 1e-9)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "a record with gradient C replaced by one with -C, noise C·σ, σ = 1, 5% false positives: the share of 100,000 that is missed",
		Claimed:    number(claimed, "at the least, by G_{1/σ}"),
		Found:      number(float64(misses)/trials, "(G_{2/σ} gives %.4f)", distuv.UnitNormal.CDF(distuv.UnitNormal.Quantile(1-alpha)-2/sigma)),
		Contradict: most < claimed,
	}, nil
}

func sampledTradeoff() (Evidence, error) {
	f, err := fdp.Sampled{Mu: 1.8, Rate: .35}.Tradeoff()
	if err != nil {
		return Evidence{}, err
	}
	// By definition: the largest convex function below f_p and its inverse, from their values on a fine grid.
	g, err := fdp.Gaussian(1.8)
	if err != nil {
		return Evidence{}, err
	}
	at := func(x float64) float64 { return .35*g.Beta(x) + .65*(1-x) }
	const alpha = .5
	best := math.Inf(1) // of all chords from a point of f_p to a point of its mirror image
	for i := 1; i < 400; i++ {
		x := float64(i) / 800
		left, right := [2]float64{x, at(x)}, [2]float64{at(x), x}
		if left[0] < alpha && alpha < right[0] {
			best = min(best, left[1]+(right[1]-left[1])*(alpha-left[0])/(right[0]-left[0]))
		}
	}
	found := f.Beta(alpha)
	return Evidence{
		Ran:        "p = 0.35, μ = 1.8 (Figure 4): the lowest chord between f_p and its mirror image at α = 0.5, against the closed form",
		Claimed:    number(best, "by definition"),
		Found:      number(found, "by the closed form"),
		Contradict: math.Abs(best-found) > 1e-4 || math.Abs(found-.2788420877) > 1e-8,
	}, nil
}

func sameUploads() (Evidence, error) {
	// F_i is the identity: both other clients are pushed the same global model, which carries j's upload with noise.
	const mu, alpha, trials = 1., .05, 100_000
	claimed := distuv.UnitNormal.CDF(distuv.UnitNormal.Quantile(1-alpha) - math.Sqrt2*mu)
	threshold := distuv.UnitNormal.Quantile(1 - alpha)
	r := rand.New(rand.NewPCG(4, 3))
	misses := 0
	for range trials {
		first := mu + r.NormFloat64()
		second := first // the same helper model
		if (first+second)/2 <= threshold {
			misses++
		}
	}
	least, err := audit.LowerRate(misses, trials, 1e-9)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "m = 3, μ = 1, both other clients get the same helper model: the share that their best common test misses at 5% false positives, of 100,000",
		Claimed:    number(claimed, "by the product, G_{√2·μ}"),
		Found:      number(float64(misses)/trials, "%s", fmt.Sprintf("(G_μ gives %.4f)", distuv.UnitNormal.CDF(threshold-mu))),
		Contradict: least > claimed,
	}, nil
}
