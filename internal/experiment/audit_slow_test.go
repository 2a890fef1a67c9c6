//go:build slow

package experiment

import (
	"context"
	"testing"
)

// Every mechanism that claims a guarantee, in every variant, with a million trials: none may be contradicted. The confidence of 99.9% is
// shared by the attacks of a variant, so that all variants together raise a false alarm in less than 2% of cases even if every
// claim were tight.
func TestNoClaimIsContradicted(t *testing.T) {
	for i, v := range Variants {
		t.Run(v.Name, func(t *testing.T) {
			result, err := AuditMechanism(context.Background(), v.Kind, v.Changed, "", AuditSettings{Trials: 1_000_000, Confidence: .999, Seed: uint64(i)})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range result.Attacks {
				t.Logf("%s: claimed %.4f, shown %.4f, if Gaussian %.4f", a.Attack, a.Claimed, a.Direct.Epsilon, a.Gaussian.Epsilon)
				if a.Contradicted {
					t.Errorf("%s: epsilon %g is shown, %g is claimed", a.Attack, a.Direct.Epsilon, a.Claimed)
				}
			}
		})
	}
}

// Every fault in every mechanism whose claim is tight enough to be contradicted by it.
func TestEveryFaultIsFound(t *testing.T) {
	for _, c := range []struct {
		kind   string
		faults []Fault
	}{
		{"gaussian", []Fault{HalfNoise, NoClip, KeyReused}},
		{"laplace", []Fault{HalfNoise, NoClip, KeyReused}},
		{"skellam", Faults},
		{"ddgauss", Faults},
		{"binomial", []Fault{NoClip, KeyReused, WrongModulus, NormTellsWhom}}, // its closed form hides half the noise
		{"smm", []Fault{KeyReused, WrongModulus, NormTellsWhom}},
		{"dpsgd", []Fault{HalfNoise}},
		{"waterfill", []Fault{HalfNoise}},
		{"adaptive-released", []Fault{HalfNoise, KeyReused}},
	} {
		for _, fault := range c.faults {
			t.Run(c.kind+" "+string(fault), func(t *testing.T) {
				result, err := AuditMechanism(context.Background(), c.kind, nil, fault, AuditSettings{Trials: 200_000, Confidence: .95, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				if !result.Contradicted {
					t.Errorf("not found: %+v", result.Attacks)
				}
			})
		}
	}
}

// The Laplace mechanism's claim is the truth, and the attack on it the best there is: 200 audits at 95% may contradict it 10 times; 21
// or more happen with probability 8e-4 (binomial tail).
func TestAuditsSeldomContradictTheTruth(t *testing.T) {
	const repetitions, allowed = 200, 20
	contradicted, closest := 0, 0.0
	for seed := range uint64(repetitions) {
		result, err := AuditMechanism(context.Background(), "laplace", byEachClient, "", AuditSettings{Trials: 20_000, Confidence: .95, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if result.Contradicted {
			contradicted++
		}
		closest = max(closest, result.Attacks[0].Direct.Epsilon)
	}
	t.Logf("%d of %d contradict epsilon 2; the largest bound is %.4f", contradicted, repetitions, closest)
	if contradicted > allowed {
		t.Errorf("%d of %d audits contradict a claim that holds, more than %d", contradicted, repetitions, allowed)
	}
}
