package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"hubbub/internal/experiment"
	"hubbub/statement"
)

// sweepResult is what came of a sweep.
type sweepResult struct {
	Name     string             `json:"name"`
	Folder   string             `json:"folder"`
	Seconds  float64            `json:"seconds"` // of all runs together, those of earlier calls included
	Variants []experiment.Tally `json:"variants"`
}

// runSweep runs every combination that is not kept yet, and prints a line for each of them.
func (a *app) runSweep(ctx context.Context, variants []experiment.Combination, runsFolder string, quiet bool) error {
	name := variants[0].Config.Name
	store := &experiment.Store{Root: filepath.Join(runsFolder, name+"-sweep")}
	all := sweepResult{Name: name, Folder: store.Root}
	var results []experiment.Result
	for i, v := range variants {
		var b *bar
		result, err := store.Run(ctx, v.Config, version, func(f *experiment.Federation, folder experiment.Folder) {
			b = newBar(a.errs, f, quiet || a.json)
			if !b.quiet {
				fmt.Fprintf(a.errs, "%d of %d: %s\n", i+1, len(variants), settingsInWords(v.Settings))
			}
			b.begin(folder.Path)
		}, func(p experiment.Progress) { b.show(p) })
		if b != nil {
			b.end()
		}
		if err != nil {
			if ctx.Err() != nil {
				fmt.Fprintf(a.errs, "hubbub: stopped at %d of %d; the same command goes on from here\n", i+1, len(variants))
				return errSaid
			}
			return err
		}
		results = append(results, result)
		all.Seconds += result.Seconds
	}
	all.Variants = experiment.Tallies(variants, results)
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(store.Root, "sweep.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return a.print(all, func() { a.printSweep(all) })
}

func settingsInWords(settings []experiment.Setting) string {
	words := make([]string, len(settings))
	for i, s := range settings {
		words[i] = s.Path + "=" + s.Value
	}
	return strings.Join(words, ", ")
}

func (a *app) printSweep(all sweepResult) {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, s := range all.Variants[0].Settings {
		fmt.Fprintf(w, "%s\t", s.Path)
	}
	fmt.Fprintln(w, "accuracy\tstandard error\tseeds\tepsilon against server\tpublic\tseconds")
	for _, t := range all.Variants {
		for _, s := range t.Settings {
			fmt.Fprintf(w, "%s\t", s.Value)
		}
		note := ""
		if t.Diverged > 0 {
			note = fmt.Sprintf(" (%d diverged)", t.Diverged)
		}
		spread := "-"
		if t.Seeds > 1 {
			spread = fmt.Sprintf("%.2f", 100*t.Error)
		}
		first := t.Results[0]
		fmt.Fprintf(w, "%.2f%%%s\t%s\t%d\t%s\t%s\t%.1f\n", 100*t.Accuracy, note, spread, t.Seeds,
			epsilonOf(first, statement.Server), epsilonOf(first, statement.Public), first.Seconds)
	}
	w.Flush()
	a.printf("\n%s in all; kept in %s\n", short(time.Duration(all.Seconds*float64(time.Second))), all.Folder)
}

// epsilonOf writes a run's epsilon for its own unit.
func epsilonOf(r experiment.Result, adversary statement.Adversary) string {
	row, ok := r.EpsilonAgainst(adversary, r.Statement[0].Unit)
	if !ok || row.Epsilon == nil {
		return "none"
	}
	return upward(*row.Epsilon)
}
