package experiment

import (
	"context"
	"math"
	"testing"
)

// With 6 bits, Skellam noise of rate 1,000 leaves the range in a coordinate with probability 0.475; clipped updates that are scaled to a
// few steps add little. 12 rounds of 128 coordinates: the count has a standard deviation of 20 at the most, and 5 of them allow 1 false
// alarm in a million.
func TestOverflowsAreCountedWhereTheyAreAllowed(t *testing.T) {
	noisy := func(kind, overflow, secagg string) []string {
		return []string{"privacy={delta: 1e-5, mechanism: {kind: " + kind + ", clip: 1, granularity: 5, bits: 6, rotate: true, rate: 1000" + overflow + "}}", "secagg=" + secagg}
	}
	for _, c := range []struct {
		name      string
		overrides []string
		counted   bool
	}{
		{"allowed", noisy("skellam", ", overflow: allow", "{kind: ideal}"), true},
		{"allowed to mixtures", noisy("smm", ", overflow: allow", "{kind: ideal}"), true},
		{"unmasking gives remainders only", append(noisy("skellam", ", overflow: allow", "{kind: masked}"),
			"data.partition={kind: iid, clients: 20}", "cohort={sampling: fixed, expected_size: 12}", "rounds=3"), false},
		{"refused", []string{"privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 5, rotate: true, rate: 1000}}", "secagg={kind: ideal}"}, false},
		{"no integers", nil, false},
	} {
		f := prepared(t, c.overrides...)
		d := newFolder(t)
		result, err := f.Start(context.Background(), d, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := d.readMetrics(result.Rounds)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, l := range lines {
			if (l.Overflows != nil) != c.counted {
				t.Fatalf("%s: round %d counted %v", c.name, l.Round, l.Overflows)
			}
			if l.Overflows != nil {
				count += *l.Overflows
			}
		}
		if !c.counted {
			if result.Overflows != nil {
				t.Errorf("%s: %+v", c.name, result.Overflows)
			}
			continue
		}
		o := result.Overflows
		if o == nil || o.Count != count || o.Coordinates != 12*f.width() {
			t.Fatalf("%s: %+v, the rounds have %d in sums of %d", c.name, o, count, f.width())
		}
		if math.Abs(o.NoiseAlone-0.475) > 0.005 || math.Abs(float64(o.Count)-o.NoiseAlone*float64(o.Coordinates)) > 5*20 {
			t.Errorf("%s: %+v, a rate of %.3f", c.name, o, o.Rate())
		}
	}
}
