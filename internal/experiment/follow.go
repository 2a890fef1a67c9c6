package experiment

import (
	"context"
	"fmt"
	"math"
	"os"

	"hubbub/internal/algorithm"
	"hubbub/noise"
)

// Follow trains the first rounds again, out of sight, and shows every model: that before the first round, and that after each. The same
// seed gives the same models as the run had.
func (f *Federation) Follow(ctx context.Context, upTo int, see func(round int, model []float32) error) error {
	first := checkpoint{model: f.Net.Init(f.key.Derive("init").Stream())}
	if err := see(0, first.model); err != nil || upTo == 0 {
		return err
	}
	path, err := os.MkdirTemp("", "hubbub-follow-")
	if err != nil {
		return fmt.Errorf("make a folder to train in: %w", err)
	}
	defer os.RemoveAll(path)
	r, err := f.open(Folder{path}, first, nil)
	if err != nil {
		return err
	}
	defer r.books.close()
	defer r.metrics.Close()
	for r.last.round < upTo {
		if err := r.oneRound(ctx); err != nil {
			return err
		}
		if err := see(r.last.round, r.last.model); err != nil {
			return err
		}
	}
	return nil
}

// Gradients computes the gradient of each record by itself, a row each, clipped if the mechanism clips single records.
func (f *Federation) Gradients(model []float32, records []int) ([]float32, error) {
	rows := make([]float32, len(records)*len(model))
	if err := algorithm.NewWorker(f.Net, f.Train).PerExample(rows, model, records); err != nil {
		return nil, err
	}
	if f.Config.Privacy.Unit == "record" {
		clipRows(rows, len(model), f.Config.Privacy.Mechanism.Clip)
	}
	return rows, nil
}

// Updates trains on each list of records by itself, as clients do in a round, and returns the updates, a row each. Every list has coins of
// its own.
func (f *Federation) Updates(model []float32, round int, lists [][]int, random noise.Key) ([]float32, error) {
	size := len(model)
	rows := make([]float32, len(lists)*size)
	w := algorithm.NewWorker(f.Net, f.Train)
	for i, records := range lists {
		if err := f.algorithm.Update(w, rows[i*size:(i+1)*size], model, round, records, random.Derive("training", uint64(i)).Stream()); err != nil {
			return nil, err
		}
	}
	clipRows(rows, size, f.Config.Privacy.Mechanism.Clip)
	return rows, nil
}

// clipRows shortens rows to a norm; 0 leaves them.
func clipRows(rows []float32, size int, clip float64) {
	for ; clip > 0 && len(rows) > 0; rows = rows[size:] {
		square := 0.0
		for _, v := range rows[:size] {
			square += float64(v) * float64(v)
		}
		if square <= clip*clip {
			continue
		}
		factor := float32(clip / math.Sqrt(square))
		for i := range rows[:size] {
			rows[i] *= factor
		}
	}
}
