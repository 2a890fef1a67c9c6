package experiment

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"hubbub/internal/data"
)

var leaky = []string{
	"privacy={mechanism: {kind: none}}", "model.hidden=[]", "data.partition={kind: iid, clients: 20}", "cohort={sampling: fixed, expected_size: 12}",
	"algorithm={kind: fedavg, local: {kind: sgd, lr: 0.1, batch: 10, epochs: 1}, server: {kind: sgd, lr: 1}}",
}

// 39 weights and 11 others: the worst pair is told apart more often than not, and what is audited does not depend on the cores.
func TestASumOfUpdatesLeaks(t *testing.T) {
	f := prepared(t, leaky...)
	o := LeakOptions{Samples: 600, Candidates: 200, Trials: 200}
	var stages []string
	leaks, err := f.Leak(context.Background(), o, func(p LeakProgress) {
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	l := leaks[0]
	t.Logf("%+v", l)
	if len(leaks) != 1 || l.Dim != 39 || l.Others != 11 || l.Varying != 39 || len(l.Curve) != 41 {
		t.Errorf("%d leaks, %d weights, %d others, %d vary, %d points", len(leaks), l.Dim, l.Others, l.Varying, len(l.Curve))
	}
	for i, p := range l.ByDelta {
		if i > 0 && (p.Delta <= l.ByDelta[i-1].Delta || p.Epsilon > l.Bound.Largest+1e-4) {
			t.Errorf("audited curve %+v", l.ByDelta)
		}
		if p.Delta == 1e-5 && p.Epsilon != l.Bound.Epsilon {
			t.Errorf("epsilon %g on the curve, %g beside it", p.Epsilon, l.Bound.Epsilon)
		}
	}
	if strings.Join(stages, " ") != "sampling covariance threshold trials" {
		t.Errorf("stages %v", stages)
	}
	// Their distance of about 4 standard deviations makes both rates a few percent: the bound must be well above 0 and cannot exceed the largest.
	if l.Distance < 2 || l.Bound.Epsilon < 1 || l.Bound.Epsilon > l.Bound.Largest {
		t.Errorf("distance %g, bound %+v", l.Distance, l.Bound)
	}
	if l.Errors.Negatives != 200 || l.Balanced.FalsePositive >= .5 || l.Balanced.FalseNegative >= .5 {
		t.Errorf("errors %+v, half way %+v", l.Errors, l.Balanced)
	}
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	again, err := f.Leak(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again[0].Errors != l.Errors || again[0].Distance != l.Distance {
		t.Errorf("on one core %+v at distance %g, on %d %+v at distance %g", again[0].Errors, again[0].Distance, old, l.Errors, l.Distance)
	}
	if memory, err := f.LeakMemory(o); err != nil || memory < 39*39*8 || memory > 1<<20 {
		t.Errorf("memory %d (%v)", memory, err)
	}
}

// Several cohorts are attacked at once, and the file's own gives what it gives by itself.
func TestSumsOfSeveralCohortsAreAttackedAtOnce(t *testing.T) {
	f := prepared(t, leaky...)
	o := LeakOptions{Samples: 300, Candidates: 100, Trials: 100}
	alone, err := f.Leak(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Cohorts = []int{4, 12}
	both, err := f.Leak(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(both) != 2 || both[0].Others != 3 || both[1].Others != 11 {
		t.Fatalf("%d leaks: %+v", len(both), both)
	}
	if both[1].Errors != alone[0].Errors || both[1].Distance != alone[0].Distance {
		t.Errorf("12 clients beside 4: %+v at %g, by themselves %+v at %g", both[1].Errors, both[1].Distance, alone[0].Errors, alone[0].Distance)
	}
	// Three others hide less than eleven: the distance grows by the root of 11/3.
	if ratio := both[0].Distance / both[1].Distance; math.Abs(ratio-math.Sqrt(11./3)) > 1e-9 {
		t.Errorf("distances %g and %g", both[0].Distance, both[1].Distance)
	}
}

// The clip of 0.05 is below the norm of most updates, so that the worst of them moves the sum by all that is allowed.
var noisy = append(leaky[1:len(leaky):len(leaky)], "rounds=1", "cohort.expected_size=20", "privacy={mechanism: {kind: gaussian, place: central, clip: 0.05}, target: {epsilon: 8, delta: 1e-5, against: public}}")

// Epsilon 8 is about 1.65 standard deviations of noise. The attack comes near that and not over it. What it shows cannot come near the claim
// in 1,000 trials, so that there is no false alarm.
func TestNoiseOnTheSumHidesTheUpdate(t *testing.T) {
	for _, kind := range []struct {
		name      string
		overrides []string
	}{
		{"noise of the server", noisy},
		{"integer noise in shares", append(leaky[1:len(leaky):len(leaky)], "rounds=1", "secagg={kind: ideal, noise: exact}",
			"privacy={mechanism: {kind: skellam, clip: 0.05, granularity: 0.0025}, target: {epsilon: 8, delta: 1e-5, against: server}}")},
	} {
		t.Run(kind.name, func(t *testing.T) {
			f := prepared(t, kind.overrides...)
			o := LeakOptions{Samples: 3000, Candidates: 100, Trials: 1000, Absent: true}
			leaks, err := f.Leak(context.Background(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			l := leaks[0]
			t.Logf("distance %.3f, audited %.3f, if Gaussian %.3f, mean %.3f, deviation %.3f", l.Distance, l.Bound.Epsilon, l.Gaussian.Epsilon, l.Gaussianity.Mean, l.Gaussianity.Deviate)
			if l.Claimed == nil || math.Abs(*l.Claimed-8) > 0.01 {
				t.Fatalf("claimed %v, want 8", l.Claimed)
			}
			if l.Distance < 1 || l.Distance > 1.75 {
				t.Errorf("%g standard deviations apart, want 1 to 1.75", l.Distance)
			}
			if l.Bound.Epsilon > 8 || l.Bound.Epsilon < 0.5 {
				t.Errorf("audited %g of 8", l.Bound.Epsilon)
			}
			// The attacker's idea of the sum is right: its mean and its deviation, to some standard errors of 1,000 trials.
			if math.Abs(l.Gaussianity.Mean) > 0.2 || math.Abs(l.Gaussianity.Deviate-1) > 0.15 {
				t.Errorf("scores %+v", l.Gaussianity)
			}
			o.Absent = false
			pair, err := f.Leak(context.Background(), o, nil)
			if err != nil || pair[0].Distance > l.Distance*2 {
				t.Errorf("the pair is %g apart (%v), the update and nothing %g", pair[0].Distance, err, l.Distance)
			}
		})
	}
}

// An audit is made once, and again for other options.
func TestAuditsOfSumsAreKept(t *testing.T) {
	f := prepared(t, leaky...)
	store := Store{Root: t.TempDir(), sets: map[string][2]*data.Set{fmt.Sprintf("%+v", f.Config.Data): {f.Train, f.Test}}}
	made := 0
	leak := func(o LeakOptions) Leak {
		t.Helper()
		leaks, took, err := store.Leak(context.Background(), f.Config, o, func(p LeakProgress) {
			if p.Stage == "covariance" {
				made++
			}
		})
		if err != nil || !(took > 0) {
			t.Fatalf("%v, %v", took, err)
		}
		return leaks[0]
	}
	o := LeakOptions{Samples: 100, Candidates: 30, Trials: 40}
	first, again := leak(o), leak(o)
	if made != 1 || !reflect.DeepEqual(first, again) {
		t.Errorf("made %d times; first %+v, then %+v", made, first, again)
	}
	o.Absent = true
	if leak(o); made != 2 {
		t.Errorf("made %d times for two attacks", made)
	}
}

func TestLeakAuditsThatCannotBeAreRefused(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		overrides []string
		options   LeakOptions
		message   string
	}{
		{"noise of each client", []string{"privacy={mechanism: {kind: gaussian, place: local, clip: 1, noise_multiplier: 1}, delta: 1e-5}"}, LeakOptions{}, "must be none or dpsgd, or put its noise on the sum"},
		{"other cohorts than the noise is for", noisy, LeakOptions{Cohorts: []int{5}}, "the noise of the file is for its own cohort"},
		{"a cohort of more than all", leaky, LeakOptions{Cohorts: []int{12, 21}}, "a cohort of 21: must be between 2 and 20"},
		{"a sum of one", append(leaky[:len(leaky):len(leaky)], "cohort.expected_size=1"), LeakOptions{}, "a sum of one update hides nothing"},
		{"one sample", leaky, LeakOptions{Samples: 1}, "samples 1: must be at least 2"},
		{"one candidate", leaky, LeakOptions{Candidates: 1}, "candidates 1: must be at least 2"},
		{"few trials", leaky, LeakOptions{Trials: 3}, "trials 3: must be at least 20"},
		{"a negative number of models", leaky, LeakOptions{Models: -1}, "models -1: must be at least 1"},
		{"a ridge below nothing", leaky, LeakOptions{Ridge: -1}, "ridge -1 outside 0 to 1"},
		{"a delta of one", leaky, LeakOptions{Delta: 1}, "delta 1 outside [0, 1)"},
		{"a confidence of one", leaky, LeakOptions{Confidence: 1}, "confidence 1 outside (0, 1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := prepared(t, c.overrides...).Leak(ctx, c.options, nil)
			if err == nil || !strings.Contains(err.Error(), c.message) || !IsInput(err) {
				t.Errorf("error %v, want %q and exit code 2", err, c.message)
			}
		})
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := prepared(t, leaky...).Leak(stopped, LeakOptions{Samples: 600, Trials: 20}, nil); err != context.Canceled {
		t.Errorf("an audit that was stopped: %v", err)
	}
}
