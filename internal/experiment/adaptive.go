package experiment

import (
	"context"
	"errors"
	"fmt"

	"hubbub/accountant"
	"hubbub/internal/algorithm"
	"hubbub/mechanism"
	"hubbub/mechanism/adaptive"
	"hubbub/noise"
)

// errNoiseGrew is returned when the printed mechanism, whose noise is as large as the weights that it made larger, runs away.
var errNoiseGrew = errors.New("the noise grows with the weights that it moves, out of all range: lower sigma0 or beta, take more clients, or another reading of M")

// tensors are the boundaries of the model's tensors.
func (f *Federation) tensors() adaptive.Tensors {
	var at adaptive.Tensors
	for _, t := range f.Net.Tensors() {
		at = append(at, t.Offset)
	}
	return append(at, f.Net.Size())
}

// buildPrinted makes the mechanism of paper 003 as it is printed.
func (f *Federation) buildPrinted(average algorithm.FedAvg) error {
	m := f.Config.Privacy.Mechanism
	printed, err := adaptive.NewPrinted(adaptive.PrintedConfig{
		Tensors: f.tensors(), Truncation: m.Beta, NoiseLevel: f.Facts.Noise, Reading: adaptive.Reading(m.Reading),
	})
	if err != nil {
		return f.Config.refuse("privacy.mechanism", "is impossible: %v", err)
	}
	f.Facts.Claim = printed.Event().(accountant.Unsound)
	if b := m.Budget; b != nil {
		if f.budget, err = adaptive.NewBudget(b.Epsilon, b.Delta, f.Facts.Noise); err != nil {
			return f.Config.refuse("privacy.mechanism.budget", "is impossible: %v", err)
		}
	}
	f.algorithm = average
	f.way = way{printedClient{average, printed}, mechanism.None{}}
	return nil
}

// refusesRound asks, before anything leaves, whether the budget of every client of the next round has room for one more contribution; took counts
// those that each made. (As printed, Algorithm 2 asks afterwards, and exceeds the budget by one round.)
func (f *Federation) refusesRound(round int, took []int) error {
	if f.budget == nil {
		return nil
	}
	survivors, _ := f.cohort(round)
	for _, c := range survivors {
		if err := f.budget.Allow(took[c]); err != nil {
			return fmt.Errorf("client %d in round %d: %w", c, round, err)
		}
	}
	return nil
}

// printedClient trains, perturbs its weights, and sends them. The server replaces the model by their mean: what is added up is
// their difference to the model, on the grid of plain updates, so that sums do not depend on the order.
type printedClient struct {
	algorithm algorithm.FedAvg
	mechanism *adaptive.Printed
}

func (p printedClient) contribute(w *worker, model []float32, round int, records []int, random noise.Key) error {
	local, err := p.algorithm.Estimated(w.Worker, model, round, records, random.Derive("training").Stream())
	if err != nil {
		return err
	}
	if err := p.mechanism.Contribute(w.update, local, random.Derive("noise").Stream()); err != nil {
		return fmt.Errorf("%w (%v)", errNoiseGrew, err)
	}
	for i, v := range model {
		w.update[i] -= v
	}
	if err := (mechanism.None{}).Contribute(w.sum, w.update, nil); err != nil {
		return fmt.Errorf("%w (%v)", errNoiseGrew, err)
	}
	return nil
}

// buildFollowing makes the sound variant, whose intervals follow the releases.
func (f *Federation) buildFollowing() error {
	m := f.Config.Privacy.Mechanism
	released, err := adaptive.NewReleased(adaptive.ReleasedConfig{
		Tensors: f.tensors(), Truncation: m.Beta, NoiseLevel: f.Facts.Noise, Source: adaptive.Source(m.Follow), Smallest: m.Smallest, Largest: m.Largest,
	})
	if err != nil {
		return f.Config.refuse("privacy.mechanism", "is impossible: %v", err)
	}
	f.follows = released
	f.way, err = f.wayAfter(f.Net.Init(f.key.Derive("init").Stream()), nil)
	return err
}

// Cut is what the printed mechanism makes of one client's weights in a round, before it adds noise.
type Cut struct {
	Round              int
	Trained, Truncated []float32
}

// Cuts runs the rounds of the printed mechanism in memory and looks at what one client cuts, every so many rounds from the first one on. A
// client would keep this to itself.
func (f *Federation) Cuts(ctx context.Context, client, every int) ([]Cut, error) {
	side, ok := f.way.client.(printedClient)
	if !ok {
		return nil, fmt.Errorf("mechanism %s cuts nothing to intervals: adaptive does", f.Config.Privacy.Mechanism.Kind)
	}
	crew := newCrew(f)
	server, err := algorithm.NewOptimizer(f.Config.serverOptimizer(), f.Net.Size())
	if err != nil {
		return nil, err
	}
	model, mean := f.Net.Init(f.key.Derive("init").Stream()), make([]float32, f.Net.Size())
	var cuts []Cut
	for round := 1; round <= f.Config.Rounds; round++ {
		if (round-1)%every == 0 {
			local, err := side.algorithm.Estimated(crew.workers[0].Worker, model, round, f.Parts[client], f.clientKey(round, client).Derive("training").Stream())
			if err != nil {
				return nil, err
			}
			c := Cut{Round: round, Trained: local.Trained, Truncated: make([]float32, f.Net.Size())}
			if err := side.mechanism.Truncate(c.Truncated, local); err != nil {
				return nil, err
			}
			cuts = append(cuts, c)
		}
		survivors, _ := f.cohort(round)
		sums, err := crew.contributions(ctx, side, round, model, survivors, nil)
		if err != nil {
			return nil, err
		}
		total := make([]int64, f.Net.Size())
		for _, s := range sums {
			for i, v := range s.Sum {
				total[i] += v
			}
		}
		f.way.server.Decode(mean, total, f.divisor(len(survivors)))
		f.algorithm.ServerGradient(mean)
		server.Step(model, mean, f.Config.serverOptimizer().RateIn(round))
	}
	return cuts, nil
}
