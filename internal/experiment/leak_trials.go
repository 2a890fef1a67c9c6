package experiment

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"hubbub/audit"
	sumaudit "hubbub/audit/sums"
	"hubbub/internal/kernel"
	"hubbub/mechanism"
)

// estimate samples updates in batches and hands over what the attacker learns of them.
func (l *leaker) estimate(ctx context.Context) (*sumaudit.Attacker, error) {
	moments, err := sumaudit.NewMoments(l.f.Net.Size())
	if err != nil {
		return nil, inputError("%w", err)
	}
	for from := 0; from < l.o.Samples; from += leakBatch {
		l.progress("sampling", from, l.o.Samples)
		batch, err := l.sample(ctx, "samples", from, min(leakBatch, l.o.Samples-from))
		if err != nil {
			return nil, err
		}
		if err := moments.Add(batch, spread); err != nil {
			return nil, err
		}
	}
	l.progress("covariance", 0, 1)
	view := sumaudit.View{Clients: l.others, Ridge: l.o.Ridge}
	if l.noised != nil {
		if view.Noise, err = l.noiseVariance(); err != nil {
			return nil, err
		}
	}
	return sumaudit.NewAttacker(moments, view, spread)
}

// sample computes updates number from to from+count of a purpose: clients of federations that are dealt anew, one after the other.
func (l *leaker) sample(ctx context.Context, purpose string, from, count int) ([]float32, error) {
	d, clients := l.f.Net.Size(), len(l.f.Parts)
	updates := make([]float32, count*d)
	first := from / clients
	last := (from + count - 1) / clients
	dealt := make([]*Federation, last-first+1)
	for i := range dealt {
		var err error
		if dealt[i], err = l.deal(purpose, first+i); err != nil {
			return nil, err
		}
	}
	return updates, l.crew(ctx, count, func(w *worker, i int) error {
		federation, client := (from+i)/clients, (from+i)%clients
		random := l.key.Derive(purpose+" client", uint64(federation), uint64(client)).Stream()
		update := updates[i*d : (i+1)*d]
		if err := l.f.algorithm.Update(w.Worker, update, l.model, 1, dealt[federation-first].Parts[client], random); err != nil {
			return err
		}
		if l.noised != nil { // as the sum has it
			kernel.Scale(update, float32(mechanism.ClipFactor(energy(update), l.f.Facts.Clip)))
		}
		return nil
	})
}

// deal gives the records to clients anew.
func (l *leaker) deal(purpose string, number int) (*Federation, error) {
	g := *l.f
	g.key = l.key.Derive(purpose, uint64(number))
	var err error
	if g.Parts, err = g.deal(); err != nil {
		return nil, fmt.Errorf("deal the data anew: %w", err)
	}
	return &g, nil
}

// attacked is what an attack saw of the sums of one cohort size.
type attacked struct {
	outcomes audit.Scores
	singles  []float64 // scores of single updates
}

// attack makes trials: federations dealt anew, of which the others are drawn, and the scores of their updates added up, for each size of
// cohort over the first of them. The same sums serve for both updates of the pair: either rate of mistakes is bounded by itself, so they need not be
// independent of each other. Nor need those of different cohorts, which are bounded by themselves too.
func (l *leaker) attack(ctx context.Context, test *sumaudit.Test, purpose string, trials int) ([]attacked, error) {
	scores := make([]float64, trials*l.others)
	noised := audit.Scores{Without: make([]float64, trials), With: make([]float64, trials)}
	const group = 64 // trials whose federations are held at once
	for from := 0; from < trials; from += group {
		l.progress(purpose, from, trials)
		to := min(from+group, trials)
		dealt, chosen := make([]*Federation, to-from), make([][]int, to-from)
		for i := range dealt {
			var err error
			if dealt[i], err = l.deal(purpose, from+i); err != nil {
				return nil, err
			}
			order := make([]int, len(l.f.Parts))
			for c := range order {
				order[c] = c
			}
			l.key.Derive(purpose+" cohort", uint64(from+i)).Stream().Shuffle(order)
			chosen[i] = order[:l.others]
		}
		update := func(w *worker, trial, n int) error {
			client := chosen[trial][n]
			random := l.key.Derive(purpose+" client", uint64(from+trial), uint64(client)).Stream()
			if err := l.f.algorithm.Update(w.Worker, w.update, l.model, 1, dealt[trial].Parts[client], random); err != nil {
				return err
			}
			scores[(from+trial)*l.others+n] = test.Score(w.update)
			return nil
		}
		var err error
		if l.noised == nil {
			err = l.crew(ctx, (to-from)*l.others, func(w *worker, i int) error { return update(w, i/l.others, i%l.others) })
		} else {
			err = l.crew(ctx, to-from, func(w *worker, trial int) error {
				first, second, err := l.noisedTrial(w, test, l.key.Derive(purpose+" noise", uint64(from+trial)), func(n int) error { return update(w, trial, n) })
				noised.Without[from+trial], noised.With[from+trial] = first, second
				return err
			})
		}
		if err != nil {
			return nil, err
		}
	}
	if l.noised != nil {
		return []attacked{{noised, scores}}, nil
	}
	var all []attacked
	for _, cohort := range l.cohorts {
		among, factor, err := test.Among(cohort - 1)
		if err != nil {
			return nil, err
		}
		a := attacked{singles: scores}
		for of := range slices.Chunk(scores, l.others) {
			total := 0.0
			for _, s := range of[:cohort-1] {
				total += s * factor
			}
			first, second := among.Statistics(total)
			a.outcomes.Without, a.outcomes.With = append(a.outcomes.Without, first), append(a.outcomes.With, second)
		}
		all = append(all, a)
	}
	return all, nil
}

// crew runs tasks on all cores, each with scratch memory of its own. Results go to places of their own, so their order does not matter.
func (l *leaker) crew(ctx context.Context, tasks int, do func(w *worker, task int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, crewSize())
	for i := range errs {
		group.Go(func() {
			w := l.f.table().worker
			for ctx.Err() == nil {
				task := int(next.Add(1)) - 1
				if task >= tasks {
					return
				}
				if errs[i] = do(w, task); errs[i] != nil {
					next.Store(int64(tasks)) // the others need not go on
					return
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// spread runs the parts of a computation on all cores.
func spread(n int, do func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, crewSize()) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}
