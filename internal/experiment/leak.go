package experiment

import (
	"context"
	"slices"

	"hubbub/audit"
	sumaudit "hubbub/audit/sums" // sums is a name of this package
	"hubbub/noise"
)

// LeakOptions say how hard to look at what a sum of updates tells of one of them. Zero fields take the stated default: those of paper 001.
type LeakOptions struct {
	Samples    int     // updates from which mean and covariance are estimated; 25,000
	Candidates int     // updates among which the worst pair is searched; 1,000
	Trials     int     // sums that are attacked and counted; 5,000
	Models     int     // initial models; 1
	Delta      float64 // 1e-5
	Confidence float64 // 0.95
	Cohorts    []int   // sizes of cohorts, each with sums of its own from the same clients; that of the file. Without noise only.
	Ridge      float64 // see [sumaudit.View]
	Absent     bool    // tell the worst update from none at all: the neighbours of a guarantee for clients
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
	if !(o.Ridge >= 0 && o.Ridge <= 1) {
		return o, inputError("ridge %g outside 0 to 1", o.Ridge)
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
	Varying     int                  `json:"varying"`           // entries that differ between clients at all
	Distance    float64              `json:"distance"`          // of the worst pair, in standard deviations, if the sum were Gaussian
	Bare        int                  `json:"bare"`              // entries in which the pair differs and no sampled update did: seen as they are, and left out
	Claimed     *float64             `json:"claimed,omitempty"` // epsilon of the statement, where there is noise
	Errors      audit.Errors         `json:"mistakes"`
	Bound       audit.Bound          `json:"audited"`
	Gaussian    audit.GaussianBound  `json:"audited_if_gaussian"` // at the threshold half way between the two updates
	ByDelta     []LeakPoint          `json:"by_delta"`            // the audited curve; each point has the confidence by itself
	Balanced    LeakRates            `json:"balanced"`            // at the threshold half way between the two updates
	Curve       []LeakRates          `json:"curve"`               // at thresholds from far below to far above; its bounds hold together
	Gaussianity sumaudit.Gaussianity `json:"gaussianity"`
}

// LeakPoint is a point of the audited curve: no smaller epsilon holds at delta.
type LeakPoint struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
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
// were not looked at before. Where the file has noise on updates or sums, the attacker knows how much, and sums are made by the real
// mechanism.
func (f *Federation) Leak(ctx context.Context, o LeakOptions, progress func(LeakProgress)) ([]Leak, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	noised, err := f.noisedSums()
	if err != nil {
		return nil, err
	}
	cohorts, err := f.leakCohorts(o, noised != nil)
	if err != nil {
		return nil, err
	}
	var leaks []Leak
	for model := range o.Models {
		l := leaker{f: f, o: o, key: f.key.Derive("leak", uint64(model)), cohorts: cohorts, others: slices.Max(cohorts) - 1, noised: noised, progress: func(stage string, done, whole int) {
			if progress != nil {
				progress(LeakProgress{model, stage, done, whole})
			}
		}}
		found, err := l.measure(ctx)
		if err != nil {
			return nil, err
		}
		for _, leak := range found {
			leak.Model = model
			leaks = append(leaks, leak)
		}
	}
	return leaks, nil
}

// leakCohorts are the sizes of cohorts to look at.
func (f *Federation) leakCohorts(o LeakOptions, noised bool) ([]int, error) {
	cohorts := o.Cohorts
	if len(cohorts) == 0 {
		cohorts = []int{int(f.Config.Cohort.Size)}
		if cohorts[0] < 2 {
			return nil, f.Config.refuse("cohort.expected_size", "must be at least 2: a sum of one update hides nothing")
		}
	} else if noised {
		return nil, inputError("%d cohorts of other sizes: the noise of the file is for its own cohort", len(cohorts))
	}
	for _, size := range cohorts {
		if size < 2 || size > len(f.Parts) {
			return nil, inputError("a cohort of %d: must be between 2 and %d, all clients", size, len(f.Parts))
		}
	}
	return cohorts, nil
}

// leaker measures one initial model.
type leaker struct {
	f        *Federation
	o        LeakOptions
	key      noise.Key
	cohorts  []int
	others   int   // clients besides the target in the largest cohort
	noised   *sums // how sums are made where there is noise on them; nil: there is none
	model    []float32
	progress func(stage string, done, whole int)
}

func (l *leaker) measure(ctx context.Context) ([]Leak, error) {
	l.model = l.f.Net.Init(l.key.Derive("init").Stream())
	attacker, err := l.estimate(ctx)
	if err != nil {
		return nil, err
	}
	first, second, err := l.pair(ctx, attacker)
	if err != nil {
		return nil, err
	}
	test, err := attacker.Test(first, second)
	if err != nil {
		return nil, err
	}
	if l.noised != nil {
		l.noised.otherwise, l.noised.update = first, second
	}
	holdout, err := l.attack(ctx, test, "threshold", max(20, l.o.Trials/5))
	if err != nil {
		return nil, err
	}
	counted, err := l.attack(ctx, test, "trials", l.o.Trials)
	if err != nil {
		return nil, err
	}
	var leaks []Leak
	for k, cohort := range l.cohorts {
		among, _, err := test.Among(cohort - 1)
		if err != nil {
			return nil, err
		}
		leak := Leak{Others: cohort - 1, Dim: l.f.Net.Size(), Varying: attacker.Varying(), Distance: among.Distance(), Bare: test.Bare()}
		if err := leak.count(holdout[k].outcomes, counted[k].outcomes, l.o); err != nil {
			return nil, err
		}
		centred := make([]float64, l.o.Trials)
		for i, x := range counted[k].outcomes.Without {
			centred[i] = x + among.Distance()/2
		}
		if leak.Gaussianity, err = sumaudit.Diagnose(centred, counted[k].singles, leak.Others); err != nil {
			return nil, err
		}
		if l.noised != nil {
			if leak.Claimed, err = l.claimed(); err != nil {
				return nil, err
			}
		}
		leaks = append(leaks, leak)
	}
	return leaks, nil
}

// pair searches the two updates that are easiest to tell apart, or the one that is easiest to tell from none.
func (l *leaker) pair(ctx context.Context, attacker *sumaudit.Attacker) (first, second []float32, err error) {
	d := l.f.Net.Size()
	candidates, err := l.sample(ctx, "candidates", 0, l.o.Candidates)
	if err != nil {
		return nil, nil, err
	}
	at := func(i int) []float32 { return candidates[i*d : (i+1)*d] }
	if l.o.Absent {
		nothing := make([]float32, d)
		i, err := attacker.Farthest(candidates, nothing, spread)
		return nothing, at(i), err
	}
	i, j, err := attacker.WorstPair(candidates, spread)
	return at(i), at(j), err
}
