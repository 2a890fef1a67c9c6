package main

import (
	"context"
	"fmt"

	"hubbub/internal/experiment"
)

// overSeeds is one experiment under several seeds.
type overSeeds struct {
	Name     string              `json:"name"`
	Seeds    int                 `json:"seeds"`
	Accuracy float64             `json:"accuracy"`       // mean
	Error    float64             `json:"standard_error"` // of the mean; 0 for a single seed
	Results  []experiment.Result `json:"results"`
}

// runSeeds runs an experiment with several seeds, each in a folder of its own.
func (a *app) runSeeds(ctx context.Context, file string, sets []string, runsFolder string, seeds int, quiet bool) error {
	if seeds < 1 || seeds > 1000 {
		return usage("--seeds %d outside 1 to 1000", seeds)
	}
	first, err := experiment.Load(file, sets)
	if err != nil {
		return err
	}
	all := overSeeds{Name: first.Name, Seeds: seeds}
	for i := range uint64(seeds) {
		f, err := prepare(file, append(sets[:len(sets):len(sets)], fmt.Sprintf("seed=%d", first.Seed+i)))
		if err != nil {
			return err
		}
		folder, err := experiment.NewFolder(runsFolder, f.Config.Name)
		if err != nil {
			return err
		}
		bar := newBar(a.errs, f, quiet || a.json)
		bar.begin(folder.Path)
		result, err := f.Start(ctx, folder, version, bar.show)
		bar.end()
		if err != nil {
			return err
		}
		all.Results = append(all.Results, result)
	}
	all.summarise()
	return a.print(all, func() {
		line(a.out, "accuracy", "%.2f%% with a standard error of %.2f, mean of %d seeds", 100*all.Accuracy, 100*all.Error, seeds)
		for _, r := range all.Results {
			a.printf("  %.2f%%\n", 100*r.Accuracy)
		}
		printStatement(a.out, all.Results[0].Statement, all.Results[0].Statement[0].Unit)
	})
}

func (o *overSeeds) summarise() {
	values := make([]float64, len(o.Results))
	for i, r := range o.Results {
		values[i] = r.Accuracy
	}
	o.Accuracy, o.Error = experiment.MeanError(values)
}
