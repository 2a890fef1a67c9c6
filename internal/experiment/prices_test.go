package experiment

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"hubbub/accountant"
	"hubbub/ledger"
	"hubbub/statement"
)

// charged adds up what the ledger of a run holds for one client.
func charged(t *testing.T, d Folder, f *Federation, adversary statement.Adversary, client int) (accountant.About, int) {
	t.Helper()
	file, err := os.Open(d.file(ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entries, _, err := ledger.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := ledger.New(f.Hash, entries)
	if err != nil {
		t.Fatal(err)
	}
	spent := chain.Spent(string(adversary), client)
	if len(spent) == 0 {
		return accountant.About{}, 0
	}
	for _, s := range spent {
		if s != spent[0] {
			t.Fatalf("a client pays %v in one round and %v in another", spent[0], s)
		}
	}
	about := spent[0]
	about.Event = accountant.Repeat{Count: len(spent), Event: about.Event}
	return about, len(spent)
}

// Whoever prices what the ledger holds, as `hubbub privacy epsilon` does, gets the epsilon that the run states.
func TestTheEventThatARunReportsHasItsEpsilon(t *testing.T) {
	for name, want := range map[string]map[statement.Adversary]accountant.About{
		"adaptive-released": {
			statement.Server: {Adjacency: accountant.ReplaceOne, Unit: accountant.Client, Event: accountant.Gaussian{NoiseMultiplier: 0.2}},
			statement.Public: {Adjacency: accountant.ReplaceOne, Unit: accountant.Client, Event: accountant.Gaussian{NoiseMultiplier: 0.2}},
		},
		"waterfill": {
			statement.Server:  {Adjacency: accountant.ReplaceOne, Unit: accountant.Record, Event: accountant.Waterfill{Clients: 10, Records: 60, Batch: 20, Clip: 1, Variance: 1e-3}},
			statement.Clients: {Adjacency: accountant.ReplaceOne, Unit: accountant.Record, Event: accountant.Waterfill{Clients: 9, Records: 60, Batch: 20, Clip: 1, Variance: 1e-3}},
		},
		"waterfill of updates": { // a record is in one of twelve groups
			statement.Server: {Adjacency: accountant.ReplaceOne, Unit: accountant.Record, Event: accountant.Waterfill{Clients: 10, Records: 12, Batch: 6, Clip: 1, Variance: 0.1}},
		},
		"waterfill by samples": {
			statement.Server: {Adjacency: accountant.ReplaceOne, Unit: accountant.Record,
				Event: accountant.WithoutReplacement{Rate: 20.0 / 60, Event: accountant.Gaussian{NoiseMultiplier: math.Sqrt(1e-3) * 20 / 2}}},
		},
	} {
		f, d := prepared(t, kinds[name]...), newFolder(t)
		r, err := f.Start(context.Background(), d, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		for adversary, price := range want {
			worst, most := accountant.About{}, 0
			for client := range f.Parts {
				if about, times := charged(t, d, f, adversary, client); times > most {
					worst, most = about, times
				}
			}
			if most == 0 {
				t.Errorf("%s against %s: nothing was charged", name, adversary)
				continue
			}
			if once := worst.Event.(accountant.Repeat).Event; once != price.Event || worst.Adjacency != price.Adjacency || worst.Unit != price.Unit {
				t.Errorf("%s against %s: a round costs %+v, want %+v", name, adversary, worst, price)
			}
			bound, err := accountant.Epsilon(worst, 1e-5, accountant.Best)
			row, _ := r.EpsilonAgainst(adversary, f.Facts.Unit)
			if err != nil || row.Epsilon == nil || *row.Epsilon != bound.Epsilon {
				t.Errorf("%s against %s: the ledger costs %v (error %v), the run states %+v", name, adversary, bound.Epsilon, err, row)
			}
		}
	}
}

func TestThePrintedMechanismRunsWithoutAGuarantee(t *testing.T) {
	f, d := prepared(t, kinds["adaptive"]...), newFolder(t)
	r, err := f.Start(context.Background(), d, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Statement {
		if row.Epsilon != nil || row.Guarantee != "none" || !strings.Contains(row.Why, "the noise itself tells of the data") ||
			!strings.Contains(row.ClaimedByPaper, "noise multiplier 0.3 for one record (paper 003, Theorem 1)") {
			t.Errorf("%+v", row)
		}
	}
	if _, times := charged(t, d, f, statement.Server, 0); times != 0 {
		t.Errorf("%d charges for what has no price", times)
	}
}

// When all clients take part, as many rounds are run as Algorithm 4 allows contributions, where the printed loop would run one more and look at δ
// afterwards.
func TestThePrintedMechanismStopsBeforeItsBudgetIsExceeded(t *testing.T) {
	f := prepared(t, append(kinds["adaptive"], "cohort={sampling: fixed, expected_size: 40}", "privacy.mechanism={kind: adaptive, sigma0: 26, reading: batch, budget: {epsilon: 0.3, delta: 1e-5}}")...)
	r, err := f.Start(context.Background(), newFolder(t), "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := f.budget.Contributions(); r.Rounds != want || want < 1 || want >= 12 || !r.Finished {
		t.Errorf("%d rounds, the budget has room for %d: %+v", r.Rounds, want, r)
	}
	// Half of the clients in a round: it ends when the first of them would exceed the budget.
	f = prepared(t, append(kinds["adaptive"], "cohort={sampling: fixed, expected_size: 20}", "privacy.mechanism={kind: adaptive, sigma0: 26, reading: batch, budget: {epsilon: 0.3, delta: 1e-5}}")...)
	if r, err = f.Start(context.Background(), newFolder(t), "test", nil); err != nil {
		t.Fatal(err)
	}
	most := slices.Max(f.participation(r.Rounds))
	next := slices.Max(f.participation(r.Rounds + 1))
	if limit := f.budget.Contributions(); most > limit || next <= limit {
		t.Errorf("%d rounds: a client took part in %d, and would in %d; the budget has room for %d", r.Rounds, most, next, limit)
	}
}

// Noise that changes is charged as it is, round by round, and stated as the sum.
func TestAScheduleOfNoiseIsChargedRoundByRound(t *testing.T) {
	f, d := prepared(t, kinds["dpsgd with less and less noise"]...), newFolder(t)
	r, err := f.Start(context.Background(), d, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(d.file(ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entries, _, err := ledger.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := ledger.New(f.Hash, entries)
	if err != nil {
		t.Fatal(err)
	}
	all := accountant.Compose{}
	for i, s := range chain.Spent("server", 3) {
		all = append(all, s.Event)
		want := 1.0
		if i >= 6 {
			want = 0.5
		}
		step := s.Event.(accountant.Repeat).Event.(accountant.Poisson)
		if got := step.Event.(accountant.Gaussian).NoiseMultiplier; got != want {
			t.Errorf("round %d is charged for a noise multiplier of %g, want %g", i+1, got, want)
		}
	}
	bound, err := accountant.Epsilon(accountant.About{Adjacency: accountant.AddRemove, Unit: accountant.Record, Event: all}, 1e-5, accountant.Best)
	row, _ := r.EpsilonAgainst(statement.Server, accountant.Record)
	if err != nil || len(all) != 12 || row.Epsilon == nil || math.Abs(*row.Epsilon/bound.Epsilon-1) > 1e-6 {
		t.Errorf("%d charges cost %v (error %v), the run states %+v", len(all), bound.Epsilon, err, row)
	}
}

// As printed, with M the number of weights, noise is in proportion to weights that the noise of the round before made large.
func TestNoiseThatRunsAwayIsSaidToDoSo(t *testing.T) {
	d := newFolder(t)
	r, err := prepared(t, append(kinds["adaptive"], "privacy.mechanism.reading=weights", "privacy.mechanism.sigma0=26")...).Start(context.Background(), d, "test", nil)
	if err == nil || !IsInput(err) || !strings.Contains(err.Error(), "stopped in round") || !strings.Contains(err.Error(), "lower sigma0 or beta") {
		t.Errorf("%v", err)
	}
	if r.Finished || r.Rounds > 5 {
		t.Errorf("%+v", r)
	}
}

// The intervals of a round are those of the two releases before it, whether or not the run was taken up in between.
func TestIntervalsFollowTheLastTwoReleases(t *testing.T) {
	f := prepared(t, kinds["adaptive-released"]...)
	first := f.Net.Init(f.key.Stream())
	second := make([]float32, len(first))
	for i := range second {
		second[i] = first[i] + 0.02 // a root mean square of 0.02 in every tensor, and beta 2.5
	}
	for _, c := range []struct {
		name   string
		before []float32
		want   float32
	}{
		{"the first round has the public largest interval", nil, 0.1},
		{"later ones follow the change", first, 0.025},
		{"a release that changed nothing leaves the smallest", second, 0.005},
	} {
		way, err := f.wayAfter(second, c.before)
		if err != nil {
			t.Fatal(err)
		}
		// A huge update is cut to the interval. The mean over 3,000 contributions and all weights has noise of sigma0·2q/√3000 =
		// 0.0073 q: an error of 0.1 q is 13 standard deviations, and happens with probability below 1e-35. The seed is the file's.
		update, sum, mean := make([]float32, f.Net.Size()), make([]int64, f.Net.Size()), make([]float32, f.Net.Size())
		for i := range update {
			update[i] = 1000
		}
		random := f.key.Derive("noise").Stream()
		const clients = 3000
		for range clients {
			if err := way.client.(updates).mechanism.Contribute(sum, update, random); err != nil {
				t.Fatal(err)
			}
		}
		way.server.Decode(mean, sum, clients)
		total := 0.0
		for _, v := range mean {
			total += float64(v) / float64(len(mean))
		}
		if math.Abs(total/float64(c.want)-1) > 0.1 {
			t.Errorf("%s: updates cut to %g, want %g", c.name, total, c.want)
		}
	}
}

// What Cuts shows is what a run does: its last round trains from the model that a run one round shorter ends with.
func TestCutsAreThoseOfTheRun(t *testing.T) {
	f := prepared(t, append(kinds["adaptive"], "rounds=5")...)
	cuts, err := f.Cuts(context.Background(), 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(cuts) != 3 || cuts[2].Round != 5 {
		t.Fatalf("%d cuts", len(cuts))
	}
	d := newFolder(t)
	short := prepared(t, append(kinds["adaptive"], "rounds=4")...)
	if _, err := short.Start(context.Background(), d, "test", nil); err != nil {
		t.Fatal(err)
	}
	at, err := d.readCheckpoint(short.Hash, short.Net.Size())
	if err != nil {
		t.Fatal(err)
	}
	w := newCrew(f).workers[0]
	local, err := f.Config.localTraining().Estimated(w.Worker, at.model, 5, f.Parts[3], f.clientKey(5, 3).Derive("training").Stream())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(local.Trained, cuts[2].Trained) {
		t.Error("the client trained from another model than the run's")
	}
	for i, v := range cuts[2].Truncated {
		q := float32(1) * abs32(local.Estimate[i]) // beta 2
		if low, high := at.model[i]-q, at.model[i]+q; v < low-1e-6 || v > high+1e-6 {
			t.Fatalf("weight %d is cut to %g, outside %g to %g", i, v, low, high)
		}
	}
	if _, err := prepared(t, kinds["dpsgd"]...).Cuts(context.Background(), 0, 1); err == nil {
		t.Error("dpsgd has intervals")
	}
}

func abs32(x float32) float32 { return max(x, -x) }
