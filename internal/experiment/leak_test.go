package experiment

import (
	"context"
	"runtime"
	"strings"
	"testing"
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

func TestLeakAuditsThatCannotBeAreRefused(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		overrides []string
		options   LeakOptions
		message   string
	}{
		{"noise on updates", nil, LeakOptions{}, "must be none, or dpsgd"},
		{"a sum of one", append(leaky[:len(leaky):len(leaky)], "cohort.expected_size=1"), LeakOptions{}, "a sum of one update hides nothing"},
		{"one sample", leaky, LeakOptions{Samples: 1}, "samples 1: must be at least 2"},
		{"one candidate", leaky, LeakOptions{Candidates: 1}, "candidates 1: must be at least 2"},
		{"few trials", leaky, LeakOptions{Trials: 3}, "trials 3: must be at least 20"},
		{"a negative number of models", leaky, LeakOptions{Models: -1}, "models -1: must be at least 1"},
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
