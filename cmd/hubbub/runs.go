package main

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hubbub/accountant"
	"hubbub/internal/experiment"
	"hubbub/statement"
)

func (a *app) runsCommand() *cobra.Command {
	var folder string
	list := &cobra.Command{
		Use: "list", Short: "List the runs in the folder", Args: cobra.NoArgs, Annotations: hasJSON,
		RunE: func(*cobra.Command, []string) error {
			runs, err := experiment.List(folder)
			if err != nil {
				return err
			}
			return a.print(runs, func() { a.printRuns(runs, folder) })
		},
	}
	show := &cobra.Command{
		Use: "show RUN", Short: "Show one run and its whole statement", Args: cobra.ExactArgs(1), Annotations: hasJSON,
		Example: "  hubbub runs show demo-1",
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := experiment.Find(folder, args[0])
			if err != nil {
				return err
			}
			return a.print(r, func() { a.printRun(r) })
		},
	}
	c := &cobra.Command{Use: "runs", Short: "List or show what was trained"}
	c.PersistentFlags().StringVar(&folder, "runs", "runs", "folder of all runs")
	c.AddCommand(list, show)
	return c
}

func (a *app) printRuns(runs []experiment.Summary, folder string) {
	if len(runs) == 0 {
		a.printf("no runs in %s; start one with: hubbub run FILE.yaml\n", folder)
		return
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tROUNDS\tACCURACY\tEPSILON (PUBLIC)\tSTATE")
	for _, r := range runs {
		if r.Result == nil {
			fmt.Fprintf(w, "%s\t\t\t\t%s\n", r.Run, r.State)
			continue
		}
		epsilon := "none"
		for _, unit := range []accountant.Unit{accountant.Client, accountant.Record} {
			if row, ok := r.Result.EpsilonAgainst(statement.Public, unit); ok && row.Epsilon != nil {
				epsilon = fmt.Sprintf("%s at delta %.3g, %s", upward(*row.Epsilon), row.Delta, unit)
				break
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%.2f%%\t%s\t%s\n", r.Run, r.Result.Rounds, 100*r.Result.Accuracy, epsilon, r.State)
	}
	w.Flush()
}

func (a *app) printRun(s experiment.Summary) {
	line(a.out, "run", "%s, %s", s.Path, s.State)
	r := s.Result
	if r == nil {
		return
	}
	if r.Note != "" {
		line(a.out, "note", "%s", r.Note)
	}
	line(a.out, "accuracy", "%.2f%% of the public test records, after %d rounds", 100*r.Accuracy, r.Rounds)
	line(a.out, "loss", "%.4f", r.Loss)
	line(a.out, "bytes per client and round", "%s up, %s down", thousands(r.BytesUp), thousands(r.BytesDown))
	line(a.out, "model", "%s", r.ModelHash)
	line(a.out, "report", "%s", filepath.Join(s.Path, "report.html"))
	for _, row := range r.Statement {
		a.printf("\n%s, one %s\n  %s\n", who[row.Adversary], row.Unit, inWords(row))
		if row.ClaimedByPaper != "" {
			a.printf("  claimed by the paper: %s\n", row.ClaimedByPaper)
		}
		if row.Epsilon != nil {
			a.printf("  by %s", row.Accountant)
			if row.Mu != nil {
				a.printf(", mu %.4g", *row.Mu)
			}
			a.printf("\n")
		}
		for _, assumption := range row.Assumptions {
			a.printf("  assumes: %s\n", assumption)
		}
		for _, note := range row.Notes {
			a.printf("  note: %s\n", note)
		}
	}
}
