package experiment

import (
	"context"
	"os"
	"testing"
)

// Where the helper is the global model itself and everyone takes part, personal models are federated averaging, bit for bit.
func TestPersonalModelsWithIdentityHelpersAreFederatedAveraging(t *testing.T) {
	weights := map[string]string{}
	for _, kind := range []string{"fedavg", "prifedsync, alpha: 1"} {
		f, folder := prepared(t,
			"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}",
			"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}",
			"algorithm={kind: "+kind+", local: {kind: adam, lr: 0.03, batch: 10, epochs: 1}, server: {lr: 1}}"), newFolder(t)
		if _, err := f.Start(context.Background(), folder, "test", nil); err != nil {
			t.Fatal(err)
		}
		model, err := os.ReadFile(folder.file(modelFile))
		if err != nil {
			t.Fatal(err)
		}
		weights[kind] = string(model[len(model)-4*f.Net.Size():])
	}
	if weights["fedavg"] != weights["prifedsync, alpha: 1"] {
		t.Error("they come to different models")
	}
}

// Clients with unlike labels do better with models of their own, and a run that has reached its goal stops.
func TestPersonalModelsSuitTheirClients(t *testing.T) {
	f, folder := prepared(t, "privacy={mechanism: {kind: none}}", "data.partition={kind: dirichlet-equal, clients: 10, alpha: 0.05}", "data.personal_test=50",
		"cohort={sampling: poisson, expected_size: 8}", "rounds=30", "evaluate_every=1", "stop_at=0.95",
		"algorithm={kind: prifedsync, alpha: 0.1, local: {lr: 0.5, batch: 10, epochs: 2}, server: {lr: 1}}"), newFolder(t)
	result, err := f.Start(context.Background(), folder, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if result.Personal == nil || result.Personal.Own < 0.95 || result.Personal.Own < result.Personal.Global {
		t.Errorf("accuracies %+v", result.Personal)
	}
	if !result.Finished || result.Rounds >= 30 {
		t.Errorf("stopped after %d rounds, finished %v", result.Rounds, result.Finished)
	}
	for c, test := range f.personalTests {
		seen := f.Train.Histogram(f.Parts[c])
		for _, r := range test {
			if seen[f.Test.Labels[r]] == 0 {
				t.Fatalf("client %d is tested on label %d, which it has not seen", c, f.Test.Labels[r])
			}
		}
	}
}
