//go:build slow

package experiment

import (
	"context"
	"testing"

	"hubbub/internal/fetch"
)

// leakOf audits an example file on its real data.
func leakOf(t *testing.T, file string, o LeakOptions) Leak {
	t.Helper()
	c, err := Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := fetch.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Get(context.Background(), c.Data.Name, dir, nil); err != nil {
		t.Skipf("the data set %s is not here and cannot be fetched: %v", c.Data.Name, err)
	}
	train, test, err := LoadData(c)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Prepare(c, train, test)
	if err != nil {
		t.Fatal(err)
	}
	leaks, err := f.Leak(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return leaks[0]
}

// Paper 001, section 5, on Adult: "both the FNR and FPR can be as small as 0.005 simultaneously".
func TestBothRatesAreSmallOnAdult(t *testing.T) {
	l := leakOf(t, "../../experiments/001/adult.yaml", LeakOptions{Candidates: 5000})
	t.Logf("distance %.3f, audited %+v", l.Distance, l.Bound)
	if l.Dim != 210 {
		t.Errorf("%d weights, the paper has 210", l.Dim)
	}
	if l.Bound.FalsePositiveRate > .005 || l.Bound.FalseNegativeRate > .005 {
		t.Errorf("rates at most %g and %g, want 0.005", l.Bound.FalsePositiveRate, l.Bound.FalseNegativeRate)
	}
}

// Paper 001, section 5, on pictures of digits: the audited epsilon is close to the largest that so many trials can show.
func TestTheLargestEpsilonIsAuditedOnMNIST(t *testing.T) {
	l := leakOf(t, "../../experiments/001/mnist.yaml", LeakOptions{Samples: 12_000, Candidates: 500, Trials: 500})
	t.Logf("distance %.3f, audited %+v", l.Distance, l.Bound)
	if l.Dim != 7850 {
		t.Errorf("%d weights, the paper has 7,850", l.Dim)
	}
	if l.Bound.Epsilon < .95*l.Bound.Largest {
		t.Errorf("audited %g, want at least 95%% of %g", l.Bound.Epsilon, l.Bound.Largest)
	}
}
