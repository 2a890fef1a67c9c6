package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant"
	"hubbub/audit"
	"hubbub/mechanism/adaptive"
	"hubbub/noise"
)

// noiseLevel is σ0 of the paper's experiments at epsilon 0.5.
const noiseLevel = 26

// descend trains by SGD at the paper's rate for so many steps, as the client does, and estimates by the row for SGD of Table II.
func descend(global []float32, steps int, gradient func(w []float32) []float32) adaptive.Local {
	const rate = 0.01
	l := adaptive.Local{Global: global, Trained: slices.Clone(global), Estimate: slices.Clone(global)}
	var last []float32
	for range steps {
		copy(l.Estimate, l.Trained)
		for m, g := range last {
			l.Estimate[m] -= rate * g
		}
		last = gradient(l.Trained)
		for m, g := range last {
			l.Trained[m] -= rate * g
		}
	}
	return l
}

// aZeroTells: a linear model that starts at 0, and a feature that is 0 in all records but perhaps one. Without that record the feature's
// weight has an interval of width 0 and is sent as exactly 0; with it, never.
func aZeroTells() (Evidence, error) {
	const records, weights, trials = 20, 5, 2000
	r := rand.New(rand.NewPCG(3, 1))
	features, targets := make([][]float64, records), make([]float64, records)
	for j := range features {
		features[j] = []float64{0, r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		targets[j] = 1 + r.NormFloat64()
	}
	// The mean gradient of half the squared error.
	gradient := func(w []float32) []float32 {
		g := make([]float32, len(w))
		for j, x := range features {
			residual := -targets[j]
			for m, v := range x {
				residual += v * float64(w[m])
			}
			for m, v := range x {
				g[m] += float32(residual * v / records)
			}
		}
		return g
	}
	p, err := adaptive.NewPrinted(adaptive.PrintedConfig{Tensors: adaptive.Tensors{0, weights}, NoiseLevel: noiseLevel})
	if err != nil {
		return Evidence{}, err
	}
	count := func(name string) (nonzero int, err error) {
		local := descend(make([]float32, weights), 16, gradient)
		contribution := make([]float32, weights)
		for trial := range trials {
			if err := p.Contribute(contribution, local, noise.Seeded(31).Derive(name, uint64(trial)).Stream()); err != nil {
				return 0, err
			}
			if contribution[0] != 0 {
				nonzero++
			}
		}
		return nonzero, nil
	}
	without, err := count("without")
	if err != nil {
		return Evidence{}, err
	}
	features[7][0] = 1
	with, err := count("with")
	if err != nil {
		return Evidence{}, err
	}
	bound, err := audit.Errors{FalsePositives: without, Negatives: trials, FalseNegatives: trials - with, Positives: trials}.Bound(1e-5, .95)
	if err != nil {
		return Evidence{}, err
	}
	const claimed = .5
	return Evidence{
		Ran:        "a client with 20 records, σ0 = 26, 2,000 uploads with and 2,000 without one record: is the first weight different from 0?",
		Claimed:    number(claimed, "as epsilon at delta 1e-5, for seven such uploads"),
		Found:      number(math.Floor(bound.Epsilon*1e4)/1e4, "as epsilon at the least, for one upload: told apart %d to %d, as far as %d trials can tell; the truth is infinite", with, without, trials),
		Contradict: bound.Epsilon > claimed && with == trials && without == 0,
	}, nil
}

// theEnergyTells: one record of 200 with a gradient of 20 in each weight (the paper clips none) widens all intervals by 1.32.
func theEnergyTells() (Evidence, error) {
	const records, steps, trials, weights, threshold = 200, 16, 500, 1000, 1.3
	r := rand.New(rand.NewPCG(4, 2))
	global, mean := make([]float32, weights), make([]float32, weights)
	for m := range global {
		global[m] = float32(math.Copysign(.05, r.Float64()-.5))
		for range records - 1 {
			mean[m] += float32(.01 * r.NormFloat64() / records)
		}
	}
	p, err := adaptive.NewPrinted(adaptive.PrintedConfig{Tensors: adaptive.Tensors{0, weights}, NoiseLevel: noiseLevel})
	if err != nil {
		return Evidence{}, err
	}
	expected := float64(weights) * float64(weights) * math.Pow(noiseLevel*1.1*.05, 2) // Σσ_m² with σ_m = √M·σ0·β·|w_0|
	alarms := func(name string) (count int, energy float64, err error) {
		local := descend(global, steps, func([]float32) []float32 { return mean })
		contribution := make([]float32, weights)
		for trial := range trials {
			if err := p.Contribute(contribution, local, noise.Seeded(2).Derive(name, uint64(trial)).Stream()); err != nil {
				return 0, 0, err
			}
			square := 0.0
			for m, v := range contribution {
				square += math.Pow(float64(v)-float64(global[m]), 2)
			}
			energy += square / trials
			if square > threshold*expected {
				count++
			}
		}
		return count, energy, nil
	}
	falseAlarms, without, err := alarms("without")
	if err != nil {
		return Evidence{}, err
	}
	for m := range mean {
		mean[m] -= float32(math.Copysign(20, float64(global[m]))) / records
	}
	hits, with, err := alarms("with")
	if err != nil {
		return Evidence{}, err
	}
	bound, err := audit.Errors{FalsePositives: falseAlarms, Negatives: trials, FalseNegatives: trials - hits, Positives: trials}.Bound(1e-5, .95)
	if err != nil {
		return Evidence{}, err
	}
	return Evidence{
		Ran:        "1,000 weights of ±0.05, one outlier among 200 records, σ0 = 26, 500 uploads with and 500 without it: is the energy of the upload above 1.3 times the expected?",
		Claimed:    number(.5, "as epsilon at delta 1e-5"),
		Found:      number(math.Floor(bound.Epsilon*1e4)/1e4, "as epsilon at the least: %d false alarms, %d misses; the record raises the energy by a factor of %.3f", falseAlarms, trials-hits, with/without),
		Contradict: bound.Epsilon > .5,
	}, nil
}

func allocation() (Evidence, error) {
	ranges := []float64{1, 1, 1, 1, 1, 1, 1, 1, 10, 100}
	const sigma0 = 26.
	total := 0.0
	for _, d := range ranges {
		total += d
	}
	spent, printed, ours, spentOurs := 0.0, 0.0, 0.0, 0.0
	for _, d := range ranges {
		sigma := math.Sqrt(float64(len(ranges))) * sigma0 * d
		spent += d * d / (sigma * sigma)
		printed += sigma * sigma
		variance := sigma0 * sigma0 * d * total
		spentOurs += d * d / variance
		ours += variance
	}
	return Evidence{
		Ran:        "ten weights with ranges 1 (eight times), 10 and 100, σ0 = 26: ΣΔ²/σ² times σ0²",
		Claimed:    number(1, "at the most"),
		Found:      number(spent*sigma0*sigma0, "as printed; %.6g by our choice, with %.3g of the total variance", spentOurs*sigma0*sigma0, ours/printed),
		Contradict: spent*sigma0*sigma0 > 1+1e-9 || spentOurs*sigma0*sigma0 > 1+1e-9 || ours > printed,
	}, nil
}

// oneRoundTooMany runs the loop as printed.
func oneRoundTooMany() (Evidence, error) {
	const epsilon, delta = .5, 1e-5
	b, err := adaptive.NewBudget(epsilon, delta, noiseLevel)
	if err != nil {
		return Evidence{}, err
	}
	uploads := 0
	for {
		uploads++ // lines 5 to 13: the clients upload, the server aggregates
		if b.Spent(uploads) > delta {
			break // lines 15 to 17: only now
		}
	}
	return Evidence{
		Ran:        "σ0 = 26, epsilon 0.5, δ* = 1e-5, every client in every round: δ by Algorithm 4 when the loop ends",
		Claimed:    number(delta, "at the most"),
		Found:      number(b.Spent(uploads), "after %d uploads; %d fit", uploads, b.Contributions()),
		Contradict: b.Spent(uploads) > delta,
	}, nil
}

func oneStepTooMany() (Evidence, error) {
	const local = 16 // K
	updates := 0
	for k := 0; k <= local; k++ { // lines 4, 5 and 11 as printed
		updates++
	}
	return Evidence{
		Ran:        "the loop as printed, for K = 16",
		Claimed:    number(local, "updates"),
		Found:      number(float64(updates), "updates"),
		Contradict: updates != local,
	}, nil
}

func deltaAboveOne() (Evidence, error) {
	const epsilon, target, uploads = .5, 1e-5, 1000
	smallest := math.Floor(1+math.Log(1/target)/epsilon) + 1
	printed := math.Inf(1)
	for order := smallest; order < smallest+1000; order++ {
		printed = min(printed, math.Exp((uploads*order/(2*noiseLevel*noiseLevel)-epsilon)*(order-1)))
	}
	b, err := adaptive.NewBudget(epsilon, target, noiseLevel)
	if err != nil {
		return Evidence{}, err
	}
	exact := 0
	for accountant.GaussianEpsilon(math.Sqrt(float64(exact+1))/noiseLevel, target) <= epsilon {
		exact++
	}
	return Evidence{
		Ran:        "σ0 = 26, epsilon 0.5, δ* = 1e-5, 1,000 uploads",
		Claimed:    number(printed, "as probability δ"),
		Found:      number(b.Spent(uploads), "cut at 1; within the budget %d uploads fit by the formula, %d by the exact law", b.Contributions(), exact),
		Contradict: printed > 1 && b.Spent(uploads) <= 1 && exact > b.Contributions(),
	}, nil
}

func truncationBias() (Evidence, error) {
	const trials = 20_000
	p, err := adaptive.NewPrinted(adaptive.PrintedConfig{Tensors: adaptive.Tensors{0, 1}, NoiseLevel: 1})
	if err != nil {
		return Evidence{}, err
	}
	local := adaptive.Local{Global: []float32{1}, Trained: []float32{2}, Estimate: []float32{1}}
	mean, out := 0.0, make([]float32, 1)
	for trial := range trials {
		if err := p.Contribute(out, local, noise.Seeded(5).Derive("bias", uint64(trial)).Stream()); err != nil {
			return Evidence{}, err
		}
		mean += float64(out[0]) / trials
	}
	deviation := 1.1 / math.Sqrt(trials) // σ = 2q = β·|ŵ|
	return Evidence{
		Ran:        "one weight, trained from 1 to 2, estimate 1, so that its interval is 0.45 to 1.55; the mean of 20,000 uploads",
		Claimed:    number(2, "on average"),
		Found:      number(mean, "on average (standard error %.3f)", deviation),
		Contradict: math.Abs(mean-2) > 6*deviation, // false alarm 2e-9
	}, nil
}

func threeSigma() (Evidence, error) {
	found := distuv.UnitNormal.CDF(math.Sqrt(3)) - distuv.UnitNormal.CDF(-math.Sqrt(3))
	return Evidence{
		Ran:        "P(|Z| ≤ √3) of a normal variable",
		Claimed:    number(1, "in the limit"),
		Found:      number(found, "always; P(|Z| ≤ 3) is %.4f", distuv.UnitNormal.CDF(3)-distuv.UnitNormal.CDF(-3)),
		Contradict: found < .95,
	}, nil
}

func meanIsNoBound() (Evidence, error) {
	// One client takes part in each of T rounds, and may be the same one each time: σ0² must be sized for L = T.
	const clients, rounds, weights, order, epsilon, delta = 50., 10., 1000., 60., .5, 1e-5
	left := epsilon - math.Log(1/delta)/(order-1)
	sigma2 := rounds * order / (2 * left) // Theorem 1 for L = T
	found := weights * sigma2             // σ_m² with Δ = 1; the only client of a round is the average
	claimed := weights * rounds * order / (2 * clients * left)
	return Evidence{
		Ran:        fmt.Sprintf("n = %g clients, one of them in each of T = %g rounds, M = %g weights, epsilon 0.5: the variance in the global model when any client may be the one", clients, rounds, weights),
		Claimed:    number(claimed, "at the most"),
		Found:      number(found, "with noise that keeps the budget: n times as much"),
		Contradict: left > 0 && found > claimed*(1+1e-9),
	}, nil
}
