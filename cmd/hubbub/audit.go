package main

import (
	"math"

	"github.com/spf13/cobra"

	"hubbub/audit"
	"hubbub/audit/onerun"
	"hubbub/internal/experiment"
)

const auditAbout = `Attack a guarantee: what an attack measured is a lower bound on epsilon.

A lower bound above a claim contradicts the claim, and the command fails. One below it proves nothing: a better attack may
exist. Every lower bound comes with a confidence, and is rounded down.`

func (a *app) auditCommand() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "Attack a guarantee, and say what the attack proves", Long: auditAbout}
	c.AddCommand(a.auditBound(), a.auditSecagg(), a.auditMechanism(), a.auditOneRun(), a.auditRun(), a.auditSpan(), a.auditAll())
	return c
}

func (a *app) auditBound() *cobra.Command {
	var errors audit.Errors
	var trials int
	var delta, confidence float64
	c := &cobra.Command{
		Use: "bound", Short: "Bound epsilon from below by the mistakes of an attack", Args: cobra.NoArgs, Annotations: hasJSON,
		Long: `Bound epsilon from below by the mistakes of an attack that guesses whether a target was in.

The attack, its threshold and its target must have been fixed before the trials that are counted.`,
		Example: `  hubbub audit bound --false-positives 25 --false-negatives 25 --trials 5000 --delta 1e-5
  hubbub audit bound --false-positives 3 --negatives 20000 --false-negatives 40 --positives 1000 --delta 1e-5`,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("negatives") {
				errors.Negatives = trials
			}
			if !c.Flags().Changed("positives") {
				errors.Positives = trials
			}
			b, err := errors.Bound(delta, confidence)
			if err != nil {
				return experiment.Input(err)
			}
			return a.print(b, func() {
				line(a.out, "epsilon", "at least %.6g at delta %g, with confidence %g", downward(b.Epsilon), b.Delta, b.Confidence)
				line(a.out, "largest auditable", "%.6g: what no mistake at all would have shown", downward(b.Largest))
				line(a.out, "false positives", "at most %.4g of those without the target", b.FalsePositiveRate)
				line(a.out, "false negatives", "at most %.4g of those with the target", b.FalseNegativeRate)
			})
		},
	}
	flags := c.Flags()
	flags.IntVar(&errors.FalsePositives, "false-positives", 0, "guesses that the target was in, and it was not")
	flags.IntVar(&errors.FalseNegatives, "false-negatives", 0, "guesses that the target was not in, and it was")
	flags.IntVar(&trials, "trials", 0, "trials with the target, and as many without")
	flags.IntVar(&errors.Positives, "positives", 0, "trials with the target, if not --trials")
	flags.IntVar(&errors.Negatives, "negatives", 0, "trials without the target, if not --trials")
	level(c, &delta, &confidence)
	c.MarkFlagRequired("false-positives")
	c.MarkFlagRequired("false-negatives")
	return c
}

func (a *app) auditOneRun() *cobra.Command {
	var guesses onerun.Guesses
	var delta, confidence float64
	c := &cobra.Command{
		Use: "one-run", Short: "Bound epsilon from below by guesses about the canaries of one run", Args: cobra.NoArgs, Annotations: hasJSON,
		Long: `Bound epsilon from below by guesses about the canaries of one run. Each canary was put in or left out by its own fair coin;
an attack guessed some of the coins.

epsilon is the bound of Steinke, Nasr and Jagielski 2023, and assumes nothing. epsilon_fdp is that of Mahloujifar, Melis
and Chaudhuri 2024 for a run whose trade-off between false positives and false negatives is that of a Gaussian mechanism.`,
		Example: `  hubbub audit one-run --canaries 1000 --guesses 200 --correct 160 --delta 1e-5`,
		RunE: func(*cobra.Command, []string) error {
			b, err := guesses.Bound(delta, confidence)
			if err != nil {
				return experiment.Input(err)
			}
			return a.print(b, func() { a.printOneRun(b) })
		},
	}
	flags := c.Flags()
	flags.IntVar(&guesses.Canaries, "canaries", 0, "canaries that tossed a coin")
	flags.IntVar(&guesses.Guessed, "guesses", 0, "coins that were guessed")
	flags.IntVar(&guesses.Correct, "correct", 0, "correct ones among the guesses")
	level(c, &delta, &confidence)
	for _, name := range []string{"canaries", "guesses", "correct"} {
		c.MarkFlagRequired(name)
	}
	return c
}

func (a *app) printOneRun(b onerun.Bound) {
	line(a.out, "guesses", "%d of %d correct, on %d canaries", b.Correct, b.Guessed, b.Canaries)
	line(a.out, "epsilon", "at least %.6g at delta %g, with confidence %g", downward(b.Epsilon), b.Delta, b.Confidence)
	line(a.out, "if the trade-off is Gaussian", "at least %.6g (mu %.4g)", downward(b.EpsilonFDP), b.MuFDP)
}

// level adds the flags of every bound.
func level(c *cobra.Command, delta, confidence *float64) {
	c.Flags().Float64Var(delta, "delta", 1e-5, "delta, in [0, 1)")
	c.Flags().Float64Var(confidence, "confidence", 0.95, "confidence of the lower bound, in (0, 1)")
}

// downward rounds a lower bound to four digits behind the point, never larger than it is.
func downward(epsilon float64) float64 { return math.Floor(epsilon*1e4) / 1e4 }
