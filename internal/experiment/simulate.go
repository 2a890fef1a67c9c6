package experiment

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"hubbub/internal/algorithm"
	"hubbub/internal/rounds"
	"hubbub/mechanism"
)

// crew computes the contributions of a cohort on all cores. Contributions are integers, so neither the number of workers nor
// their order changes a sum.
type crew struct {
	f       *Federation
	workers []*worker
}

type worker struct {
	*algorithm.Worker
	update  []float32
	sum     []int64
	rows    []float32 // gradients of single records, where a mechanism wants them
	clients []int     // whose contributions are in sum
	known   []float64 // sum of the updates of ordinary clients in a round, where an audit plants canaries
}

// crewSize is one worker per core.
func crewSize() int { return runtime.GOMAXPROCS(0) }

func newCrew(f *Federation) *crew {
	c := &crew{f: f}
	for range crewSize() {
		c.workers = append(c.workers, &worker{
			Worker: algorithm.NewWorker(f.Net, f.Train), update: make([]float32, f.Net.Size()), sum: make([]int64, f.width()),
		})
	}
	return c
}

// contributions computes what the cohort sends, one sum per worker.
func (c *crew) contributions(ctx context.Context, client clientSide, round int, model []float32, cohort []int) ([]rounds.Contribution, error) {
	size := 1
	if c.f.batched != nil {
		size = mechanism.MaxBatch // the batches, and so their float sums, are the same on any number of cores
	}
	var next atomic.Int64
	errs := make([]error, len(c.workers))
	var group sync.WaitGroup
	for i, w := range c.workers {
		clear(w.sum)
		w.clients = w.clients[:0]
		group.Go(func() {
			for {
				from := (int(next.Add(1)) - 1) * size
				if from >= len(cohort) || ctx.Err() != nil {
					return
				}
				clients := cohort[from:min(from+size, len(cohort))]
				if errs[i] = c.contribute(w, client, round, model, clients); errs[i] != nil {
					next.Store(int64(len(cohort))) // the others need not go on
					return
				}
				w.clients = append(w.clients, clients...)
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var sums []rounds.Contribution
	for i, w := range c.workers {
		if errs[i] != nil {
			return nil, fmt.Errorf("round %d: %w", round, errs[i])
		}
		if len(w.clients) > 0 {
			sums = append(sums, rounds.Contribution{Round: round, Clients: w.clients, Sum: w.sum})
		}
	}
	return sums, nil
}

func (c *crew) contribute(w *worker, client clientSide, round int, model []float32, clients []int) error {
	if c.f.batched != nil {
		records := make([]int, len(clients))
		for i, n := range clients {
			records[i] = c.f.Parts[n][0]
		}
		return w.AddClipped(w.sum, model, records, c.f.batched)
	}
	for _, n := range clients {
		if k := c.f.canaries; k != nil && n >= k.first {
			if err := k.contribute(w, client, n, c.f.clientKey(round, n)); err != nil {
				return err
			}
			continue
		}
		if err := client.contribute(w, model, c.f.Parts[n], c.f.clientKey(round, n)); err != nil {
			return err
		}
		if k := c.f.canaries; k != nil {
			k.remember(w)
		}
	}
	return nil
}

// evaluate measures loss and accuracy on the public test set.
func (c *crew) evaluate(model []float32) (loss, accuracy float64) {
	const batch = 100 // fixed, so that the float sums are the same on any number of cores
	test := c.f.Test
	n := test.Len()
	losses := make([]float64, (n+batch-1)/batch)
	correct := make([]int, len(losses))
	var next atomic.Int64
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(losses) {
					return
				}
				from, to := i*batch, min((i+1)*batch, n)
				losses[i], correct[i] = w.Evaluate(model, test.Features[from*test.Dim():to*test.Dim()], test.Labels[from:to])
			}
		})
	}
	group.Wait()
	right := 0
	for i := range losses {
		loss += losses[i]
		right += correct[i]
	}
	return loss / float64(n), float64(right) / float64(n)
}
