package experiment

import (
	"context"
	"strings"
	"testing"

	"hubbub/internal/data"
	"hubbub/statement"
)

// togetherAlways are settings under which everyone takes part in every round; a linear model, and one feature that is zero everywhere.
var togetherAlways = []string{
	"data.partition={kind: iid, clients: 4}", "cohort={sampling: fixed, expected_size: 4}", "model={kind: logistic}", "rounds=3",
	"algorithm={kind: fedavg, local: {lr: 0.2, batch: 5, epochs: 1}, server: {kind: sgd, lr: 1}}",
}

func dark(seed uint64, records int) *data.Set {
	s := blobs(seed, records)
	for i := range records {
		s.Features[i*s.Dim()] = 0
	}
	return s
}

func preparedWhole(t *testing.T, changed ...string) *Federation {
	t.Helper()
	c, err := Parse("test.yaml", []byte(base), append(togetherAlways[:len(togetherAlways):len(togetherAlways)], changed...))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Prepare(c, dark(1, 80), dark(2, 20))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const wholeTarget = ", target: {epsilon: 4, delta: 1e-5, against: public}}"

// At epsilon 4 the attack shows less than 4, and yet a good part of it; with a tenth of the noise it shows more. 95% confidence, fixed
// seeds: a claim that holds would be contradicted in one of twenty seeds at most, and these were not chosen.
func TestAWholeRunShowsWhatItClaimsAndNoMore(t *testing.T) {
	for _, c := range []struct {
		name    string
		changed []string
		against statement.Adversary
		least   float64 // if Gaussian
	}{
		{"central noise", []string{"privacy={mechanism: {kind: gaussian, place: central, clip: 1}" + wholeTarget}, statement.Public, 3},
		{"shares of Skellam noise", []string{"privacy={mechanism: {kind: skellam, clip: 1, bits: 8, rotate: true}" + wholeTarget, "secagg={kind: ideal}"}, statement.Server, 2.8},
		{"intervals that follow releases, seen by everyone", []string{"privacy={mechanism: {kind: adaptive-released, smallest: 0.01, largest: 0.02}" + wholeTarget}, statement.Public, 2.5},
		{"DP-SGD on the clients", []string{"privacy={unit: record, mechanism: {kind: dpsgd, clip: 1}" + wholeTarget}, statement.Server, 1},
		{"personal models", []string{
			"privacy={unit: record, mechanism: {kind: dpsgd, clip: 1}" + wholeTarget, "algorithm.kind=prifedsync", "algorithm.alpha=0.5",
		}, statement.Server, 1},
		{"all gradients and noise", []string{
			"privacy={unit: record, mechanism: {kind: waterfill, method: gd-dp, clip: 1}" + wholeTarget, "secagg={kind: ideal}", "algorithm={kind: fedsgd}",
		}, statement.Server, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := preparedWhole(t, c.changed...)
			settings := AuditSettings{Trials: 2000, Confidence: .95, Seed: 1}
			a, err := f.AuditWhole(context.Background(), c.against, settings)
			if err != nil {
				t.Fatal(err)
			}
			if a.Claim.Epsilon == nil || *a.Claim.Epsilon > 4.001 || *a.Claim.Epsilon < 3.9 {
				t.Fatalf("the claim is %+v, want epsilon 4", a.Claim)
			}
			if a.Direct.Epsilon > *a.Claim.Epsilon || a.Gaussian.Epsilon > 1.1**a.Claim.Epsilon || a.Gaussian.Epsilon < c.least {
				t.Errorf("shown %.3f, if Gaussian %.3f, claimed %.3f", a.Direct.Epsilon, a.Gaussian.Epsilon, *a.Claim.Epsilon)
			}
			if a.Smaller {
				return // the noise of a smaller federation is its own
			}
			faulty, honest := *f, f.Facts
			faulty.Facts.Noise /= 10
			if f.Facts.Protection == statement.Distributed {
				faulty.Facts.Noise /= 10 // a variance
			}
			if err := faulty.build(faulty.Config.localTraining()); err != nil {
				t.Fatal(err)
			}
			faulty.Facts = honest // claims what it does not do
			if a, err = faulty.AuditWhole(context.Background(), c.against, settings); err != nil {
				t.Fatal(err)
			}
			if a.Direct.Epsilon <= *a.Claim.Epsilon {
				t.Errorf("with a tenth of the noise: shown %.3f, claimed %.3f", a.Direct.Epsilon, *a.Claim.Epsilon)
			}
		})
	}
}

// The printed mechanism misses the record when it is in the last batch of the upload: its estimate does not look there.
func TestWithoutNoiseAllIsShown(t *testing.T) {
	for name, changed := range map[string]string{
		"no privacy":          "privacy={mechanism: {kind: none}}",
		"paper 003's printed": "privacy={mechanism: {kind: adaptive, sigma0: 20}}",
	} {
		t.Run(name, func(t *testing.T) {
			a, err := preparedWhole(t, changed).AuditWhole(context.Background(), statement.Server, AuditSettings{Trials: 1000, Confidence: .95, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if a.Claim.Epsilon != nil || a.Direct.Epsilon < 0.9*a.Direct.Largest || a.Direct.Largest < 5 {
				t.Errorf("claimed %v, shown %g of %g", a.Claim.Epsilon, a.Direct.Epsilon, a.Direct.Largest)
			}
		})
	}
}

func TestAWholeRunNeedsEveryone(t *testing.T) {
	f := preparedWhole(t, "cohort={sampling: poisson, expected_size: 2}", "privacy={mechanism: {kind: none}}")
	if _, err := f.AuditWhole(context.Background(), statement.Public, AuditSettings{Trials: 100, Confidence: .95}); err == nil || !strings.Contains(err.Error(), "everyone in every round") {
		t.Errorf("error %v", err)
	}
}

// The finest grid has a rate beyond what is tried when much noise is needed: a coarser one serves.
func TestMuchNoiseCanBeFitted(t *testing.T) {
	f := preparedWhole(t, "privacy={mechanism: {kind: skellam, clip: 1, bits: 8, rotate: true}, target: {epsilon: 0.7, delta: 1e-5, against: public}}", "secagg={kind: ideal}")
	if row, err := f.Facts.Row(statement.Public, "client"); err != nil || row.Epsilon == nil || *row.Epsilon > 0.7 || *row.Epsilon < 0.69 {
		t.Errorf("%+v, %v", row, err)
	}
}

func TestMaskedBytesAreThoseOfTheProtocol(t *testing.T) {
	shares := "privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rate: 300}}"
	ideal, err := preparedWhole(t, shares, "secagg={kind: ideal}").MaskedBytes()
	if err != nil {
		t.Fatal(err)
	}
	if masked := preparedWhole(t, shares, "secagg={kind: masked}").BytesUp(); ideal != masked {
		t.Errorf("%d bytes, a masked run sends %d", ideal, masked)
	}
	plain := preparedWhole(t, "privacy={mechanism: {kind: none}}")
	if bytes, err := plain.MaskedBytes(); err != nil || bytes < int64(plain.Net.Size())*4 {
		t.Errorf("%d bytes without noise: %v", bytes, err)
	}
}
