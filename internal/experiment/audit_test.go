package experiment

import (
	"context"
	"math"
	"runtime"
	"strings"
	"testing"

	"hubbub/noise"
)

// Claims that hold are not contradicted: at 95% for all attacks of an audit together, and far less often where claims are not tight.
func TestNoAttackContradictsAMechanism(t *testing.T) {
	for _, c := range []struct {
		kind    string
		changed []string
		seed    uint64
		least   float64 // some attack shows this much of the claimed epsilon 2
	}{ // what 20,000 trials show; a million show 1.4, 2.0, 1.6, 1.4 and 1.0
		{"gaussian", nil, 1, 0.5},
		{"laplace", byEachClient, 2, 1.8},
		{"dpsgd", nil, 3, 0.5},
		{"adaptive-released", nil, 4, 0.5},
		{"waterfill", nil, 5, 0.1},
	} {
		t.Run(c.kind, func(t *testing.T) {
			result, err := AuditMechanism(context.Background(), c.kind, c.changed, "", AuditSettings{Trials: 20_000, Confidence: .95, Seed: c.seed})
			if err != nil {
				t.Fatal(err)
			}
			most := 0.0
			for _, a := range result.Attacks {
				if a.Contradicted {
					t.Errorf("%s: epsilon %g is shown, %g is claimed", a.Attack, a.Direct.Epsilon, a.Claimed)
				}
				most = max(most, a.Direct.Epsilon)
			}
			if result.Contradicted || most < c.least {
				t.Errorf("the best attack shows %g, want at least %g", most, c.least)
			}
		})
	}
}

// Every fault is planted and found. The attack that is meant for it finds it.
func TestPlantedFaultsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("audits of whole mechanisms run in make test")
	}
	for _, c := range []struct {
		kind  string
		fault Fault
		by    string
	}{
		{"gaussian", HalfNoise, "look for the update"},
		{"gaussian", NoClip, "look for the update"},
		{"gaussian", KeyReused, "subtract the second round"},
		{"ddgauss", SharesForAll, "as few clients as may survive"},
		{"ddgauss", WrongModulus, "masked contribution"},
		{"ddgauss", NormTellsWhom, "norm of the release"},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			result, err := AuditMechanism(context.Background(), c.kind, nil, c.fault, AuditSettings{Trials: 20_000, Confidence: .95, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, a := range result.Attacks {
				found = found || a.Contradicted && strings.Contains(a.Attack, c.by)
			}
			if !result.Contradicted || !found {
				t.Errorf("not found by %q: %+v", c.by, result.Attacks)
			}
		})
	}
}

func TestAnAuditIsTheSameOnAnyNumberOfCores(t *testing.T) {
	settings := AuditSettings{Trials: 5000, Confidence: .95, Seed: 9}
	var first MechanismAudit
	for i, cores := range []int{1, 3} {
		before := runtime.GOMAXPROCS(cores)
		result, err := AuditMechanism(context.Background(), "laplace", byEachClient, "", settings)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = result
		} else if result.Attacks[0].Guesses != first.Attacks[0].Guesses {
			t.Errorf("%+v on one core, %+v on three", first.Attacks[0].Guesses, result.Attacks[0].Guesses)
		}
	}
}

func TestBadAuditsAreRefused(t *testing.T) {
	good := AuditSettings{Trials: 1000, Confidence: .95}
	for _, c := range []struct {
		name, kind string
		changed    []string
		fault      Fault
		settings   AuditSettings
		want       string
	}{
		{"a kind without a guarantee", "adaptive", nil, "", good, `no mechanism "adaptive" claims a guarantee`},
		{"a fault that is unknown", "gaussian", nil, "gremlins", good, `fault "gremlins" unknown`},
		{"a fault that does not fit", "gaussian", nil, WrongModulus, good, "wrong-modulus cannot be planted in gaussian"},
		{"no trials", "gaussian", nil, "", AuditSettings{Confidence: .95}, "0 trials"},
		{"confidence NaN", "gaussian", nil, "", AuditSettings{Trials: 1000, Confidence: math.NaN()}, "confidence NaN"},
		{"a setting that is impossible", "gaussian", []string{"privacy.mechanism.clip=-1"}, "", good, "clip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := AuditMechanism(context.Background(), c.kind, c.changed, c.fault, c.settings)
			if err == nil || !strings.Contains(err.Error(), c.want) || !IsInput(err) {
				t.Errorf("error %v, want one that says %q and is the user's to mend", err, c.want)
			}
		})
	}
}

func TestAKeyIsReadFromTheStream(t *testing.T) {
	random := noise.Seeded(1).Stream()
	a, err := noise.NewKey(keys{random})
	if err != nil {
		t.Fatal(err)
	}
	b, err := noise.NewKey(keys{random})
	if err != nil || a == b {
		t.Errorf("two trials have the same key (%v)", err)
	}
}
