package reproduce

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"hubbub/experiments"
	"hubbub/internal/experiment"
)

// Bench is where an item is made: it runs experiments and tells how far it is.
type Bench struct {
	Scale   Scale
	First   int // of a table or figure, only so many settings; 0: all
	Paper   string
	Version string
	Store   *experiment.Store
	Say     func(format string, args ...any) // progress for a person; never nil
	Context context.Context
	Trained time.Duration // what the runs of this item took, whenever they were made
	Ran     int           // runs that were made, over all items
	Kept    int           // runs that were there already
}

// Pick chooses by scale.
func Pick[T any](b *Bench, fast, full T) T {
	if b.Scale == Full {
		return full
	}
	return fast
}

// Settings are those that are run: all, or the first of them.
func Settings[T any](b *Bench, all []T) []T {
	if b.First > 0 {
		return all[:min(b.First, len(all))]
	}
	return all
}

// Sweep runs every combination of an experiment file of this paper, after the changes (a.b=c), and returns the means over the seeds.
func (b *Bench) Sweep(file string, changes ...string) ([]experiment.Tally, error) {
	variants, results, err := b.Runs(file, changes...)
	if err != nil {
		return nil, err
	}
	return experiment.Tallies(variants, results), nil
}

// Runs is Sweep with every run by itself.
func (b *Bench) Runs(file string, changes ...string) ([]experiment.Combination, []experiment.Result, error) {
	name := path.Join(b.Paper, file+".yaml")
	variants, err := b.variants(file, changes)
	if err != nil {
		return nil, nil, err
	}
	results := make([]experiment.Result, len(variants))
	left := slices.IndexFunc(variants, func(v experiment.Combination) bool { _, kept := b.Store.Kept(v.Config); return !kept })
	if left >= 0 {
		b.Say("%s: %d runs", name, len(variants))
	}
	var spent time.Duration
	ran := 0
	for i, v := range variants {
		_, kept := b.Store.Kept(v.Config)
		began := time.Now()
		told := time.Now()
		result, err := b.Store.Run(b.Context, v.Config, b.Version, nil, func(p experiment.Progress) {
			if time.Since(told) > 10*time.Second {
				told = time.Now()
				b.Say("  %d of %d, %s: round %d of %d, about %s left of this run", i+1, len(variants), words(v.Settings), p.Last.Round, p.Rounds, p.Left.Round(time.Second))
			}
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s with %s: %w", name, words(v.Settings), err)
		}
		results[i] = result
		b.Trained += time.Duration(result.Seconds * float64(time.Second))
		if kept {
			b.Kept++
			continue
		}
		b.Ran++
		spent += time.Since(began)
		ran++
		rest := time.Duration(float64(spent) / float64(ran) * float64(len(variants)-i-1))
		b.Say("  %d of %d, %s: %.2f%% (about %s left)", i+1, len(variants), words(v.Settings), 100*result.Accuracy, rest.Round(time.Second))
	}
	return variants, results, nil
}

// variants reads an experiment file of this paper.
func (b *Bench) variants(file string, changes []string) ([]experiment.Combination, error) {
	name := path.Join(b.Paper, file+".yaml")
	text, err := experiments.Files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reproduce: the experiment %s: %w", name, err)
	}
	return experiment.ParseSweep(path.Join("experiments", name), text, changes)
}

func words(settings []experiment.Setting) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = s.Path[strings.LastIndexByte(s.Path, '.')+1:] + " " + s.Value
	}
	return strings.Join(parts, ", ")
}

// Labels counts the labels of every client of an experiment.
func (b *Bench) Labels(file string, changes ...string) ([][]int, error) {
	variants, err := b.variants(file, changes)
	if err != nil {
		return nil, err
	}
	f, err := b.Store.Prepare(variants[0].Config)
	if err != nil {
		return nil, err
	}
	counts := make([][]int, len(f.Parts))
	for c, records := range f.Parts {
		counts[c] = f.Train.Histogram(records)
	}
	return counts, nil
}

// Leaks attacks the sums of an experiment of this paper (see [experiment.Federation.Leak]), or returns what is kept of it.
func (b *Bench) Leaks(file string, o experiment.LeakOptions, changes ...string) ([]experiment.Leak, error) {
	variants, err := b.variants(file, changes)
	if err != nil {
		return nil, err
	}
	told := time.Now()
	leaks, took, err := b.Store.Leak(b.Context, variants[0].Config, o, func(p experiment.LeakProgress) {
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			b.Say("  %s, initial model %d: %s, %d of %d", file, p.Model+1, p.Stage, p.Done, p.Whole)
		}
	})
	b.Trained += took
	return leaks, err
}
