package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
)

func (a *app) auditRun() *cobra.Command {
	var s experiment.CanarySettings
	var sets []string
	var runsFolder, out string
	var quiet bool
	c := &cobra.Command{
		Use: "run FILE.yaml", Short: "Plant canaries in a run, and guess which of them took part", Args: cobra.ExactArgs(1), Annotations: hasJSON,
		Long: `Plant canaries in a run, and guess which of them took part.

Canaries are clients behind those of the file. Each has a random direction and tosses a fair coin of its own: heads, and it sends
an update of the clip's norm along its direction whenever it is drawn; tails, and it sends zeros. All of them go through the run as
every client does. From the releases an attack guesses some of the coins, and correct guesses bound epsilon from below
(see hubbub audit one-run). A bound above the run's own statement fails the audit: exit code 1.

The share of clients in a cohort stays what it was, so noise and claims are those of the run without canaries. Accuracy is
not: the canaries' updates are in the model. The folder of the run gets an audit.json.

--monitor also estimates epsilon while the run goes on, from the cosines between canaries and releases (Andrew et al. 2023).
That is an estimate, not a bound.`,
		Example: `  hubbub audit run experiment.yaml --canaries 1000
  hubbub audit run experiment.yaml --canaries 1000 --guesses 100 --monitor --set rounds=50`,
		RunE: func(c *cobra.Command, args []string) error {
			f, err := prepareAudited(args[0], sets, s)
			if err != nil {
				return err
			}
			var folder experiment.Folder
			if out != "" {
				folder, err = experiment.MakeFolder(out)
			} else {
				folder, err = experiment.NewFolder(runsFolder, f.Config.Name+"-audit")
			}
			if err != nil {
				return err
			}
			bar := newBar(a.errs, f, quiet || a.json)
			bar.begin(folder.Path)
			result, err := f.Audit(c.Context(), folder, version, s, func(p experiment.Progress, m *experiment.MonitorPoint) {
				bar.show(p)
				if m != nil && !quiet && !a.json {
					fmt.Fprintf(a.errs, "  estimate by cosines after round %d: epsilon %.3g at delta %g (no bound)\n", m.Round, m.Epsilon, m.Delta)
				}
			})
			bar.end()
			if err != nil {
				return err
			}
			if err := a.print(result, func() { a.printRunAudit(result) }); err != nil {
				return err
			}
			if result.Contradicted {
				return fmt.Errorf("audit of %s: the canaries show more than the statement claims", args[0])
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.IntVar(&s.Canaries, "canaries", 1000, "canaries to plant")
	flags.IntVar(&s.Guesses, "guesses", 0, "coins to guess: the surest ones; left out: a fifth of the canaries")
	flags.Float64Var(&s.Confidence, "confidence", 0.95, "confidence of all lower bounds together, in (0, 1)")
	flags.BoolVar(&s.Monitor, "monitor", false, "estimate epsilon by cosines while the run goes on, whenever accuracy is measured")
	flags.StringArrayVar(&sets, "set", nil, "change a value of the file: a.b=c (may be repeated)")
	flags.StringVar(&runsFolder, "runs", "runs", "folder of all runs")
	flags.StringVar(&out, "out", "", "folder of this run, instead of RUNS/NAME-audit-N; must not exist")
	flags.BoolVarP(&quiet, "quiet", "q", false, "show no progress")
	return c
}

func prepareAudited(file string, sets []string, s experiment.CanarySettings) (*experiment.Federation, error) {
	config, err := experiment.Load(file, sets)
	if err != nil {
		return nil, err
	}
	train, test, err := experiment.LoadData(config)
	if err != nil {
		return nil, err
	}
	return experiment.PrepareAudited(config, train, test, s)
}

func (a *app) printRunAudit(r experiment.RunAudit) {
	line(a.out, "canaries", "%d planted, %d of them in", r.Canaries, r.In)
	line(a.out, "accuracy", "%.2f%%, with the canaries in the model", 100*r.Result.Accuracy)
	for _, w := range r.Attacks {
		a.printf("%s\n", w.Attack)
		if w.Claimed != nil {
			line(a.out, "  claimed", "epsilon %s at delta %.3g, %s", upward(*w.Claimed), w.Shown.Delta, who[w.Against])
		} else {
			line(a.out, "  claimed", "nothing: %s", w.Why)
		}
		verdict := ""
		if w.Contradicted {
			verdict = ": CONTRADICTS the claim"
		}
		line(a.out, "  guesses", "%d of %d correct", w.Shown.Correct, w.Shown.Guessed)
		line(a.out, "  shown", "epsilon at least %.4g%s", downward(w.Shown.Epsilon), verdict)
		line(a.out, "  if Gaussian", "epsilon at least %.4g (mu %.4g)", downward(w.Shown.EpsilonFDP), w.Shown.MuFDP)
	}
	if n := len(r.Monitor); n > 0 {
		m := r.Monitor[n-1]
		line(a.out, "estimated by cosines", "epsilon %.3g at delta %g: an estimate, no bound", m.Epsilon, m.Delta)
	}
}
