package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

const secaggAbout = `Say what a sum of updates tells of one of them, when secure aggregation hides the updates and nothing is added (paper 001).

In theory: --updates gamma or uniform takes updates whose entries are independent and exponential (the target's in [0, 4]) or
uniform in [-1/2, 1/2], and brackets delta at --epsilon, beside that of Gaussian noise with the same covariance. --chunks shows
that sending the model in pieces does not help.

With a covariance: --covariance FILE.csv of the others' sum, and either --difference FILE.csv of two updates or --radius, a
bound on the length of an update, give the exact curve of Gaussian noise. A direction without variance is refused: no guarantee.

In practice: FILE.yaml is an experiment. The attacker samples updates of its clients, estimates their mean and covariance, searches
the two that are easiest to tell apart, and guesses from sums which of them went in. --absent takes the update that is easiest to
tell from none at all instead: the neighbours of a guarantee for clients. If the file puts noise on the sum, the attacker knows how
much, and what it finds stands beside what the statement claims.`

// secaggFlags are those of all three ways.
type secaggFlags struct {
	updates              string
	clients, dim, chunks int
	also                 []int
	epsilon              float64
	covariance, diff     string
	radius               float64
	options              experiment.LeakOptions
	sets                 []string
	picture              string
	quiet                bool
}

func (a *app) auditSecagg() *cobra.Command {
	var f secaggFlags
	c := &cobra.Command{
		Use: "secagg [FILE.yaml]", Short: "Say what a sum of updates tells of one of them", Long: secaggAbout,
		Example: `  hubbub audit secagg --updates gamma --clients 10 --dim 10 --epsilon 1
  hubbub audit secagg --updates uniform --clients 100 --dim 100 --picture figure1.svg
  hubbub audit secagg --covariance c.csv --difference d.csv --epsilon 1
  hubbub audit secagg experiments/001/adult.yaml --candidates 5000 --picture adult.svg`,
		Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		RunE: func(c *cobra.Command, args []string) error {
			ways := 0
			for _, on := range []bool{len(args) > 0, f.updates != "", f.covariance != ""} {
				if on {
					ways++
				}
			}
			if ways != 1 {
				return usage("%d of FILE.yaml, --updates and --covariance were given: give exactly one", ways)
			}
			switch {
			case f.updates != "":
				return a.secaggTheory(f)
			case f.covariance != "":
				return a.secaggCovariance(c, f)
			}
			return a.secaggPractice(c, args[0], f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.updates, "updates", "", "theory: law of the entries of an update, gamma or uniform")
	flags.IntVar(&f.clients, "clients", 10, "theory: the other clients in a sum")
	flags.IntVar(&f.dim, "dim", 1, "theory: entries of an update")
	flags.IntSliceVar(&f.also, "also-dim", nil, "theory: further numbers of entries for the picture, two at the most: 10,100")
	flags.IntVar(&f.chunks, "chunks", 1, "theory: send the update in so many pieces")
	flags.Float64Var(&f.epsilon, "epsilon", 1, "theory, covariance: epsilon, at least 0")
	flags.StringVar(&f.covariance, "covariance", "", "covariance: CSV file of the covariance of the others' sum")
	flags.StringVar(&f.diff, "difference", "", "covariance: CSV file of the difference of two updates")
	flags.Float64Var(&f.radius, "radius", 0, "covariance: largest L2 norm of an update, instead of --difference")
	flags.IntVar(&f.options.Samples, "samples", 25000, "practice: updates from which mean and covariance are estimated")
	flags.IntVar(&f.options.Candidates, "candidates", 1000, "practice: updates among which the worst pair is searched")
	flags.IntVar(&f.options.Trials, "trials", 5000, "practice: sums that are attacked and counted")
	flags.IntVar(&f.options.Models, "models", 1, "practice: initial models")
	flags.BoolVar(&f.options.Absent, "absent", false, "practice: tell the worst update from none at all")
	flags.Float64Var(&f.options.Ridge, "ridge", 0, "practice: added to every variance, as a share of it (default: one that leaves rounding out; 1e-11 keeps it)")
	flags.StringArrayVar(&f.sets, "set", nil, "practice: change a value of the file: a.b=c (may be repeated)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "practice: show no progress")
	flags.StringVar(&f.picture, "picture", "", "theory, practice: file for the curve, .svg or .png; must not exist")
	level(c, &f.options.Delta, &f.options.Confidence)
	return c
}

func (a *app) secaggPractice(c *cobra.Command, file string, f secaggFlags) error {
	for _, name := range []string{"samples", "candidates", "trials", "models", "delta", "confidence"} {
		if value := c.Flags().Lookup(name).Value.String(); value == "0" { // which would mean "the default" further in
			return usage("--%s 0: must be above 0", name)
		}
	}
	federation, err := prepare(file, f.sets)
	if err != nil {
		return err
	}
	memory, err := federation.LeakMemory(f.options)
	if err != nil {
		return err
	}
	quiet := f.quiet || a.json
	if !quiet {
		fmt.Fprintf(a.errs, "%d weights, %d clients; about %s MB of memory\n", federation.Net.Size(), len(federation.Parts), thousands(memory>>20))
	}
	last := ""
	leaks, err := federation.Leak(c.Context(), f.options, func(p experiment.LeakProgress) {
		if stage := fmt.Sprintf("model %d: %s", p.Model+1, p.Stage); !quiet && stage != last {
			fmt.Fprintln(a.errs, stage)
			last = stage
		}
	})
	if err != nil {
		return err
	}
	if f.picture != "" {
		if err := drawLeak(leaks, f.picture); err != nil {
			return err
		}
	}
	mean := 0.0
	for _, l := range leaks {
		mean += l.Bound.Epsilon / float64(len(leaks))
	}
	result := struct {
		Epsilon float64           `json:"epsilon"` // mean over the initial models
		Largest float64           `json:"largest_auditable"`
		Delta   float64           `json:"delta"`
		Trials  int               `json:"trials"`
		Memory  int64             `json:"memory_bytes"`
		Models  []experiment.Leak `json:"models"`
	}{mean, leaks[0].Bound.Largest, leaks[0].Bound.Delta, f.options.Trials, memory, leaks}
	return a.print(result, func() { a.printLeaks(leaks, mean) })
}

func (a *app) printLeaks(leaks []experiment.Leak, mean float64) {
	for _, l := range leaks {
		a.printf("initial model %d: %d weights, %d of them differ between clients; %d other clients in a sum\n", l.Model+1, l.Dim, l.Varying, l.Others)
		line(a.out, "worst pair", "%.4g standard deviations of the sum of independent clients apart", l.Distance)
		line(a.out, "spread of the sum", "%.3g of what independent clients would give: they share one data set", l.Gaussianity.Deviate)
		if l.Bare > 0 {
			line(a.out, "in the open", "%d weights differ that no sampled update changed: they give the pair away, and are left out below", l.Bare)
		}
		line(a.out, "mistakes", "%d false positives, %d false negatives in %d trials each", l.Errors.FalsePositives, l.Errors.FalseNegatives, l.Errors.Negatives)
		line(a.out, "rates at most", "%.4g and %.4g", l.Bound.FalsePositiveRate, l.Bound.FalseNegativeRate)
		line(a.out, "half way between the two", "%.4g and %.4g", l.Balanced.FalsePositive, l.Balanced.FalseNegative)
		line(a.out, "epsilon", "at least %.4f at delta %g, with confidence %g; the largest auditable is %.4f", downward(l.Bound.Epsilon), l.Bound.Delta, l.Bound.Confidence, downward(l.Bound.Largest))
		if l.Claimed != nil {
			line(a.out, "the statement", "epsilon %.4f for a client that is there or not", *l.Claimed)
		}
		g := l.Gaussianity
		line(a.out, "is the sum Gaussian?", "skewness %.3f, excess kurtosis %.3f, Kolmogorov distance %.4f (a normal sample: below %.4f)", g.Skewness, g.Kurtosis, g.Kolmogorov, g.Expected)
	}
	if len(leaks) > 1 {
		line(a.out, "mean epsilon", "at least %.4f over %d initial models", downward(mean), len(leaks))
	}
}

// drawLeak draws the rates of each initial model.
func drawLeak(leaks []experiment.Leak, file string) error {
	picture := chart.Line{Title: "Telling two updates apart by their sum with others", XLabel: "false positives at most", YLabel: "false negatives at most", XLog: true, YLog: true}
	for _, l := range leaks {
		s := chart.Series{Name: fmt.Sprintf("model %d", l.Model+1)}
		for _, r := range l.Curve {
			s.X, s.Y = append(s.X, r.FalsePositive), append(s.Y, r.FalseNegative)
		}
		if picture.Series = append(picture.Series, s); len(picture.Series) == 6 {
			break
		}
	}
	return writePicture(picture, file)
}
