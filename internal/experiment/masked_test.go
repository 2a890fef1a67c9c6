package experiment

import (
	"context"
	"os"
	"strings"
	"testing"
)

// smallCohort is an experiment of about 12 clients a round, some of which vanish.
func smallCohort(kind, secagg, cohort string) []string {
	return []string{
		"privacy={delta: 1e-5, mechanism: {kind: " + kind + ", clip: 1, granularity: 0.05, rate: 300}}", "secagg=" + secagg, "cohort=" + cohort, "rounds=6",
		"data.partition={kind: iid, clients: 20}",
	}
}

// The protocol and sums in the clear come to the same model, bit for bit, whoever drops out.
func TestMaskedSumsAreTheSumsInTheClear(t *testing.T) {
	for name, c := range map[string]struct{ kind, options, cohort string }{
		"nobody drops out":            {"skellam", "noise: exact", "{sampling: fixed, expected_size: 12}"},
		"some drop out":               {"skellam", "noise: exact, max_dropouts: 0.5, max_colluders: 0.1", "{sampling: fixed, expected_size: 12, dropout: 0.15}"},
		"cohorts of any size":         {"smm", "noise: exact, max_dropouts: 0.4", "{sampling: poisson, expected_size: 12, dropout: 0.1}"},
		"shares for the fewest":       {"skellam", "noise: minimum, max_dropouts: 0.4", "{sampling: fixed, expected_size: 12, min_survivors: 6, dropout: 0.1}"},
		"rounds that are abandoned":   {"skellam", "noise: exact, max_dropouts: 0.1", "{sampling: fixed, expected_size: 12, dropout: 0.15}"},
		"keys on lattices and curves": {"skellam", "noise: exact, max_dropouts: 0.3, hybrid: true", "{sampling: fixed, expected_size: 5, dropout: 0.1}"},
	} {
		t.Run(name, func(t *testing.T) {
			weights := map[string]string{}
			abandoned := map[string]int{}
			for _, kind := range []string{"ideal", "masked"} {
				f, folder := prepared(t, smallCohort(c.kind, "{kind: "+kind+", "+c.options+"}", c.cohort)...), newFolder(t)
				_, err := f.Start(context.Background(), folder, "test", nil)
				if err != nil {
					t.Fatal(err)
				}
				model, err := os.ReadFile(folder.file(modelFile))
				if err != nil {
					t.Fatal(err)
				}
				weights[kind] = string(model[len(model)-4*f.Net.Size():]) // behind the header, which names the configuration
				lines, err := os.ReadFile(folder.file(metricsFile))
				if err != nil {
					t.Fatal(err)
				}
				abandoned[kind] = strings.Count(string(lines), "abandoned")
			}
			if weights["ideal"] != weights["masked"] {
				t.Error("the protocol comes to another model than sums in the clear")
			}
			if abandoned["ideal"] != abandoned["masked"] {
				t.Errorf("%d rounds abandoned in the clear, %d by the protocol", abandoned["ideal"], abandoned["masked"])
			}
			if strings.Contains(name, "abandoned") && (abandoned["masked"] == 0 || abandoned["masked"] == 6) {
				t.Errorf("%d of 6 rounds abandoned: this test wants some", abandoned["masked"])
			}
		})
	}
}

func TestAMaskedRunSaysWhatItRestsOn(t *testing.T) {
	f := prepared(t, smallCohort("skellam", "{kind: masked, max_colluders: 0.1, max_dropouts: 0.2}", "{sampling: fixed, expected_size: 12}")...)
	plan, err := f.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if plan.Aggregation == nil || !strings.Contains(plan.Aggregation.Setting, "12 clients, threshold 7") || !strings.Contains(plan.Aggregation.Claim, "malicious server") {
		t.Errorf("the plan says %+v", plan.Aggregation)
	}
	for _, row := range plan.Statement[:2] {
		all := strings.Join(row.Assumptions, "\n")
		if !strings.Contains(all, "secure aggregation: a malicious server together with up to 1 clients") || !strings.Contains(all, "10%") || row.Caveat() != "" {
			t.Errorf("against %s: %q, caveat %q", row.Adversary, row.Assumptions, row.Caveat())
		}
	}
}

// A cohort that may be drawn too large for a complete graph gets the claim of the large one, every round.
func TestTheClaimIsThatOfTheLargestCohort(t *testing.T) {
	for size, want := range map[string]string{"240": "an honest-but-curious server", "100": "a malicious server"} {
		f := prepared(t, "privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rate: 300}}",
			"secagg={kind: masked, max_colluders: 0.05}", "cohort={sampling: poisson, expected_size: "+size+"}")
		if !strings.HasPrefix(f.Facts.Protocol, want) {
			t.Errorf("cohorts of about %s: %q, want %s", size, f.Facts.Protocol, want)
		}
	}
}

// Shares that count on honest clients leave out as many colluders as a large cohort may have, not as the expected one.
func TestSharesLeaveOutTheColludersOfALargeCohort(t *testing.T) {
	f := prepared(t, "privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rate: 300}}",
		"secagg={kind: ideal, noise: minimum, max_colluders: 0.1}", "cohort={sampling: poisson, expected_size: 100, min_survivors: 60}")
	large := f.cohortBelow(rareCohort)
	if want := 60 - large/10; large < 180 || f.crowd().Shares != want || f.Facts.Failure != rareCohort {
		t.Errorf("cohorts up to %d: %d shares, want %d; failure %g", large, f.crowd().Shares, want, f.Facts.Failure)
	}
}
