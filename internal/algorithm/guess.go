package algorithm

import (
	"fmt"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// Guess is DP-SGD that sizes its clip or its noise by the client's own gradients, as schemes do that paper 003 compares itself with
// (Figure 4d). Their authors count with the noise multiplier as if the size were public. It is not, and nothing is charged for it: none of
// them has a guarantee.
type Guess struct {
	Rule       GuessRule
	Clip       float64 // L2 bound on one record's gradient, where the rule has one
	Multiplier float64 // standard deviation of the noise over the size
}

// GuessRule says where the size comes from.
type GuessRule string

// The rules, each in a file of its own.
const (
	History GuessRule = "history" // the mean norm of the gradients in the step before
	Spread  GuessRule = "spread"  // mean and spread of the norms in the batch
	Layers  GuessRule = "layers"  // for each tensor the largest norm in the batch
)

// Check refuses what has no meaning.
func (g Guess) Check() error {
	switch g.Rule {
	case History, Spread, Layers:
	default:
		return fmt.Errorf("algorithm: estimate %q is none of %s, %s, %s", g.Rule, History, Spread, Layers)
	}
	if !(g.Clip > 0) || !(g.Multiplier > 0) {
		return fmt.Errorf("algorithm: clip %g and noise multiplier %g: must be above 0", g.Clip, g.Multiplier)
	}
	return nil
}

// guessedBatch sets the gradient to the noised mean over a Poisson batch, as [FedAvg.noisyBatch] does, with a guessed size.
func (a FedAvg) guessedBatch(w *Worker, records []int, random *noise.Stream) error {
	s := &w.training
	rate := a.RateFor(len(records))
	s.draw(records, rate, random)
	clear(s.gradient)
	var err error
	switch a.Guess.Rule {
	case History:
		err = a.Guess.history(w, random)
	case Spread:
		err = a.Guess.spread(w, random)
	case Layers:
		err = a.Guess.layers(w, random)
	}
	kernel.Scale(s.gradient, float32(1/(rate*float64(len(records)))))
	return err
}

// sumScaled adds the gradients of the drawn records to the gradient, each times the factor for its squared norm.
func (w *Worker) sumScaled(factor func(example int, squaredNorm float64) float64) error {
	s := &w.training
	for records := s.order; len(records) > 0; {
		batch := records[:min(len(records), plainBatch)]
		records = records[len(batch):]
		inputs, labels := w.load(batch)
		if err := checkLoss(w.pass.Clipped(w.sum, s.local, inputs, labels, factor)); err != nil {
			return err
		}
		kernel.Axpy(s.gradient, 1, w.sum)
	}
	return nil
}

// addNoise adds normal noise to weights.
func addNoise(x []float32, sigma float64, random *noise.Stream) {
	var z [512]float64
	for len(x) > 0 {
		n := min(len(x), len(z))
		random.Gaussian(z[:n])
		for i, v := range z[:n] {
			x[i] += float32(sigma * v)
		}
		x = x[n:]
	}
}
