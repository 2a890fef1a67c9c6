package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
	"hubbub/internal/reproduce"
)

func (a *app) reproduceCommand() *cobra.Command {
	var table, figure, first int
	var fast, full, check bool
	var out, runs string
	c := &cobra.Command{
		Use:   "reproduce PAPER [ITEM]",
		Short: "Run a paper's experiments and put its numbers beside ours",
		Long: `Run a paper's experiments and put its numbers beside ours.

Tables (Markdown, CSV, JSON) and figures (SVG, PNG) go to the folder that --out names. Every run is kept below it (or in the folder that
--runs names) by the hash of its configuration: the same command again, or after Ctrl-C, runs only what is missing. --fast takes minutes, with fewer clients, rounds or
seeds, as the tables say; --full is the paper's setting and takes hours. --check ends with exit code 1 when an order or a distance that we
state does not hold. The experiment files are in experiments/PAPER of the source and can be run one by one with hubbub run.

The paper "compare" is none: it puts the mechanisms of all papers on one task, each beside its true and its audited epsilon.`,
		Example: `  hubbub reproduce 002
  hubbub reproduce 002 --figure 1 --full --out results
  hubbub reproduce 004 --check
  hubbub reproduce 003 theorem 1
  hubbub reproduce compare --out docs --runs .cache/reproduce/compare/runs`,
		Args: cobra.MaximumNArgs(3), Annotations: hasJSON,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listPapers()
			}
			paper, err := reproduce.Find(args[0])
			if err != nil {
				return usage("%v", err)
			}
			name := strings.Join(args[1:], " ")
			switch {
			case name != "" && (c.Flags().Changed("table") || c.Flags().Changed("figure")):
				return usage("%s and --table or --figure: name one item", name)
			case c.Flags().Changed("table"):
				name = fmt.Sprintf("table %d", table)
			case c.Flags().Changed("figure"):
				name = fmt.Sprintf("figure %d", figure)
			}
			items, err := paper.Select(name)
			if err != nil {
				return usage("%v", err)
			}
			scale := reproduce.Fast
			if full {
				scale = reproduce.Full
			}
			if out == "" {
				out = filepath.Join("results", paper.ID)
			}
			if runs == "" {
				runs = filepath.Join(out, "runs")
			}
			report := reproduce.Report{Paper: paper.ID, Title: paper.Title, Scale: scale, Made: builtFrom(), Page: paper.Page, Intro: paper.Intro,
				Command: strings.TrimSpace(fmt.Sprintf("hubbub reproduce %s --%s %s", paper.ID, scale, asked(name)))}
			if first < 0 {
				return usage("--first %d: must be at least 1", first)
			}
			if first > 0 {
				report.Command += fmt.Sprintf(" --first %d", first)
			}
			return a.reproduce(c.Context(), report, items, first, out, runs, check)
		},
	}
	c.Flags().IntVar(&table, "table", 0, "only this table")
	c.Flags().IntVar(&figure, "figure", 0, "only this figure")
	c.Flags().IntVar(&first, "first", 0, "only the first so many settings of each table and figure, in the paper's order (004)")
	c.Flags().BoolVar(&fast, "fast", false, "minutes: fewer clients, rounds or seeds (without --full this is what is done)")
	c.Flags().BoolVar(&full, "full", false, "the paper's setting: hours")
	c.Flags().BoolVar(&check, "check", false, "exit with 1 if something that we state does not hold")
	c.Flags().StringVar(&out, "out", "", "folder for tables, figures and runs (default results/PAPER)")
	c.Flags().StringVar(&runs, "runs", "", "folder for the runs (default OUT/runs)")
	c.MarkFlagsMutuallyExclusive("table", "figure")
	c.MarkFlagsMutuallyExclusive("fast", "full")
	return c
}

// asked is how an item was asked for: table 1 by a flag, section 4 by name.
func asked(item string) string {
	if strings.HasPrefix(item, "table ") || strings.HasPrefix(item, "figure ") {
		return "--" + item
	}
	return item
}

func (a *app) listPapers() error {
	type entry struct {
		Paper string   `json:"paper"`
		Title string   `json:"title"`
		Items []string `json:"items"`
	}
	var list []entry
	for _, p := range reproduce.Papers() {
		e := entry{Paper: p.ID, Title: p.Title}
		for _, i := range p.Items {
			e.Items = append(e.Items, i.Name)
		}
		list = append(list, e)
	}
	return a.print(list, func() {
		for _, p := range reproduce.Papers() {
			a.printf("%s  %s\n", p.ID, p.Title)
			for _, i := range p.Items {
				a.printf("     %-10s %s (--full: %s)\n", i.Name, i.About, hours([]reproduce.Item{i}))
			}
		}
	})
}

func (a *app) reproduce(ctx context.Context, report reproduce.Report, items []reproduce.Item, first int, out, runs string, check bool) error {
	bench := &reproduce.Bench{
		Scale: report.Scale, First: first, Paper: report.Paper, Version: version, Context: ctx,
		Store: &experiment.Store{Root: runs},
		Say: func(format string, args ...any) {
			if !a.json {
				fmt.Fprintf(a.errs, format+"\n", args...)
			}
		},
	}
	if err := os.MkdirAll(bench.Store.Root, 0o755); err != nil {
		return fmt.Errorf("make the folder for runs: %w", err)
	}
	if report.Scale == reproduce.Full && first == 0 {
		bench.Say("the paper's setting takes about %s on two cores; what is already there is not run again", hours(items))
	}
	for _, item := range items {
		bench.Say("%s: %s", item.Name, item.About)
		bench.Trained = 0
		outcome, err := item.Make(bench)
		if err != nil {
			if ctx.Err() != nil {
				fmt.Fprintln(a.errs, "hubbub: stopped; the same command goes on from here")
				return errSaid
			}
			return err
		}
		report.Items = append(report.Items, reproduce.Made{Item: item.Name, About: item.About, Seconds: bench.Trained.Round(time.Second).Seconds(), Outcome: outcome})
		report.Ran, report.Kept = bench.Ran, bench.Kept
		// After every item, so that an interruption leaves what is done.
		if err := report.Write(out); err != nil {
			return err
		}
	}
	if err := a.print(report, func() {
		a.printf("%s\nkept in %s\n", report.Markdown(), out)
	}); err != nil {
		return err
	}
	if failed := report.Failed(); check && len(failed) > 0 {
		for _, c := range failed {
			fmt.Fprintf(a.errs, "hubbub: does not hold: %s (%s)\n", c.States, c.Seen)
		}
		return errSaid
	}
	return nil
}

// hours says how long the full setting of items takes.
func hours(items []reproduce.Item) string {
	var all time.Duration
	for _, i := range items {
		all += i.Full
	}
	switch {
	case all < 90*time.Second:
		return "a minute"
	case all < 100*time.Minute:
		return fmt.Sprintf("%.0f minutes", all.Minutes())
	}
	return fmt.Sprintf("%.0f hours", math.Ceil(all.Hours()))
}

// commit is what make built the program from, with a mark if there were changes; empty where it was built by hand.
var commit string

// builtFrom names the program: its version and, if it is known, the commit.
func builtFrom() string {
	name := "hubbub " + version
	if commit != "" {
		return name + ", commit " + commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return name
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			name += ", commit " + s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				name += " with changes"
			}
		}
	}
	return name
}
