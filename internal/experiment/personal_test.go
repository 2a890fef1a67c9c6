package experiment

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubbub/internal/algorithm"
	"hubbub/statement"
)

// Where the helper is the global model itself and everyone takes part, personal models are federated averaging, bit for bit.
func TestPersonalModelsWithIdentityHelpersAreFederatedAveraging(t *testing.T) {
	weights := map[string]string{}
	for _, kind := range []string{"fedavg", "prifedsync, helper: identity", "prifedsync, helper: interpolation, alpha: 1", "prifedsync, helper: per-client, alphas: [1]"} {
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
	for kind, got := range weights {
		if got != weights["fedavg"] {
			t.Errorf("%s comes to another model", kind)
		}
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

// The paper's local optimizers are a word in the file, each with noise and with a memory that is kept. All of them learn, and no two alike.
func TestEveryLocalOptimizerOfThePaperTrainsPersonalModels(t *testing.T) {
	hashes := map[string]string{}
	for kind, rate := range map[string]string{"sgd": "0.5", "momentum": "0.1", "adam": "0.05", "adagrad": "0.2"} {
		f, folder := prepared(t, "privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.5}}",
			"data.partition={kind: dirichlet-equal, clients: 6, alpha: 0.5}", "data.personal_test=50", "cohort={sampling: poisson, expected_size: 6}", "rounds=15",
			"algorithm={kind: prifedsync, alpha: 0.1, local: {kind: "+kind+", lr: "+rate+", batch: 20, epochs: 1, keep_memory: true}, server: {lr: 1}}"), newFolder(t)
		result, err := f.Start(context.Background(), folder, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.Personal.Own < 0.8 {
			t.Errorf("%s: accuracy %.3f after %d rounds", kind, result.Personal.Own, result.Rounds)
		}
		if other, ok := hashes[result.ModelHash]; ok {
			t.Errorf("%s comes to the model of %s", kind, other)
		}
		hashes[result.ModelHash] = kind
	}
}

// Each client follows its own F_i: after a round, a helper is that part of the global model and the rest of the client's own.
func TestHelpersPerClientFollowTheFile(t *testing.T) {
	f := prepared(t, "privacy={mechanism: {kind: none}}", "data.partition={kind: iid, clients: 4}", "cohort={sampling: poisson, expected_size: 4}",
		"algorithm={kind: prifedsync, helper: per-client, alphas: [0, 0.25, 1], local: {lr: 0.5, batch: 10, epochs: 1}, server: {lr: 1}}")
	p, w := f.newPersonal(), newCrew(f).workers[0]
	global := make([]float32, f.Net.Size())
	for i := range global {
		global[i] = 3
	}
	for w.client = range 4 {
		if err := p.contribute(w, p.first, 1, f.Parts[w.client], f.clientKey(1, w.client)); err != nil {
			t.Fatal(err)
		}
	}
	p.sync(global)
	for c, alpha := range []float32{0, 0.25, 1, 0} {
		for i, h := range p.clients[c].helper {
			if want := (1-alpha)*p.clients[c].own[i] + alpha*3; h != want {
				t.Fatalf("client %d, weight %d: %v, want %v", c, i, h, want)
			}
		}
	}
}

// A round that is left before its release changes nothing that a client keeps, whatever the optimizer; the round is then run to the same end
// as if it had never begun.
func TestARoundThatIsLeftChangesNoClient(t *testing.T) {
	for _, kind := range []string{"momentum", "adam", "adagrad"} {
		f := prepared(t, "privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}",
			"data.partition={kind: iid, clients: 4}", "cohort={sampling: poisson, expected_size: 4}",
			"algorithm={kind: prifedsync, alpha: 0.1, local: {kind: "+kind+", lr: 0.03, batch: 10, epochs: 1, keep_memory: true}, server: {lr: 1}}")
		train := func(p *personal, w *worker, round int, clients ...int) {
			for _, w.client = range clients {
				if err := p.contribute(w, p.first, round, f.Parts[w.client], f.clientKey(round, w.client)); err != nil {
					t.Fatal(err)
				}
			}
		}
		state := func(p *personal) []ownModel {
			var all []ownModel
			for _, c := range p.clients {
				all = append(all, ownModel{append([]float32(nil), c.own...), append([]float32(nil), c.helper...), c.memory.Clone()})
			}
			return all
		}
		through, left, w := f.newPersonal(), f.newPersonal(), newCrew(f).workers[0]
		for _, p := range []*personal{through, left} {
			train(p, w, 1, 0, 1, 2, 3)
			p.sync(p.first)
		}
		before := state(left)
		train(left, w, 2, 3, 1) // and no release follows
		if !reflect.DeepEqual(state(left), before) {
			t.Errorf("%s: a round without a release changed what clients keep", kind)
		}
		train(left, w, 2, 0, 1, 2, 3)
		left.sync(left.first)
		train(through, w, 2, 0, 1, 2, 3)
		through.sync(through.first)
		if !reflect.DeepEqual(state(left), state(through)) {
			t.Errorf("%s: after a round that was left, the next attempt comes to another end", kind)
		}
		if reflect.DeepEqual(state(through)[0].memory, algorithm.State{}) {
			t.Errorf("%s: nothing was remembered", kind)
		}
	}
}

// A statement does not say that nothing of a client is told where its own model's accuracy is.
func TestTheStatementSaysThatPersonalAccuraciesAreForResearch(t *testing.T) {
	for _, tests := range []string{"0", "20"} {
		f := prepared(t, "privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}", "data.personal_test="+tests,
			"data.partition={kind: iid, clients: 6}", "cohort={sampling: poisson, expected_size: 4}",
			"algorithm={kind: prifedsync, alpha: 0.1, local: {lr: 0.03, batch: 10, epochs: 1}, server: {lr: 1}}")
		rows, err := f.Facts.Rows()
		if err != nil {
			t.Fatal(err)
		}
		stated := 0
		for _, row := range rows {
			if row.Epsilon == nil {
				continue
			}
			stated++
			said := slices.Contains(row.Assumptions, statement.ResearchFigures)
			public := slices.ContainsFunc(row.Assumptions, func(a string) bool { return strings.Contains(a, "no other figure of a client leaves it") })
			if said != (tests != "0") || public == said {
				t.Errorf("%s own tests, against %s: %q", tests, row.Adversary, row.Assumptions)
			}
		}
		if stated == 0 {
			t.Error("nothing is stated")
		}
	}
}
