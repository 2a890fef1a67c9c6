package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hubbub/claims"
	"hubbub/internal/experiment"
)

const claimsAbout = `List what five papers claim, whether it is true, and what is computed here instead.

Each claim that is false, or printed wrong, has a counterexample, and most of those that hold have a confirmation: --run runs it
and prints what the paper claims and what is found. A run that does not support the verdict fails (exit code 1).`

// claimResult is a claim, and what came of running it.
type claimResult struct {
	claims.Claim
	Paper    string           `json:"paper"`
	Runs     bool             `json:"runs"`
	Evidence *claims.Evidence `json:"evidence,omitempty"`
	Failed   string           `json:"failed,omitempty"` // why the verdict is not supported
}

func (a *app) claimsCommand() *cobra.Command {
	var paper, verdict string
	var run, markdown bool
	c := &cobra.Command{
		Use: "claims [ID]", Short: "List what the papers claim, and show what is false", Long: claimsAbout,
		Example: `  hubbub claims
  hubbub claims --paper 003 --verdict false
  hubbub claims 003.1 --run`,
		Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		RunE: func(_ *cobra.Command, args []string) error {
			selected, err := selectClaims(args, paper, verdict)
			if err != nil {
				return err
			}
			if markdown && (len(args) > 0 || paper != "" || verdict != "" || a.json) {
				return usage("--markdown writes the page of all claims: leave out ID, --paper, --verdict and --json")
			}
			results, failed := a.runClaims(selected, run, run && !a.json && !markdown)
			switch {
			case markdown:
				evidence := map[string]claims.Evidence{}
				for _, r := range results {
					if r.Evidence != nil {
						evidence[r.ID] = *r.Evidence
					}
				}
				a.printf("%s", claims.Markdown(evidence))
			case a.json:
				if err := a.print(map[string]any{"claims": results}, nil); err != nil {
					return err
				}
			case len(args) > 0 && !run:
				a.printClaim(results[0])
			case !run:
				a.printClaims(results)
			}
			return failed
		},
	}
	c.Flags().StringVar(&paper, "paper", "", "only this paper: 000 to 004")
	c.Flags().StringVar(&verdict, "verdict", "", "only this verdict: holds, corrected or false")
	c.Flags().BoolVar(&run, "run", false, "run the counterexamples and confirmations (all of them: under a minute)")
	c.Flags().BoolVar(&markdown, "markdown", false, "write the page docs/claims.md; with --run, what was found is in it")
	return c
}

func selectClaims(args []string, paper, verdict string) ([]claims.Claim, error) {
	if len(args) > 0 {
		if paper != "" || verdict != "" {
			return nil, usage("claim %s was named: leave out --paper and --verdict", args[0])
		}
		c, err := claims.Find(args[0])
		if err != nil {
			return nil, experiment.Input(err)
		}
		return []claims.Claim{c}, nil
	}
	known := slices.ContainsFunc(claims.Papers, func(p struct{ Number, Title string }) bool { return p.Number == paper })
	if paper != "" && !known {
		return nil, usage("--paper %q is none of 000 to 004", paper)
	}
	want := claims.Verdict(verdict)
	if verdict == "corrected" {
		want = claims.Corrected
	}
	if verdict != "" && !slices.Contains(claims.Verdicts, want) {
		return nil, usage("--verdict %q is none of holds, corrected and false", verdict)
	}
	var selected []claims.Claim
	for _, c := range claims.All() {
		if (paper == "" || c.Paper() == paper) && (verdict == "" || c.Verdict == want) {
			selected = append(selected, c)
		}
	}
	return selected, nil
}

// runClaims runs what can be run. The error says which verdicts are not supported.
func (a *app) runClaims(selected []claims.Claim, run, say bool) ([]claimResult, error) {
	var results []claimResult
	var failed []error
	ran := 0
	for _, c := range selected {
		r := claimResult{Claim: c, Paper: c.Paper(), Runs: c.Runs()}
		if run && c.Runs() {
			e, err := c.Run()
			if err != nil {
				failed = append(failed, err)
				r.Failed = err.Error()
			}
			r.Evidence = &e
			ran++
			if say {
				a.printEvidence(r)
			}
		}
		results = append(results, r)
	}
	if say {
		a.printf("%d of %d verdicts supported\n", ran-len(failed), ran)
	}
	return results, errors.Join(failed...)
}

func (a *app) printEvidence(r claimResult) {
	a.printf("%s  %s: %s\n", r.ID, r.Place, r.Verdict)
	for _, l := range []struct{ name, text string }{
		{"says", r.Says}, {"ran", r.Evidence.Ran}, {"claimed", r.Evidence.Claimed.String()}, {"found", r.Evidence.Found.String()},
	} {
		a.printf("  %-8s %s\n", l.name, l.text)
	}
	for _, d := range r.Evidence.Detail {
		a.printf("           %s\n", d)
	}
	if r.Failed != "" {
		a.printf("  FAILED   %s\n", r.Failed)
	}
	a.printf("\n")
}

func (a *app) printClaim(r claimResult) {
	line(a.out, r.ID, "%s, paper %s", r.Place, r.Paper)
	line(a.out, "says", "%s", r.Says)
	line(a.out, "verdict", "%s", r.Verdict)
	line(a.out, "why", "%s", r.Why)
	line(a.out, "ours", "%s", r.Ours)
	line(a.out, "where", "%s", r.Where)
	if r.Runs {
		line(a.out, "see it", "hubbub claims %s --run", r.ID)
	}
}

func (a *app) printClaims(results []claimResult) {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLAIM\tVERDICT\tPLACE\tSAYS")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.Verdict, shorten(r.Place, 44), shorten(r.Says, 80))
	}
	w.Flush()
}

// shorten cuts a sentence at a word.
func shorten(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		s = string(letters[:most])
		return strings.TrimRight(s[:strings.LastIndex(s, " ")], ",;:") + " ..."
	}
	return s
}
