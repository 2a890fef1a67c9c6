package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
)

func (a *app) runCommand() *cobra.Command {
	var sets []string
	var runsFolder, out string
	var resume, quiet bool
	var seeds int
	c := &cobra.Command{
		Use:   "run FILE.yaml",
		Short: "Simulate a federation in this process and keep what came of it",
		Long: `Simulate a federation in this process and keep what came of it.

Results go to the next free folder runs/NAME-1, -2, ...: config.yaml (every default written out), metrics.jsonl
(a line a round), result.json, ledger (what privacy was spent), model.safetensors and report.html.

Ctrl-C keeps what was done. "hubbub run runs/NAME-1 --resume" goes on after the last complete round and comes to the
same end as a run that was never interrupted; "hubbub run FILE.yaml --resume" finds the folder by itself.

A file with a sweep (sweep: {privacy.target.epsilon: [1, 2, 3], seed: [1, 2, 3]}) is one experiment for each combination. They go to
runs/NAME-sweep, and a table with the mean over the seeds is printed. The same command again runs only what is missing.`,
		Example: `  hubbub run experiment.yaml
  hubbub run experiment.yaml --set rounds=20 --set privacy.target.epsilon=1
  hubbub run experiment.yaml --seeds 3
  hubbub run runs/demo-1 --resume`,
		Args: cobra.ExactArgs(1), Annotations: hasJSON,
		RunE: func(c *cobra.Command, args []string) error {
			if resume {
				return a.resume(c.Context(), args[0], sets, runsFolder, quiet)
			}
			if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
				return usage("%s is a folder: to go on with the run in it, add --resume", args[0])
			}
			variants, err := experiment.LoadSweep(args[0], sets)
			if err != nil {
				return err
			}
			if len(variants[0].Settings) > 0 {
				if seeds != 1 || out != "" {
					return usage("--seeds and --out are for a single experiment, %s has a sweep: put seed: [1, 2, 3] into the sweep, or add --set sweep=null", args[0])
				}
				return a.runSweep(c.Context(), variants, runsFolder, quiet)
			}
			if seeds != 1 {
				if variants, err = overSeeds(args[0], sets, variants[0].Config.Seed, seeds); err != nil {
					return err
				}
				return a.runSweep(c.Context(), variants, runsFolder, quiet)
			}
			f, err := prepare(args[0], sets)
			if err != nil {
				return err
			}
			var folder experiment.Folder
			if out != "" {
				folder, err = experiment.MakeFolder(out)
			} else {
				folder, err = experiment.NewFolder(runsFolder, f.Config.Name)
			}
			if err != nil {
				return err
			}
			return a.train(c.Context(), f, folder, f.Start, quiet)
		},
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "change a value of the file: a.b=c (may be repeated)")
	c.Flags().BoolVar(&resume, "resume", false, "go on with a run that was interrupted")
	c.Flags().StringVar(&runsFolder, "runs", "runs", "folder of all runs")
	c.Flags().StringVar(&out, "out", "", "folder of this run, instead of RUNS/NAME-N; must not exist")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "show no progress")
	c.Flags().IntVar(&seeds, "seeds", 1, "a sweep over so many seeds, counting up from the file's")
	c.MarkFlagsMutuallyExclusive("resume", "out", "seeds")
	return c
}

// overSeeds is a sweep over so many seeds.
func overSeeds(file string, sets []string, first uint64, seeds int) ([]experiment.Combination, error) {
	if seeds < 1 || seeds > 1000 {
		return nil, usage("--seeds %d outside 1 to 1000", seeds)
	}
	list := make([]string, seeds)
	for i := range list {
		list[i] = fmt.Sprint(first + uint64(i))
	}
	return experiment.LoadSweep(file, append(slices.Clone(sets), "sweep={seed: ["+strings.Join(list, ", ")+"]}"))
}

// prepare reads an experiment file and the data it names.
func prepare(file string, sets []string) (*experiment.Federation, error) {
	config, err := experiment.Load(file, sets)
	if err != nil {
		return nil, err
	}
	train, test, err := experiment.LoadData(config)
	if err != nil {
		return nil, err
	}
	return experiment.Prepare(config, train, test)
}

func (a *app) resume(ctx context.Context, what string, sets []string, runsFolder string, quiet bool) error {
	folder, err := findRun(what, sets, runsFolder)
	if err != nil {
		return err
	}
	f, err := prepare(filepath.Join(folder.Path, "config.yaml"), nil)
	if err != nil {
		return err
	}
	return a.train(ctx, f, folder, f.Resume, quiet)
}

// findRun takes a run's folder, or finds the newest one of an experiment file that did not finish.
func findRun(what string, sets []string, runsFolder string) (experiment.Folder, error) {
	if info, err := os.Stat(what); err == nil && info.IsDir() {
		return experiment.Folder{Path: what}, nil
	}
	config, err := experiment.Load(what, sets)
	if err != nil {
		return experiment.Folder{}, err
	}
	return experiment.Unfinished(runsFolder, config)
}

type trainer func(ctx context.Context, d experiment.Folder, version string, progress func(experiment.Progress)) (experiment.Result, error)

func (a *app) train(ctx context.Context, f *experiment.Federation, folder experiment.Folder, start trainer, quiet bool) error {
	bar := newBar(a.errs, f, quiet || a.json)
	bar.begin(folder.Path)
	result, err := start(ctx, folder, version, bar.show)
	bar.end()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if printErr := a.print(result, func() { printResult(a.out, f, result, folder) }); printErr != nil {
		return printErr
	}
	if err != nil {
		fmt.Fprintf(a.errs, "hubbub: %s\n", result.Note)
		return errSaid
	}
	return nil
}
