package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// finding is what the audit of one variant, or of one planted fault, came to.
type finding struct {
	Name string `json:"name"`
	experiment.MechanismAudit
}

// everything is the result of audit all.
type everything struct {
	Mechanisms []finding `json:"mechanisms"`
	Faults     []finding `json:"faults"`
}

func (a *app) auditAll() *cobra.Command {
	var flags auditFlags
	var out string
	c := &cobra.Command{
		Use: "all", Short: "Attack every mechanism that claims a guarantee, and plant every fault", Args: cobra.NoArgs, Annotations: hasJSON,
		Long: `Attack every mechanism that claims a guarantee, in every variant, and plant every fault in one that shows it.

It fails if a claim is contradicted, or if a planted fault is not found. With --out it writes the table audit.md and the picture
audit.svg into a folder. With a million trials it takes some ten minutes.`,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := flags.settings(a)
			if err != nil {
				return err
			}
			all, err := a.attackEverything(c, s)
			if err != nil {
				return err
			}
			if out != "" {
				if err := writeAudit(out, all, s); err != nil {
					return err
				}
			}
			if err := a.print(all, func() { a.printf("%s", auditTable(all, s)) }); err != nil {
				return err
			}
			return all.verdict()
		},
	}
	flags.add(c)
	c.Flags().StringVar(&out, "out", "", "folder for audit.md and audit.svg")
	return c
}

// planted says which mechanism each fault is planted in.
var planted = map[experiment.Fault]string{
	experiment.HalfNoise: "gaussian", experiment.NoClip: "laplace", experiment.KeyReused: "gaussian",
	experiment.SharesForAll: "skellam", experiment.WrongModulus: "skellam", experiment.NormTellsWhom: "skellam",
}

func (a *app) attackEverything(c *cobra.Command, s experiment.AuditSettings) (everything, error) {
	var all everything
	report := s.Progress
	one := func(name, kind string, changed []string, fault experiment.Fault) (finding, error) {
		if report != nil {
			fmt.Fprintf(a.errs, "%s\n", name)
			s.Progress = func(attack string, done float64) { report("  "+attack, done) }
		}
		result, err := experiment.AuditMechanism(c.Context(), kind, changed, fault, s)
		return finding{name, result}, err
	}
	for _, v := range experiment.Variants {
		f, err := one(v.Name, v.Kind, v.Changed, "")
		if err != nil {
			return all, err
		}
		all.Mechanisms = append(all.Mechanisms, f)
	}
	for _, fault := range experiment.Faults {
		f, err := one(string(fault), planted[fault], nil, fault)
		if err != nil {
			return all, err
		}
		all.Faults = append(all.Faults, f)
	}
	return all, nil
}

func (e everything) verdict() error {
	var wrong []string
	for _, f := range e.Mechanisms {
		if f.Contradicted {
			wrong = append(wrong, "the claim of "+f.Name+" is contradicted")
		}
	}
	for _, f := range e.Faults {
		if !f.Contradicted {
			wrong = append(wrong, "the fault "+f.Name+" is not found")
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("audit: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// best is the attack that comes closest to its claim, or goes furthest beyond it.
func (f finding) best() experiment.AttackResult {
	best, most := f.Attacks[0], math.Inf(-1)
	for _, r := range f.Attacks {
		if v := r.Direct.Epsilon / r.Claimed; v > most {
			best, most = r, v
		}
	}
	return best
}

func auditTable(all everything, s experiment.AuditSettings) string {
	var t strings.Builder
	fmt.Fprintf(&t, "| mechanism | attack | against | claimed | shown | if Gaussian | trade-off |\n|---|---|---|---:|---:|---:|---|\n")
	for _, f := range all.Mechanisms {
		for i, r := range f.Attacks {
			name := f.Name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&t, "| %s | %s | %s | %s | %.4g | %.4g | %s |\n",
				name, r.Attack, r.Against, upward(r.Claimed), downward(r.Direct.Epsilon), downward(r.Gaussian.Epsilon), standing(r))
		}
	}
	fmt.Fprintf(&t, "\n| planted fault | in | found by | claimed | shown | trade-off |\n|---|---|---|---:|---:|---|\n")
	for _, f := range all.Faults {
		r := f.best()
		by := r.Attack
		if !r.Contradicted {
			by = "not found"
		}
		fmt.Fprintf(&t, "| %s | %s | %s | %s | %.4g | %s |\n", f.Name, f.Kind, by, upward(r.Claimed), downward(r.Direct.Epsilon), standing(r))
	}
	fmt.Fprintf(&t, "\n%s trials of either kind; of attacks that are not subtle, fewer. Confidence %g for all attacks on a mechanism together; seed %d.\n",
		thousands(int64(s.Trials)), s.Confidence, s.Seed)
	return t.String()
}

// standing says how the claimed trade-off fared.
func standing(r experiment.AttackResult) string {
	if r.Violated > 0 {
		return fmt.Sprintf("broken at %d of %d points", r.Violated, len(r.Curve))
	}
	return "stands"
}

const auditPage = `# Our guarantees, attacked

Made by ` + "`hubbub audit all --out docs`" + `, which fails if an attack shows more than is claimed or misses a planted fault.

A mechanism's small experiment (4 weights, 64 where norms are measured; a target of epsilon 2 at delta 1e-5) is prepared as every
experiment is, and two neighbouring inputs go through the clip, the rounding, the noise and the sum that runs use. What an
adversary sees of them is told apart as well as we know how.

- **claimed** is what the statement of a run says: an upper bound on epsilon, rounded up.
- **shown** is what the attack proves: with the stated confidence no smaller epsilon holds. It assumes nothing about the mechanism. The
  attack speaks only when it is sure; when that is, a hold-out decides. Finitely many trials show less than the truth: of normal noise at epsilon 2 a million show
  about 1.6.
- **if Gaussian** is what the same trials show of a mechanism whose trade-off between false positives and false negatives is that of
  normal noise. Of the Laplace mechanism, which is no such one, it may exceed the claim; that contradicts nothing.

- **trade-off** holds the rates of both mistakes, at some ten thresholds, against the trade-off function of what the run was charged for.
  It depends on no single delta, and finds what the tails are too thin to show.

Where *shown* stays far below *claimed*, the proof behind the claim is loose: the closed form of the binomial mechanism, or the mixture
mechanism's charge. Half of their noise could be lacking without an attack to prove it.

![Claimed and shown epsilon](audit.svg)

`

func writeAudit(folder string, all everything, s experiment.AuditSettings) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return experiment.Input(err)
	}
	picture, err := auditPicture(all)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"audit.md": []byte(auditPage + auditTable(all, s)), "audit.svg": picture} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return experiment.Input(err)
		}
	}
	return nil
}

// auditPicture shows, of each kind with its usual settings, the first attack: the one on a single round.
func auditPicture(all everything) ([]byte, error) {
	var names []string
	var claimed, shown []float64
	for _, f := range all.Mechanisms {
		if len(f.Changed) == 0 {
			names = append(names, f.Kind)
			claimed = append(claimed, f.Attacks[0].Claimed)
			shown = append(shown, f.Attacks[0].Direct.Epsilon)
		}
	}
	return chart.Bars{
		Title: "Epsilon of one round at delta 1e-5: claimed, and shown by an attack", XLabel: "mechanism", YLabel: "epsilon",
		Categories: names, Groups: []chart.Group{{Name: "claimed, at most", Values: claimed}, {Name: "shown, at least", Values: shown}},
		Width: 900, Height: 420,
	}.SVG()
}
