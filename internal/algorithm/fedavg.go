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
	Sizes Schedule            // what becomes of the noise from round to round; default: nothing
	Guess *Guess              // noise sized by the client's own gradients, without a guarantee; nil: not so
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

// Update trains from the round's model over the records and sets update to the change.
func (a FedAvg) Update(w *Worker, update, model []float32, round int, records []int, random *noise.Stream) error {
	return a.train(w, update, model, round, records, random, func([]float32, []float32) {})
}

// train is Update, where bend may change the gradient of each step at the local weights.
func (a FedAvg) train(w *Worker, update, model []float32, round int, records []int, random *noise.Stream, bend func(gradient, local []float32)) error {
	s := &w.training
	if err := s.begin(a, model, records); err != nil {
		return err
	}
	rate := a.Local.RateIn(round)
	if factor := a.Sizes.Factor(round); a.Noise != nil && factor != 1 {
		var err error
		if a.Noise, err = a.Noise.Scaled(factor); err != nil {
			return err
		}
	}
	for range a.StepsFor(len(records)) {
		if err := a.batch(w, records, random); err != nil {
			return err
		}
		bend(s.gradient, s.local)
		s.optimizer.Step(s.local, s.gradient, rate)
	}
	copy(update, s.local)
	kernel.Axpy(update, -1, model)
	if !kernel.Finite(update) {
		return ErrDiverged
	}
	return nil
}

// training is the state of local training. It is kept from client to client, so that training allocates nothing.
type training struct {
	local, gradient []float32
	optimizer       Optimizer
	config          OptimizerConfig // that the optimizer was made for
	sum             []int64         // of clipped gradients
	order           []int           // of the records in an epoch, or the records of a batch
	at              int             // where the next batch begins in order
	lastNorm        float64         // mean norm of the gradients in the step before, where a guess asks for it; 0: there is none
}

// begin starts a client's training from model.
func (s *training) begin(a FedAvg, model []float32, records []int) error {
	if len(s.local) != len(model) || s.config != a.Local {
		optimizer, err := NewOptimizer(a.Local, len(model))
		if err != nil {
			return err
		}
		*s = training{local: make([]float32, len(model)), gradient: make([]float32, len(model)), optimizer: optimizer, config: a.Local}
	}
	copy(s.local, model)
	s.optimizer.Reset()
	s.order = append(s.order[:0], records...)
	s.at = len(s.order)
	s.lastNorm = 0
	return nil
}

// batch sets the gradient at the local weights for the next step.
func (a FedAvg) batch(w *Worker, records []int, random *noise.Stream) error {
	if a.Guess != nil {
		return a.guessedBatch(w, records, random)
	}
	if a.Noise != nil {
		return a.noisyBatch(w, records, random)
	}
	return a.plainBatch(w, random)
}

// plainBatch sets the gradient to the mean over the next records of an epoch, which are in random order.
func (a FedAvg) plainBatch(w *Worker, random *noise.Stream) error {
	s := &w.training
	if s.at == len(s.order) {
		random.Shuffle(s.order)
		s.at = 0
	}
	batch := s.order[s.at:min(s.at+a.Batch, len(s.order))]
	s.at += len(batch)
	return w.MeanGradient(s.gradient, s.local, batch)
}

// noisyBatch sets the gradient to the noised mean over a Poisson batch. The divisor is the expected size: the real one would tell who
// was in it.
func (a FedAvg) noisyBatch(w *Worker, records []int, random *noise.Stream) error {
	s := &w.training
	rate := a.RateFor(len(records))
	s.draw(records, rate, random)
	if s.sum == nil {
		s.sum = make([]int64, len(s.local))
	}
	clear(s.sum)
	if err := w.AddClipped(s.sum, s.local, s.order, a.Noise); err != nil {
		return err
	}
	a.Noise.ServerNoise(s.sum, random) // the client is the one who sums here
	a.Noise.Decode(s.gradient, s.sum, rate*float64(len(records)))
	return nil
}

// draw lets every record toss a coin to be in the batch.
func (s *training) draw(records []int, rate float64, random *noise.Stream) {
	s.order = random.Heads(s.order[:0], len(records), rate)
	for i, which := range s.order {
		s.order[i] = records[which]
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
	if a.Guess != nil {
		if err := a.Guess.Check(); err != nil {
			return err
		}
	}
	if err := a.Sizes.Check(); err != nil {
		return err
	}
	_, err := NewOptimizer(a.Local, 0)
	return err
}
