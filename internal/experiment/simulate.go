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
	"hubbub/noise"
)

// crew computes the contributions of a cohort on all cores. Contributions are integers, so neither the number of workers nor
// their order changes a sum.
type crew struct {
	f       *Federation
	workers []*worker
}

// worker is the memory of one goroutine. It is kept from client to client and round to round.
type worker struct {
	*algorithm.Worker
	update   []float32
	sum      []int64
	rows     []float32    // gradients of single records, where a mechanism wants them
	clients  []int        // whose contributions are in sum
	client   int          // whose turn it is
	records  []int        // of clients that are computed together
	training noise.Stream // of the client at hand
	noise    noise.Stream
	known    []float64 // sum of the updates of ordinary clients in a round, where an audit plants canaries
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
func (c *crew) contributions(ctx context.Context, client clientSide, round int, model []float32, cohort []int, after afterEach) ([]rounds.Contribution, error) {
	size := c.f.together()
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
				if errs[i] = c.contribute(w, client, round, model, clients, after); errs[i] != nil {
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

// afterEach is called when a client's contribution is in the worker's sum; nil: nothing is left to do.
type afterEach func(w *worker, round, client int) error

// together is how many clients are computed at once. It is the same on any number of cores, and so are the float sums over them.
func (f *Federation) together() int {
	switch {
	case f.batched != nil:
		return mechanism.MaxBatch
	case f.gradients != nil:
		return 32 // few enough that two cores finish a cohort at about the same time
	}
	return 1
}

func (c *crew) contribute(w *worker, client clientSide, round int, model []float32, clients []int, after afterEach) error {
	if c.f.together() > 1 {
		w.records = w.records[:0]
		for _, n := range clients {
			w.records = append(w.records, c.f.Parts[n][0])
		}
	}
	switch {
	case c.f.batched != nil:
		return w.AddClipped(w.sum, model, w.records, c.f.batched)
	case c.f.gradients != nil:
		return w.Each(model, w.records, func(i int, gradient []float32, runs [][2]int) error {
			w.noise.Restart(c.f.clientKey(round, clients[i]).Derive("noise"))
			if err := c.f.gradients.ContributeRuns(w.sum, gradient, runs, &w.noise); err != nil {
				return err
			}
			return after.call(w, round, clients[i])
		})
	}
	for _, n := range clients {
		w.client = n
		if k := c.f.canaries; k != nil && n >= k.first {
			if err := k.contribute(w, client, n, c.f.clientKey(round, n)); err != nil {
				return err
			}
			if err := after.call(w, round, n); err != nil {
				return err
			}
			continue
		}
		if err := client.contribute(w, model, round, c.f.Parts[n], c.f.clientKey(round, n)); err != nil {
			return err
		}
		if err := after.call(w, round, n); err != nil {
			return err
		}
		if k := c.f.canaries; k != nil {
			k.remember(w)
		}
	}
	return nil
}

func (a afterEach) call(w *worker, round, client int) error {
	if a == nil {
		return nil
	}
	return a(w, round, client)
}

// clientKey is what a client's randomness in a round grows from.
func (f *Federation) clientKey(round, client int) noise.Key {
	return f.key.Derive("client", uint64(round), uint64(client))
}

// evaluationBatch is fixed, so that the float sums are the same on any number of cores.
const evaluationBatch = 100

// evaluate measures loss and accuracy on the public test set.
func (c *crew) evaluate(model []float32) (loss, accuracy float64) {
	const batch = evaluationBatch
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

// evaluatePersonal measures every client's own model, and the global one, on the client's own test records.
func (c *crew) evaluatePersonal(p *personal, global []float32) *Personal {
	own, shared := make([]float64, len(p.tests)), make([]float64, len(p.tests))
	var next atomic.Int64
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() {
			var inputs []float32
			var labels []uint8
			for {
				i := int(next.Add(1)) - 1
				if i >= len(p.tests) {
					return
				}
				inputs, labels = inputs[:0], labels[:0]
				for _, record := range p.tests[i] {
					features, label := c.f.Test.Record(record)
					inputs, labels = append(inputs, features...), append(labels, uint8(label))
				}
				_, right := w.Evaluate(p.model(i), inputs, labels)
				own[i] = float64(right) / float64(len(labels))
				_, right = w.Evaluate(global, inputs, labels)
				shared[i] = float64(right) / float64(len(labels))
			}
		})
	}
	group.Wait()
	mean := &Personal{}
	for i := range own { // in order: the same bits on any number of cores
		mean.Own += own[i] / float64(len(own))
		mean.Global += shared[i] / float64(len(own))
	}
	return mean
}
