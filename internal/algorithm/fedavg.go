package algorithm

import (
	"fmt"
	"math"

	"hubbub/internal/kernel"
	"hubbub/mechanism"
	"hubbub/noise"
)

// FedAvg is federated averaging (McMahan et al. 2017, Algorithm 1): every client trains by itself for some steps, the update
// is the change of its weights, and the server steps along the mean of the updates.
//
// With Noise it trains by DP-SGD (Abadi et al. 2016, Algorithm 1): every record tosses a coin to be in a batch, gradients
// are clipped one by one and noised, so that each record of the client is protected from everyone but the client itself.
type FedAvg struct {
	Local  OptimizerConfig
	Batch  int // records per step; with Noise, expected
	Epochs int // passes over the records; 0 if Steps is given
	Steps  int // steps per round; 0 if Epochs is given

	Noise *mechanism.Gaussian // nil: plain training
}

// StepsFor is the number of steps that a client with so many records makes in a round.
func (a FedAvg) StepsFor(records int) int {
	if a.Steps > 0 {
		return a.Steps
	}
	return a.Epochs * int(math.Ceil(float64(records)/float64(a.Batch)))
}

// RateFor is the probability that a record is in a batch of DP-SGD.
func (a FedAvg) RateFor(records int) float64 {
	return min(1, float64(a.Batch)/float64(records))
}

// Update trains from model over the records and sets update to the change.
func (a FedAvg) Update(w *Worker, update, model []float32, records []int, random *noise.Stream) error {
	local := append([]float32(nil), model...)
	optimizer, err := NewOptimizer(a.Local, len(model))
	if err != nil {
		return err
	}
	next := a.plainBatches(w, records, random)
	if a.Noise != nil {
		next = a.noisyBatches(w, records, random)
	}
	gradient := make([]float32, len(model))
	for range a.StepsFor(len(records)) {
		if err := next(gradient, local); err != nil {
			return err
		}
		optimizer.Step(local, gradient)
	}
	for i, v := range local {
		update[i] = v - model[i]
	}
	if !kernel.Finite(update) {
		return ErrDiverged
	}
	return nil
}

// batches sets gradient to the mean over the next batch.
type batches func(gradient, model []float32) error

// plainBatches walks through the records in random order, epoch by epoch.
func (a FedAvg) plainBatches(w *Worker, records []int, random *noise.Stream) batches {
	order := append([]int(nil), records...)
	at := len(order)
	return func(gradient, model []float32) error {
		if at == len(order) {
			random.Shuffle(order)
			at = 0
		}
		batch := order[at:min(at+a.Batch, len(order))]
		at += len(batch)
		return w.MeanGradient(gradient, model, batch)
	}
}

// noisyBatches draws Poisson batches. The divisor is the expected size: the real one would tell who was in it.
func (a FedAvg) noisyBatches(w *Worker, records []int, random *noise.Stream) batches {
	rate := a.RateFor(len(records))
	sum := make([]int64, len(w.sum))
	var batch []int
	return func(gradient, model []float32) error {
		batch = batch[:0]
		for _, r := range records {
			if random.Coin(rate) {
				batch = append(batch, r)
			}
		}
		clear(sum)
		if err := w.AddClipped(sum, model, batch, a.Noise); err != nil {
			return err
		}
		a.Noise.ServerNoise(sum, random) // the client is the one who sums here
		a.Noise.Decode(gradient, sum, rate*float64(len(records)))
		return nil
	}
}

// ServerGradient turns the mean update into what the server's optimizer steps against: its negative.
func (FedAvg) ServerGradient(mean []float32) { kernel.Scale(mean, -1) }

// Check refuses what cannot be run.
func (a FedAvg) Check() error {
	if (a.Epochs > 0) == (a.Steps > 0) || a.Epochs < 0 || a.Steps < 0 {
		return fmt.Errorf("algorithm: %d epochs and %d steps: exactly one of them must be above 0", a.Epochs, a.Steps)
	}
	if a.Batch < 1 {
		return fmt.Errorf("algorithm: batches of %d records: must be at least 1", a.Batch)
	}
	_, err := NewOptimizer(a.Local, 0)
	return err
}
