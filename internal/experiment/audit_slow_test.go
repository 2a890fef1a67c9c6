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
