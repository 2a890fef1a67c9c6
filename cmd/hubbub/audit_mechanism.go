package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
)

// auditFlags are those of every attack with many trials.
type auditFlags struct {
	trials     float64 // so that 1e6 can be written
	confidence float64
	seed       uint64
}

func (f *auditFlags) add(c *cobra.Command) {
	c.Flags().Float64Var(&f.trials, "trials", 1e6, "counted trials with the target, and as many without; as many again choose the threshold")
	c.Flags().Float64Var(&f.confidence, "confidence", 0.95, "confidence of all lower bounds together, in (0, 1)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "makes an audit repeatable")
}

func (f *auditFlags) settings(a *app) (experiment.AuditSettings, error) {
	s := experiment.AuditSettings{Trials: int(f.trials), Confidence: f.confidence, Seed: f.seed}
	if float64(s.Trials) != f.trials {
		return s, usage("%g trials: a whole number is needed", f.trials)
	}
	if !a.json {
		said := ""
		s.Progress = func(attack string, done float64) {
			if attack != said {
				fmt.Fprintf(a.errs, "%s ...\n", attack)
				said = attack
			}
		}
	}
	return s, nil
}

func (a *app) auditMechanism() *cobra.Command {
	var flags auditFlags
	var fault string
	var sets []string
	c := &cobra.Command{
		Use: "mechanism KIND", Short: "Attack a mechanism through the code that a run uses", Args: cobra.ExactArgs(1), Annotations: hasJSON,
		Long: `Attack a mechanism through the code that a run uses: clip, encode, noise, sum, decode.

Of each kind there is a small experiment with a target of epsilon 2 at delta 1e-5, prepared as any other. Two neighbouring inputs,
the worst we know, go through it many times, and what an adversary sees of them is told apart as well as possible. For each
attack you get the epsilon that the statement claims, the lower bound that the attack proves, and beside it the one that it would
prove if the trade-off between its mistakes were that of Gaussian noise; and whether the trade-off stays within the claimed one.

A lower bound above its claim, or mistakes below the claimed trade-off, fail the audit: exit code 1. --fault plants a mistake in the code, which the audit should find.

Kinds: ` + strings.Join(experiment.AuditKinds(), ", ") + ".",
		Example: `  hubbub audit mechanism skellam
  hubbub audit mechanism gaussian --set privacy.mechanism.place=local --set privacy.target.against=server
  hubbub audit mechanism skellam --fault half-noise`,
		ValidArgs: experiment.AuditKinds(),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.settings(a)
			if err != nil {
				return err
			}
			result, err := experiment.AuditMechanism(c.Context(), args[0], sets, experiment.Fault(fault), s)
			if err != nil {
				return err
			}
			if err := a.print(result, func() { a.printAttacks(result) }); err != nil {
				return err
			}
			if result.Contradicted {
				return fmt.Errorf("audit of %s: an attack shows more than the statement claims", args[0])
			}
			return nil
		},
	}
	flags.add(c)
	c.Flags().StringArrayVar(&sets, "set", nil, "change a value of the small experiment: a.b=c (may be repeated)")
	c.Flags().StringVar(&fault, "fault", "", "plant a mistake: half-noise, no-clip, key-reused, shares-for-all, wrong-modulus, participation-in-norm")
	return c
}

func (a *app) printAttacks(result experiment.MechanismAudit) {
	for _, r := range result.Attacks {
		a.printf("%s\n", r.Attack)
		line(a.out, "  neighbours", "%s", r.Neighbours)
		line(a.out, "  claimed, "+who[r.Against], "epsilon %s at delta %g", upward(r.Claimed), r.Direct.Delta)
		verdict := ""
		if r.Direct.Epsilon > r.Claimed {
			verdict = ": CONTRADICTS the claim"
		}
		line(a.out, "  shown", "epsilon at least %.4g%s", downward(r.Direct.Epsilon), verdict)
		verdict = fmt.Sprintf("stands at %d points", len(r.Curve))
		if r.Violated > 0 {
			verdict = fmt.Sprintf("CONTRADICTED at %d of %d points", r.Violated, len(r.Curve))
		}
		line(a.out, "  claimed trade-off", "%s", verdict)
		line(a.out, "  if Gaussian", "epsilon at least %.4g (mu %.4g)", downward(r.Gaussian.Epsilon), r.Gaussian.Mu)
	}
	a.printf("%s trials of either kind, confidence %g for all attacks together\n", thousands(int64(result.Trials)), result.Confidence)
}
