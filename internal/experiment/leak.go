package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"hubbub/audit"
	sumaudit "hubbub/audit/sums" // sums is a name of this package
	"hubbub/internal/algorithm"
	"hubbub/noise"
	"hubbub/statement"
)

// LeakOptions say how hard to look at what a sum of updates tells of one of them. Zero fields take the stated default: those of paper 001.
type LeakOptions struct {
	Samples    int     // updates from which mean and covariance are estimated; 25,000
	Candidates int     // updates among which the worst pair is searched; 1,000
	Trials     int     // sums that are attacked and counted; 5,000
	Models     int     // initial models; 1
	Delta      float64 // 1e-5
	Confidence float64 // 0.95
}

func (o LeakOptions) filled() (LeakOptions, error) {
	for _, f := range []struct {
		name  string
		value *int
		usual int
		least int
	}{{"samples", &o.Samples, 25_000, 2}, {"candidates", &o.Candidates, 1_000, 2}, {"trials", &o.Trials, 5_000, 20}, {"models", &o.Models, 1, 1}} {
		if *f.value == 0 {
			*f.value = f.usual
		}
		if *f.value < f.least {
			return o, inputError("%s %d: must be at least %d", f.name, *f.value, f.least)
		}
	}
	if o.Delta == 0 {
		o.Delta = 1e-5
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if _, err := audit.Largest(o.Trials, o.Delta, o.Confidence); err != nil {
		return o, inputError("%w", err)
	}
	return o, nil
}

// Leak is what the sum of a cohort's updates tells of one of them, measured for one initial model.
type Leak struct {
	Model       int                  `json:"model"`
	Others      int                  `json:"other_clients"`
	Dim         int                  `json:"dim"`
	Varying     int                  `json:"varying"`  // entries that differ between clients at all
	Distance    float64              `json:"distance"` // of the worst pair, in standard deviations, if the sum were Gaussian
	Bare        int                  `json:"bare"`     // entries in which the pair differs and no sampled update did: seen as they are, and left out
	Errors      audit.Errors         `json:"-"`
	Bound       audit.Bound          `json:"audited"`
	Balanced    LeakRates            `json:"balanced"` // at the threshold half way between the two updates
	Curve       []LeakRates          `json:"curve"`    // at thresholds from far below to far above; its bounds hold together
	Gaussianity sumaudit.Gaussianity `json:"gaussianity"`
}

// LeakRates are upper bounds on both rates of mistakes, at a threshold that was fixed before any trial.
type LeakRates struct {
	FalsePositive float64 `json:"false_positive_rate_at_most"`
	FalseNegative float64 `json:"false_negative_rate_at_most"`
}

// LeakMemory is about how many bytes [Federation.Leak] takes.
func (f *Federation) LeakMemory(o LeakOptions) (int64, error) {
	o, err := o.filled()
	if err != nil {
		return 0, err
	}
	d := int64(f.Net.Size())
	return sumaudit.MomentsMemory(int(d)) + 4*d*int64(leakBatch) + 12*d*int64(o.Candidates) + 4*int64(len(f.Train.Features)), nil
}

// leakBatch is how many updates are sampled before they are added to the moments.
const leakBatch = 512

// LeakProgress says how far an audit is.
type LeakProgress struct {
	Model       int
	Stage       string
	Done, Whole int
}

// Leak audits what secure aggregation hides by itself in the first round (paper 001, section 5): the attacker knows the initial model
// and how records are dealt, samples updates, takes the pair that is easiest to tell apart, and guesses from a sum which of the two is in it.
// The pair and the direction come from updates of their own, the threshold from trials of its own, so that the trials that are counted
// were not looked at before.
func (f *Federation) Leak(ctx context.Context, o LeakOptions, progress func(LeakProgress)) ([]Leak, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if p := f.Facts.Protection; p != statement.Unprotected && p != statement.InTraining {
		return nil, f.Config.refuse("privacy.mechanism.kind", "must be none, or dpsgd: this audit measures what a sum hides by itself, before any noise on updates")
	}
	others := int(f.Config.Cohort.Size) - 1
	if others < 1 {
		return nil, f.Config.refuse("cohort.expected_size", "must be at least 2: a sum of one update hides nothing")
	}
	var leaks []Leak
	for model := range o.Models {
		l := leaker{f: f, o: o, key: f.key.Derive("leak", uint64(model)), others: others, progress: func(stage string, done, whole int) {
			if progress != nil {
				progress(LeakProgress{model, stage, done, whole})
			}
		}}
		leak, err := l.measure(ctx)
		if err != nil {
			return nil, err
		}
		leak.Model = model
		leaks = append(leaks, leak)
	}
	return leaks, nil
}

// leaker measures one initial model.
type leaker struct {
	f        *Federation
	o        LeakOptions
	key      noise.Key
	others   int
	model    []float32
	progress func(stage string, done, whole int)
}

func (l *leaker) measure(ctx context.Context) (Leak, error) {
	d := l.f.Net.Size()
	l.model = l.f.Net.Init(l.key.Derive("init").Stream())
	attacker, err := l.estimate(ctx)
	if err != nil {
		return Leak{}, err
	}
	candidates, err := l.sample(ctx, "candidates", 0, l.o.Candidates)
	if err != nil {
		return Leak{}, err
	}
	i, j, err := attacker.WorstPair(candidates, spread)
	if err != nil {
		return Leak{}, err
	}
	test, err := attacker.Test(candidates[i*d:(i+1)*d], candidates[j*d:(j+1)*d])
	if err != nil {
		return Leak{}, err
	}
	leak := Leak{Others: l.others, Dim: d, Varying: attacker.Varying(), Distance: test.Distance(), Bare: test.Bare()}
	holdout, _, err := l.attack(ctx, test, "threshold", max(20, l.o.Trials/5))
	if err != nil {
		return Leak{}, err
	}
	counted, singles, err := l.attack(ctx, test, "trials", l.o.Trials)
	if err != nil {
		return Leak{}, err
	}
	if err := leak.count(holdout, counted, l.o); err != nil {
		return Leak{}, err
	}
	centred := make([]float64, len(counted.Without))
	for k, x := range counted.Without {
		centred[k] = x + test.Distance()/2
	}
	leak.Gaussianity, err = sumaudit.Diagnose(centred, singles, l.others)
	return leak, err
}

// count turns the statistics of trials into bounds. The threshold comes from the hold-out, the curve's from the distance.
func (k *Leak) count(holdout, counted audit.Scores, o LeakOptions) error {
	chosen, err := holdout.Choose(audit.Directly(o.Trials, o.Delta, o.Confidence))
	if err != nil {
		return err
	}
	if k.Errors, err = counted.Count(centre(holdout, chosen)); err != nil {
		return err
	}
	if k.Bound, err = k.Errors.Bound(o.Delta, o.Confidence); err != nil {
		return err
	}
	middle, err := counted.Count(0)
	if err != nil {
		return err
	}
	balanced, err := middle.Bound(o.Delta, o.Confidence)
	if err != nil {
		return err
	}
	k.Balanced = LeakRates{balanced.FalsePositiveRate, balanced.FalseNegativeRate}
	var thresholds []audit.Threshold
	for i := range 41 {
		thresholds = append(thresholds, audit.Threshold((k.Distance/2+2)*(float64(i)/20-1)))
	}
	points, err := counted.Curve(thresholds, nothingClaimed{}, o.Confidence)
	for _, p := range points {
		k.Curve = append(k.Curve, LeakRates{p.FalsePositiveAtMost, p.FalseNegativeAtMost})
	}
	return err
}

// nothingClaimed is the trade-off function that every mechanism fulfils.
type nothingClaimed struct{}

func (nothingClaimed) Beta(float64) float64 { return 0 }

// centre moves a threshold to the middle between the scores beside it, where chance is farthest: the hold-out cannot tell the difference.
func centre(s audit.Scores, t audit.Threshold) audit.Threshold {
	below, above := math.Inf(-1), math.Inf(1)
	for _, scores := range [][]float64{s.Without, s.With} {
		for _, x := range scores {
			if x <= float64(t) {
				below = max(below, x)
			} else {
				above = min(above, x)
			}
		}
	}
	if math.IsInf(below, 0) || math.IsInf(above, 0) {
		return t
	}
	return audit.Threshold(below + (above-below)/2)
}

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
	return sumaudit.NewAttacker(moments, l.others, spread)
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
		return l.f.algorithm.Update(w.Worker, updates[i*d:(i+1)*d], l.model, dealt[federation-first].Parts[client], random)
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

// attack makes trials: federations dealt anew, of which the others are drawn, and the scores of their updates added up. It also returns the
// scores of single updates.
func (l *leaker) attack(ctx context.Context, test *sumaudit.Test, purpose string, trials int) (audit.Scores, []float64, error) {
	scores := make([]float64, trials*l.others)
	const group = 64 // trials whose federations are held at once
	for from := 0; from < trials; from += group {
		l.progress(purpose, from, trials)
		to := min(from+group, trials)
		dealt, chosen := make([]*Federation, to-from), make([][]int, to-from)
		for i := range dealt {
			var err error
			if dealt[i], err = l.deal(purpose, from+i); err != nil {
				return audit.Scores{}, nil, err
			}
			order := make([]int, len(l.f.Parts))
			for c := range order {
				order[c] = c
			}
			l.key.Derive(purpose+" cohort", uint64(from+i)).Stream().Shuffle(order)
			chosen[i] = order[:l.others]
		}
		err := l.crew(ctx, (to-from)*l.others, func(w *worker, i int) error {
			trial, client := i/l.others, chosen[i/l.others][i%l.others]
			random := l.key.Derive(purpose+" client", uint64(from+trial), uint64(client)).Stream()
			if err := l.f.algorithm.Update(w.Worker, w.update, l.model, dealt[trial].Parts[client], random); err != nil {
				return err
			}
			scores[(from+trial)*l.others+i%l.others] = test.Score(w.update)
			return nil
		})
		if err != nil {
			return audit.Scores{}, nil, err
		}
	}
	var outcomes audit.Scores
	for of := range slices.Chunk(scores, l.others) {
		total := 0.0
		for _, s := range of {
			total += s
		}
		first, second := test.Statistics(total)
		outcomes.Without, outcomes.With = append(outcomes.Without, first), append(outcomes.With, second)
	}
	return outcomes, scores, nil
}

// crew runs tasks on all cores, each with scratch memory of its own. Results go to places of their own, so their order does not matter.
func (l *leaker) crew(ctx context.Context, tasks int, do func(w *worker, task int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, crewSize())
	for i := range errs {
		group.Go(func() {
			w := &worker{Worker: algorithm.NewWorker(l.f.Net, l.f.Train), update: make([]float32, l.f.Net.Size())}
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
