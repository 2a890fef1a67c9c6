package main

import (
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hubbub/accountant"
	"hubbub/internal/experiment"
)

// contest is one task for all mechanisms: how much noise does each need? The defaults are paper 002's.
type contest struct {
	Epsilon     float64 `json:"epsilon"`
	Delta       float64 `json:"delta"`
	Clients     int     `json:"clients"`
	Cohort      float64 `json:"cohort"`
	Rounds      int     `json:"rounds"`
	Dim         int     `json:"dim"`
	Clip        float64 `json:"clip"`
	Granularity float64 `json:"granularity"`
	K           float64 `json:"k"` // conditional rounding accepts norms up to k·clip/granularity
}

// contestant is a mechanism with its noise left open.
type contestant struct {
	name, parameter string
	event           func(x float64) accountant.Event
	variance        func(x float64) float64 // of the noise in the sum, in squared clip norms
	note            string
}

func (c contest) contestants() []contestant {
	steps := c.Clip / c.Granularity // of the grid in one clip norm
	inClips := 1 / (steps * steps)
	d := float64(c.Dim)
	skellam := func(bound accountant.SkellamBound) func(float64) accountant.Event {
		return func(x float64) accountant.Event {
			return accountant.Skellam{Rate: x, L2: c.K * steps, Linf: c.K * steps, Bound: bound}
		}
	}
	twice := func(x float64) float64 { return 2 * x * inClips }
	conditional := fmt.Sprintf("conditional rounding, norms up to %g clips", c.K)
	// Kairouz, Liu, Steinke 2021, Proposition 5.1 with beta = e^-1/2: the norm of a randomly rounded vector.
	rounded := math.Sqrt(min(steps*steps+d/4+steps+math.Sqrt(d)/2, (steps+math.Sqrt(d))*(steps+math.Sqrt(d))))
	clients := int(math.Max(1, math.Floor(c.Cohort)))
	return []contestant{
		{"gaussian, central", "noise_multiplier", func(x float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: x} },
			func(x float64) float64 { return x * x }, "the server adds it and is trusted"},
		{"rounded_skellam", "rate", func(x float64) accountant.Event { return accountant.RoundedSkellam{Rate: x, L2: steps} },
			twice, "stochastic rounding is part of the mechanism"},
		{"skellam, exact", "rate", skellam(accountant.SkellamExact), twice, conditional},
		{"skellam, akl", "rate", skellam(accountant.SkellamAKL), twice, conditional},
		{"skellam, dsm", "rate", skellam(accountant.SkellamDSM), twice, conditional + "; paper 002's bound"},
		{"smm", "rate", func(x float64) accountant.Event {
			return accountant.SMM{Rate: x, C: max(steps*steps, steps*math.Sqrt(d)), Linf: 1}
		}, twice, "charged for a flat update that its own clip leaves alone"},
		{"discrete_gaussian_sum", "sigma2", func(x float64) accountant.Event {
			return accountant.DiscreteGaussianSum{Clients: clients, Sigma2: x, L2: rounded, Dim: c.Dim}
		}, func(x float64) float64 { return float64(clients) * x * inClips }, "conditional rounding of Kairouz et al. 2021"},
	}
}

// entry is one line of the comparison.
type entry struct {
	Mechanism  string           `json:"mechanism"`
	Parameter  string           `json:"parameter"`
	Value      float64          `json:"value,omitempty"`
	Variance   float64          `json:"variance,omitempty"` // of the noise in the sum, in squared clip norms
	Ratio      float64          `json:"ratio,omitempty"`    // to the central Gaussian
	Bound      accountant.Bound `json:"bound"`
	Note       string           `json:"note,omitempty"`
	Impossible string           `json:"impossible,omitempty"`
}

func (c contest) run() ([]entry, error) {
	target := accountant.Target{Epsilon: c.Epsilon, Delta: c.Delta}
	var entries []entry
	gaussian := 0.0
	for _, m := range c.contestants() {
		build := func(x float64) (accountant.About, error) {
			sampled := accountant.Poisson{Rate: c.Cohort / float64(c.Clients), Event: m.event(x)}
			about := accountant.About{Unit: accountant.Client, Event: accountant.Repeat{Count: c.Rounds, Event: sampled}}
			return about, accountant.Validate(about)
		}
		e := entry{Mechanism: m.name, Parameter: m.parameter, Note: m.note}
		value, bound, err := accountant.Calibrate(target, build, 1e-3, 1e9)
		if err != nil {
			if _, invalid := build(1); invalid != nil {
				return nil, experiment.Input(invalid)
			}
			e.Impossible = err.Error()
		} else {
			e.Value, e.Variance, e.Bound = value, m.variance(value), bound
			if gaussian == 0 {
				gaussian = e.Variance // the first one, against which the others are measured
			}
			e.Ratio = e.Variance / gaussian
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (a *app) privacyCompare() *cobra.Command {
	c := contest{}
	cmd := &cobra.Command{
		Use:   "compare",
		Short: "Say how much noise each mechanism needs for one target",
		Long: `Say how much noise each mechanism needs in the sum of a cohort for one target, against those who see only the released
models (every client tosses a coin for each round; the total noise does not depend on who came). Variances are in squared clip
norms. The defaults are the setting of paper 002 (Distributed Skellam): MNIST, one epoch, 784-80-10.`,
		Example: "  hubbub privacy compare --epsilon 3 --delta 1e-5",
		Args:    cobra.NoArgs, Annotations: hasJSON,
		RunE: func(*cobra.Command, []string) error {
			if err := c.check(); err != nil {
				return err
			}
			entries, err := c.run()
			if err != nil {
				return err
			}
			result := struct {
				Setting contest `json:"setting"`
				Needed  []entry `json:"needed"`
			}{c, entries}
			return a.print(result, func() { a.printContest(c, entries) })
		},
	}
	f := cmd.Flags()
	f.Float64Var(&c.Epsilon, "epsilon", 3, "target epsilon")
	f.Float64Var(&c.Delta, "delta", 1e-5, "target delta")
	f.IntVar(&c.Clients, "clients", 60000, "enrolled clients")
	f.Float64Var(&c.Cohort, "cohort", 240, "expected cohort")
	f.IntVar(&c.Rounds, "rounds", 250, "rounds")
	f.IntVar(&c.Dim, "dim", 63610, "weights")
	f.Float64Var(&c.Clip, "clip", 1, "L2 bound on an update")
	f.Float64Var(&c.Granularity, "granularity", 0.1, "step of the integer grid")
	f.Float64Var(&c.K, "k", 5, "conditional rounding accepts norms up to k clips")
	return cmd
}

func (c contest) check() error {
	for _, rule := range []struct {
		ok   bool
		text string
	}{
		{c.Clients >= 1, fmt.Sprintf("--clients %d must be at least 1", c.Clients)},
		{c.Cohort > 0 && c.Cohort <= float64(c.Clients), fmt.Sprintf("--cohort %g must be above 0 and at most --clients, %d", c.Cohort, c.Clients)},
		{c.Rounds >= 1, fmt.Sprintf("--rounds %d must be at least 1", c.Rounds)},
		{c.Dim >= 1, fmt.Sprintf("--dim %d must be at least 1", c.Dim)},
		{c.Clip > 0 && !math.IsInf(c.Clip, 1), fmt.Sprintf("--clip %g must be finite and above 0", c.Clip)},
		{c.Granularity > 0 && c.Granularity <= c.Clip, fmt.Sprintf("--granularity %g must be above 0 and at most --clip, %g", c.Granularity, c.Clip)},
		{c.K >= 1 && !math.IsInf(c.K, 1), fmt.Sprintf("--k %g must be at least 1", c.K)},
	} {
		if !rule.ok {
			return usage("%s", rule.text)
		}
	}
	return nil
}

func (a *app) printContest(c contest, entries []entry) {
	a.printf("noise in the sum for epsilon %g at delta %g: %d rounds, %g of %d clients expected, %d weights, clip %g, granularity %g\n\n",
		c.Epsilon, c.Delta, c.Rounds, c.Cohort, c.Clients, c.Dim, c.Clip, c.Granularity)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MECHANISM\tPARAMETER\tVARIANCE\tTIMES GAUSSIAN\tBY\tNOTE")
	for _, e := range entries {
		if e.Impossible != "" {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t%s\n", e.Mechanism, e.Impossible)
			continue
		}
		fmt.Fprintf(w, "%s\t%s %.6g\t%.5g\t%.4g\t%s\t%s\n", e.Mechanism, e.Parameter, e.Value, e.Variance, e.Ratio, e.Bound.Accountant, e.Note)
	}
	w.Flush()
}
