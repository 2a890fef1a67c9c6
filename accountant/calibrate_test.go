package accountant

import (
	"math"
	"strings"
	"testing"
)

func TestAnyOneParameterCanBeSolvedFor(t *testing.T) {
	for _, c := range []struct {
		text string
		less float64 // moving the answer by this factor must miss the target
	}{
		{`gaussian: {noise_multiplier: "?"}`, 1 - 1e-5},
		{`repeat: {count: 250, event: {poisson: {rate: 0.004, event: {gaussian: {noise_multiplier: "?"}}}}}`, 1 - 1e-5},
		{`repeat: {count: 250, event: {poisson: {rate: "?", event: {gaussian: {noise_multiplier: 1}}}}}`, 1 + 1e-5},
		{`laplace: {scale: "?"}`, 1 - 1e-5},
		{`skellam: {rate: "?", l2: 5}`, 1 - 1e-5},
		{`rounded_skellam: {rate: "?", l2: 3}`, 1 - 1e-3}, // the certificate's tolerance
		{`skellam: {rate: 100, l2: "?", bound: akl}`, 1 + 1e-5},
		{`gdp: {mu: "?"}`, 1 + 1e-5},
		{`discrete_gaussian: {sigma2: "?", l2: 3}`, 1 - 1e-5},
		{`waterfill: {clients: 50, records: 1200, batch: 32, clip: 10, variance: "?"}`, 1 - 1e-5},
		{`compose: [{gdp: {mu: 0.2}}, {gaussian: {noise_multiplier: "?"}}]`, 1 - 1e-5},
	} {
		u, err := ParseUnknown([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		target := Target{Epsilon: 2, Delta: 1e-5}
		x, bound, err := u.Solve(target)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if bound.Epsilon > 2 {
			t.Errorf("%s: %g has epsilon %g", c.text, x, bound.Epsilon)
		}
		worse, err := u.With(x * c.less)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if b, err := Epsilon(worse, 1e-5, Best); err != nil || b.Epsilon <= 2 {
			t.Errorf("%s: %g is not the limit: at %g epsilon is %g, %v", c.text, x, x*c.less, b.Epsilon, err)
		}
	}
}

func TestCountsAreSolvedInWholeNumbers(t *testing.T) {
	u, err := ParseUnknown([]byte(`repeat: {count: "?", event: {poisson: {rate: 0.004, event: {gaussian: {noise_multiplier: 1.1}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	x, bound, err := u.Solve(Target{Epsilon: 3, Delta: 1e-5})
	if err != nil || x != math.Trunc(x) || bound.Epsilon > 3 {
		t.Fatalf("count %g with epsilon %g, %v", x, bound.Epsilon, err)
	}
	next, err := u.With(x + 1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Epsilon(next, 1e-5, Best); err != nil || b.Epsilon <= 3 {
		t.Errorf("%g more rounds still cost %g, %v", x+1, b.Epsilon, err)
	}
}

func TestCalibrationToMu(t *testing.T) {
	u, err := ParseUnknown([]byte(`repeat: {count: 100, event: {gaussian: {noise_multiplier: "?"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	x, bound, err := u.Solve(Target{Mu: 0.5})
	if err != nil || math.Abs(x/20-1) > 1e-6 || bound.Mu > 0.5 {
		t.Errorf("noise %g with mu %g, %v; want 20", x, bound.Mu, err)
	}
	sampled, err := ParseUnknown([]byte(`without_replacement: {rate: 0.1, event: {gaussian: {noise_multiplier: "?"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, bound, err = sampled.Solve(Target{Mu: 0.1})
	if err != nil || bound.Mu != 0 || bound.MuLimit > 0.1 || len(bound.Notes) == 0 {
		t.Errorf("a limit must be called one: %+v, %v", bound, err)
	}
}

func TestImpossibleTargetsAreRefused(t *testing.T) {
	gaussian := func(x float64) (About, error) { return About{Event: Gaussian{x}}, nil }
	for name, c := range map[string]struct {
		target Target
		lo, hi float64
		words  string
	}{
		"negative epsilon":       {Target{Epsilon: -1, Delta: 1e-5}, 1, 10, "epsilon -1"},
		"NaN epsilon":            {Target{Epsilon: math.NaN(), Delta: 1e-5}, 1, 10, "epsilon NaN"},
		"delta of 1":             {Target{Epsilon: 1, Delta: 1}, 1, 10, "delta 1"},
		"mu and epsilon":         {Target{Epsilon: 1, Delta: 1e-5, Mu: 1}, 1, 10, "one or the other"},
		"empty range":            {Target{Epsilon: 1, Delta: 1e-5}, 10, 1, "range"},
		"range that starts at 0": {Target{Epsilon: 1, Delta: 1e-5}, 0, 1, "range"},
		"out of reach":           {Target{Epsilon: 1, Delta: 1e-5}, .1, .2, "no value"},
	} {
		if x, _, err := Calibrate(c.target, gaussian, c.lo, c.hi); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %g, %v", name, x, err)
		}
	}
	if _, _, err := Calibrate(Target{Epsilon: 1, Delta: 1e-5}, func(float64) (About, error) { return About{Event: None{}}, nil }, 1, 10); err == nil {
		t.Error("calibrated what protects nothing")
	}
	if _, _, err := Calibrate(Target{Mu: 1}, func(x float64) (About, error) { return About{Event: Laplace{Scale: x}}, nil }, 1, 10); err == nil {
		t.Error("gave a mu to Laplace noise")
	}
}
