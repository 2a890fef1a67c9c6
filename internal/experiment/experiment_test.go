package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hubbub/accountant"
	"hubbub/internal/data"
	"hubbub/ledger"
	"hubbub/statement"
)

// blobs is a data set in which label l is bright in every third feature, from l on.
func blobs(seed uint64, records int) *data.Set {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &data.Set{Name: "blobs", Shape: []int{1, 3, 4}, Classes: 3}
	for range records {
		label := r.IntN(3)
		for j := range 12 {
			v := 0.4 * r.Float32()
			if j%3 == label {
				v += 0.4
			}
			s.Features = append(s.Features, v)
		}
		s.Labels = append(s.Labels, uint8(label))
	}
	return s
}

// base is a small experiment; tests change it by overrides.
const base = `name: test
seed: 7
data: {name: mnist, partition: {kind: records}}
model: {kind: mlp, hidden: [6], activation: tanh}
algorithm: {kind: fedsgd, server: {kind: adam, lr: 0.05}}
cohort: {sampling: poisson, expected_size: 100}
rounds: 12
evaluate_every: 3
privacy:
  unit: client
  delta: 1e-5
  mechanism: {kind: gaussian, place: central, clip: 1, noise_multiplier: 1.2}
`

// kinds are the ways through the program, as overrides of base.
var kinds = map[string][]string{
	"central": nil,
	"skellam": {
		"privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rotate: true, rate: 300}}", "secagg={kind: ideal}",
	},
	"skellam in shares": {
		"privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, bits: 16, rounding: conditional, k: 2, rate: 300}}",
		"secagg={kind: none, noise: minimum}", "cohort={sampling: fixed, expected_size: 60, min_survivors: 60}",
	},
	"discrete gaussian": {
		"privacy={delta: 1e-5, mechanism: {kind: ddgauss, clip: 1, granularity: 0.05, sigma2: 10}}", "secagg={kind: ideal, noise: minimum}",
		"cohort={sampling: poisson, expected_size: 100, min_survivors: 60}",
	},
	"masked": {
		"privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rate: 300}}", "data.partition={kind: iid, clients: 20}",
		"secagg={kind: masked, max_dropouts: 0.5}", "cohort={sampling: fixed, expected_size: 12, dropout: 0.1}",
	},
	"overflows": {
		"privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, bits: 9, rotate: true, overflow: allow, rate: 300}}", "secagg={kind: ideal}",
	},
	"mixture":  {"privacy={delta: 1e-5, mechanism: {kind: smm, clip: 1, granularity: 0.05, rate: 300}}", "secagg={kind: ideal}"},
	"binomial": {"privacy={delta: 1e-5, mechanism: {kind: binomial, clip: 1, granularity: 0.05, trials: 100000}}", "secagg={kind: ideal}"},
	"laplace":  {"privacy={delta: 1e-5, mechanism: {kind: laplace, place: central, clip: 5, scale: 1}}"},
	"no privacy": {
		"privacy={mechanism: {kind: none}}", "cohort={sampling: fixed, expected_size: 50}", "algorithm.server={kind: momentum, lr: 0.2}",
	},
	"local": {
		"privacy.mechanism.place=local", "privacy.mechanism.noise_multiplier=0.2",
		"data.partition={kind: iid, clients: 40}", "cohort={sampling: poisson, expected_size: 20}",
	},
	"dpsgd": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}",
		"data.partition={kind: dirichlet, clients: 10, alpha: 1}", "cohort={sampling: fixed, expected_size: 5}",
		"algorithm={kind: fedavg, local: {lr: 0.2, batch: 10, epochs: 1}, server: {kind: sgd, lr: 1}}",
	},
	"dpsgd with less and less noise": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 1, schedule: {kind: step, every: 6, drop: 0.5}}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}", "evaluate_every=12",
		"algorithm={kind: fedavg, local: {lr: 0.2, batch: 10, steps: 2}, server: {kind: sgd, lr: 1}}",
	},
	"estimated from the step before": {
		"privacy={unit: record, mechanism: {kind: dpsgd-estimated, estimate: history, clip: 1, noise_multiplier: 0.3}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}",
		"algorithm={kind: fedavg, local: {lr: 0.2, batch: 10, steps: 4}, server: {kind: sgd, lr: 1}}",
	},
	"estimated from the largest": {
		"privacy={unit: record, mechanism: {kind: dpsgd-estimated, estimate: layers, clip: 1, noise_multiplier: 0.3}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}",
		"algorithm={kind: fedprox, mu: 0.1, local: {lr: 0.2, batch: 10, steps: 4}, server: {kind: sgd, lr: 1}}",
	},
	"central fedavg": {
		"data.partition={kind: shards, clients: 30, shards_per_client: 2}", "cohort={sampling: fixed, expected_size: 15}",
		"algorithm={kind: fedavg, local: {kind: momentum, lr: 0.1, batch: 10, steps: 3}, server: {kind: rmsprop, lr: 0.05}}",
		"privacy.mechanism.noise_multiplier=0.3",
	},
	"fedprox, yogi, cosine": {
		"data.partition={kind: shards, clients: 30, shards_per_client: 2}", "cohort={sampling: fixed, expected_size: 15}", "privacy.mechanism.noise_multiplier=0.3",
		"algorithm={kind: fedprox, mu: 0.1, local: {kind: adagrad, lr: 0.1, batch: 10, steps: 3, weight_decay: 0.01, schedule: {kind: step, every: 4, drop: 0.5}}, server: {kind: yogi, lr: 0.05, schedule: {kind: cosine, warmup: 2, final: 0.1}}}",
	},
	"dpsgd with a leash": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}",
		"data.partition={kind: dirichlet, clients: 10, alpha: 1}", "cohort={sampling: fixed, expected_size: 5}",
		"algorithm={kind: fedprox, mu: 0.05, local: {kind: adam, lr: 0.03, tau: 1e-6, beta2: 0.99, batch: 10, epochs: 1, schedule: {kind: inverse-sqrt, warmup: 3}}, server: {kind: momentum, lr: 0.5}}",
	},
	"adagrad on the server": {
		"algorithm.server={kind: adagrad, lr: 0.1, tau: 0.01, weight_decay: 0.02, schedule: {kind: linear}}",
	},
	"convolutions": {
		"model={kind: layers, layers: [{kind: conv, filters: 6, size: 2}, {kind: relu}, {kind: groupnorm, groups: 2}, {kind: dense, units: 7}, {kind: tanh}]}",
		"privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rate: 300}}", "secagg={kind: ideal}",
	},
	"convolutions, locally": {
		"model={kind: layers, layers: [{kind: conv, filters: 6, size: 2}, {kind: relu}, {kind: maxpool, size: 2}]}",
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.5}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 5}",
		"algorithm={kind: fedavg, local: {kind: momentum, lr: 0.2, batch: 10, epochs: 1}, server: {kind: sgd, lr: 1}}",
	},
	"logistic regression": {"model={kind: logistic}"},
	"personal models": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}",
		"data.partition={kind: dirichlet-equal, clients: 10, alpha: 1}", "data.personal_test=20", "cohort={sampling: poisson, expected_size: 5}",
		"algorithm={kind: prifedsync, alpha: 0.1, local: {kind: adam, lr: 0.03, batch: 10, epochs: 1, keep_memory: true}, server: {lr: 0.9}}",
	},
	"personal models that keep their momentum": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: dpsgd, clip: 1, noise_multiplier: 0.8}}",
		"data.partition={kind: iid, clients: 6}", "cohort={sampling: poisson, expected_size: 4}",
		"algorithm={kind: prifedsync, helper: per-client, alphas: [0, 0.1, 1], local: {kind: momentum, lr: 0.03, batch: 10, epochs: 1, keep_memory: true}, server: {lr: 1}}",
	},
	"adaptive": {
		"privacy={mechanism: {kind: adaptive, sigma0: 0.3, beta: 2, reading: one}}",
		"data.partition={kind: iid, clients: 40}", "cohort={sampling: poisson, expected_size: 30}",
		"algorithm={kind: fedavg, local: {kind: momentum, lr: 0.1, batch: 5, steps: 4}, server: {kind: sgd, lr: 1}}",
	},
	"adaptive-released": {
		"privacy={delta: 1e-5, mechanism: {kind: adaptive-released, sigma0: 0.2, beta: 2.5, follow: change, smallest: 0.005, largest: 0.1}}",
		"data.partition={kind: iid, clients: 40}", "cohort={sampling: poisson, expected_size: 30}",
		"algorithm={kind: fedavg, local: {lr: 0.3, batch: 5, steps: 4}, server: {kind: sgd, lr: 1}}",
	},
	"waterfill": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: waterfill, method: gsgd-dp, batch: 20, clip: 1, variance: 1e-3}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}", "secagg={kind: ideal}",
	},
	"waterfill of updates": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: waterfill, method: gsgd-dp, batch: 6, groups: 12, clip: 1, variance: 0.1}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}", "secagg={kind: ideal}",
		"algorithm={kind: fedavg, local: {lr: 0.3, batch: 5, steps: 4}, server: {kind: sgd, lr: 1}}",
	},
	"waterfill by samples": {
		"privacy={unit: record, delta: 1e-5, mechanism: {kind: waterfill, method: sgd-dp, batch: 20, clip: 1, variance: 1e-3}}",
		"data.partition={kind: iid, clients: 10}", "cohort={sampling: fixed, expected_size: 10}", "secagg={kind: none}",
	},
}

func prepared(t testing.TB, overrides ...string) *Federation {
	t.Helper()
	c, err := Parse("test.yaml", []byte(base), overrides)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Prepare(c, blobs(1, 600), blobs(2, 200))
	if err != nil {
		t.Fatal(err)
	}
	// The accountant is half of the time of these tests: runs of one kind ask for the same prices.
	memo, _ := memos.LoadOrStore(f.Hash, f.Facts.Memo)
	f.Facts.Memo = memo.(*statement.Memo)
	return f
}

var memos sync.Map

func newFolder(t testing.TB) Folder {
	t.Helper()
	d, err := NewFolder(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// outcome is all of a run that must not depend on cores, interruptions or the clock.
func outcome(t testing.TB, d Folder) string {
	t.Helper()
	var out bytes.Buffer
	for _, name := range []string{configFile, ledgerFile, modelFile} {
		text, err := os.ReadFile(d.file(name))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	metrics, err := os.ReadFile(d.file(metricsFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(metrics) {
		var m Metrics
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		m.Seconds = 0
		text, _ := json.Marshal(m)
		out.Write(text)
	}
	var r Result
	text, err := os.ReadFile(d.file(resultFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	r.Seconds = 0
	text, _ = json.Marshal(r)
	out.Write(text)
	return out.String()
}

func TestEveryKindOfRunWritesWhatItPromises(t *testing.T) {
	for name, overrides := range kinds {
		t.Run(name, func(t *testing.T) {
			f, d := prepared(t, overrides...), newFolder(t)
			r, err := f.Start(context.Background(), d, "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{configFile, metricsFile, resultFile, ledgerFile, modelFile, reportFile} {
				if info, err := os.Stat(d.file(name)); err != nil || (info.Size() == 0 && name != ledgerFile) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if !r.Finished || r.Rounds != 12 || r.Accuracy < 0.4 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Whoever has the result can check it: the event that a row reports costs what the row says.
func TestTheReportedEventCostsTheReportedEpsilon(t *testing.T) {
	for name, overrides := range kinds {
		d := newFolder(t)
		if _, err := prepared(t, overrides...).Start(context.Background(), d, "test", nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(d.file(resultFile))
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Statement {
			if (row.Event == nil) != (row.Epsilon == nil) {
				t.Errorf("%s against %s: epsilon and event do not go together", name, row.Adversary)
			}
			if row.Event == nil {
				continue
			}
			b, err := accountant.Epsilon(*row.Event, row.Delta, accountant.Best)
			if err != nil || math.Abs(b.Epsilon/(*row.Epsilon)-1) > 1e-4 {
				t.Errorf("%s against %s: the event costs %g (%v), the row says %g", name, row.Adversary, b.Epsilon, err, *row.Epsilon)
			}
		}
	}
}

// Shares are sized for the survivors that the file guarantees, never for those who happen to come.
func TestSharesAreSizedForTheGuaranteedSurvivors(t *testing.T) {
	for cohort, want := range map[string]int{
		"{sampling: fixed, expected_size: 60, min_survivors: 50}":   50,
		"{sampling: poisson, expected_size: 60, min_survivors: 40}": 40,
	} {
		f := prepared(t, "privacy={delta: 1e-5, mechanism: {kind: skellam, clip: 1, granularity: 0.05, rate: 300}}",
			"secagg={kind: ideal, noise: minimum}", "cohort="+cohort)
		share, ok := f.Facts.Share(300).(accountant.RoundedSkellam)
		if !ok || math.Abs(share.Rate*float64(want)-300) > 1e-9 || f.Facts.MinSurvivors != want {
			t.Errorf("%s: a share of %+v for %d survivors, want %d", cohort, share, f.Facts.MinSurvivors, want)
		}
	}
}

func TestATargetChoosesTheNoise(t *testing.T) {
	for name, c := range map[string]struct {
		kind    string
		noise   string
		target  string
		against statement.Adversary
		epsilon float64
	}{
		"central against public":               {"central", "noise_multiplier", "{epsilon: 4, delta: 1e-5}", statement.Public, 4},
		"local against server":                 {"local", "noise_multiplier", "{epsilon: 30, delta: 1e-5, against: server}", statement.Server, 30},
		"local against clients":                {"local", "noise_multiplier", "{epsilon: 30, delta: 1e-6, against: clients}", statement.Clients, 30},
		"dpsgd against server":                 {"dpsgd", "noise_multiplier", "{epsilon: 8, delta: 1e-5, against: server}", statement.Server, 8},
		"falling dpsgd against server":         {"dpsgd with less and less noise", "noise_multiplier", "{epsilon: 8, delta: 1e-5, against: server}", statement.Server, 8},
		"adaptive-released against server":     {"adaptive-released", "sigma0", "{epsilon: 9, delta: 1e-5, against: server}", statement.Server, 9},
		"adaptive-released against public":     {"adaptive-released", "sigma0", "{epsilon: 0.5, delta: 1e-6}", statement.Public, 0.5},
		"waterfill against server":             {"waterfill", "variance", "{epsilon: 4, delta: 1e-5, against: server}", statement.Server, 4},
		"waterfill against clients":            {"waterfill", "variance", "{epsilon: 1, delta: 1e-5, against: clients}", statement.Clients, 1},
		"waterfill by samples against server":  {"waterfill by samples", "variance", "{epsilon: 4, delta: 1e-5, against: server}", statement.Server, 4},
		"waterfill by samples against clients": {"waterfill by samples", "variance", "{epsilon: 20, delta: 1e-5, against: clients}", statement.Clients, 20},
	} {
		overrides := append(slices.Clone(kinds[c.kind]), "privacy.mechanism."+c.noise+"=null", "privacy.delta=null", "privacy.target="+c.target)
		f := prepared(t, overrides...)
		if noise := f.Noise()[c.noise]; !(noise > 0) {
			t.Errorf("%s: the run's noise is %v", name, f.Noise())
		}
		row, err := f.Facts.Row(c.against, f.Facts.Unit)
		if err != nil || row.Epsilon == nil || *row.Epsilon > c.epsilon || *row.Epsilon < 0.98*c.epsilon {
			t.Errorf("%s: %+v, error %v", name, row, err)
		}
	}
}

func TestTheOutcomeIsTheSameOnAnyNumberOfCores(t *testing.T) {
	for name, overrides := range kinds {
		t.Run(name, func(t *testing.T) {
			var first string
			for _, cores := range []int{1, 3} {
				before := runtime.GOMAXPROCS(cores)
				d := newFolder(t)
				_, err := prepared(t, overrides...).Start(context.Background(), d, "test", nil)
				runtime.GOMAXPROCS(before)
				if err != nil {
					t.Fatal(err)
				}
				if got := outcome(t, d); first == "" {
					first = got
				} else if got != first {
					t.Errorf("%d cores came to another end than one", cores)
				}
			}
		})
	}
}

func TestAnInterruptedRunResumesToTheSameEnd(t *testing.T) {
	for name, overrides := range kinds {
		t.Run(name, func(t *testing.T) {
			whole := newFolder(t)
			if _, err := prepared(t, overrides...).Start(context.Background(), whole, "test", nil); err != nil {
				t.Fatal(err)
			}
			want := outcome(t, whole)
			d := newFolder(t)
			stopAfter := func(round int) (context.Context, func(Progress)) {
				ctx, cancel := context.WithCancel(context.Background())
				return ctx, func(p Progress) {
					if p.Last.Round == round {
						cancel()
					}
				}
			}
			ctx, progress := stopAfter(4)
			r, err := prepared(t, overrides...).Start(ctx, d, "test", progress)
			if !errors.Is(err, context.Canceled) || r.Finished || r.Rounds != 4 || !strings.Contains(r.Note, "--resume") {
				t.Fatalf("after the first interruption: %v, %+v", err, r)
			}
			ctx, progress = stopAfter(9)
			if _, err = prepared(t, overrides...).Resume(ctx, d, "test", progress); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if r, err = prepared(t, overrides...).Resume(context.Background(), d, "test", nil); err != nil || !r.Finished {
				t.Fatalf("%v, %+v", err, r)
			}
			if outcome(t, d) != want {
				t.Error("the resumed run came to another end")
			}
		})
	}
}

// A process can die at any moment. Here it dies after any of its writes to the ledger, with the checkpoint being the first one or
// a later one, and with the last line torn or whole; the run resumes and comes to the same end.
func TestAKilledRunResumesToTheSameEnd(t *testing.T) {
	whole := newFolder(t)
	var checkpoints [][]byte
	_, err := prepared(t).Start(context.Background(), whole, "test", func(p Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	want := outcome(t, whole)
	read := func(d Folder, name string) []byte {
		b, err := os.ReadFile(d.file(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, round := range []int{0, 5} { // checkpoints as they were after these rounds
		d := newFolder(t)
		ctx, cancel := context.WithCancel(context.Background())
		if round == 0 {
			cancel()
		}
		_, err := prepared(t).Start(ctx, d, "test", func(p Progress) {
			if p.Last.Round == round {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		checkpoints = append(checkpoints, read(d, checkpointFile))
	}
	config, chain, metrics := read(whole, configFile), read(whole, ledgerFile), read(whole, metricsFile)
	lines := slices.Collect(bytes.Lines(chain))
	for at := range checkpoints {
		for kept := []int{0, 10}[at]; kept <= len(lines); kept += 3 {
			for _, torn := range []int{0, 17} {
				d := newFolder(t)
				partial := bytes.Join(lines[:kept], nil)
				if kept < len(lines) {
					partial = append(partial, lines[kept][:torn]...)
				}
				for name, content := range map[string][]byte{configFile: config, ledgerFile: partial, checkpointFile: checkpoints[at], metricsFile: metrics} {
					if err := os.WriteFile(d.file(name), content, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := prepared(t).Resume(context.Background(), d, "test", nil); err != nil {
					t.Fatalf("checkpoint %d, %d lines, %d bytes torn: %v", at, kept, torn, err)
				}
				if outcome(t, d) != want {
					t.Fatalf("checkpoint %d, %d lines, %d bytes torn: another end", at, kept, torn)
				}
			}
		}
	}
}

func TestABrokenLedgerIsNotTrainedOn(t *testing.T) {
	d := newFolder(t)
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := prepared(t).Start(ctx, d, "test", func(Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	path := d.file(ledgerFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ content, want string }{
		"changed":   {strings.Replace(string(good), `"charge"`, `"void"`, 1), "entry 1 was changed"},
		"no JSON":   {"hello\n", "line 1 is broken"},
		"emptied":   {"", "entries are missing"},
		"reordered": {string(good)[strings.Index(string(good), "\n")+1:], "stands where entry 0 belongs"},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := prepared(t).Resume(context.Background(), d, "test", nil)
		if err == nil || !IsInput(err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if now, _ := os.ReadFile(path); string(now) != c.content {
			t.Errorf("%s: the file was touched", name)
		}
	}
}

func TestDivergenceKeepsTheLastGoodModel(t *testing.T) {
	for name, overrides := range map[string][]string{
		"on the client": {"privacy={mechanism: {kind: none}}", "data.partition={kind: iid, clients: 4}", "cohort={sampling: fixed, expected_size: 4}",
			"algorithm={kind: fedavg, local: {lr: 1e38, batch: 10, epochs: 3}}"},
		"on the server": {"algorithm.server={kind: sgd, lr: 1e38}", "model.activation=relu"},
		"out of the grid": {"privacy={mechanism: {kind: none}}", "data.partition={kind: iid, clients: 4}", "cohort={sampling: fixed, expected_size: 4}",
			"algorithm={kind: fedavg, local: {lr: 1e6, batch: 100, steps: 1}}"},
	} {
		d := newFolder(t)
		r, err := prepared(t, overrides...).Start(context.Background(), d, "test", nil)
		if err == nil || !IsInput(err) || !strings.Contains(err.Error(), "stopped in round") || !strings.Contains(err.Error(), "learning rate") {
			t.Errorf("%s: %v", name, err)
		}
		if r.Finished || r.Note == "" || r.Rounds > 3 {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Stat(d.file(modelFile)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFullDiskStopsTheRunAndNamesTheFile(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skipf("Linux has a stand-in for a full disk, this system has none: %v", err)
	}
	for name, fill := range map[string]func(*run, *os.File){
		"ledger": func(r *run, full *os.File) { r.books.file = full }, "metrics": func(r *run, full *os.File) { r.metrics = full },
	} {
		d := newFolder(t)
		f := prepared(t)
		r, err := f.open(d, checkpoint{model: f.Net.Init(f.key.Stream())}, nil)
		if err != nil {
			t.Fatal(err)
		}
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0) // every write to it fails as on a full disk
		if err != nil {
			t.Fatal(err)
		}
		fill(r, full)
		_, err = r.loop(context.Background(), "test")
		if !errors.Is(err, syscall.ENOSPC) || !IsInput(err) {
			t.Errorf("%s on a full disk: %v", name, err)
		}
		if again := r.books.keep([]ledger.Entry{{Kind: ledger.Void, Round: 1}}); name == "ledger" && again == nil {
			t.Error("after a failed flush the ledger was written on")
		}
		for _, result := range []string{resultFile, modelFile, reportFile} {
			if _, err := os.Stat(d.file(result)); err == nil {
				t.Errorf("%s on a full disk: %s was written all the same", name, result)
			}
		}
	}
}

func TestLedgerHoldsAChargeForEveryRelease(t *testing.T) {
	d := newFolder(t)
	f := prepared(t)
	if _, err := f.Start(context.Background(), d, "test", nil); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(d.file(ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entries, _, err := ledger.Read(file)
	if err != nil || len(entries) != 24 {
		t.Fatalf("%d entries for 12 rounds, error %v", len(entries), err)
	}
	for i, e := range entries {
		want := []ledger.Kind{ledger.Reserve, ledger.Charge}[i%2]
		if e.Kind != want || e.Round != i/2+1 || len(e.Costs) != 2 { // against clients and public
			t.Errorf("entry %d: %s of round %d with %d costs", i, e.Kind, e.Round, len(e.Costs))
		}
	}
}

func TestASecondProcessIsKeptOut(t *testing.T) {
	d, f := newFolder(t), prepared(t)
	first := checkpoint{model: f.Net.Init(f.key.Stream())}
	r, err := f.open(d, first, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.open(d, first, nil); err == nil || !IsInput(err) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second one: %v", err)
	}
	if err := r.books.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open(d, first, nil); err != nil {
		t.Errorf("after the first one ended: %v", err)
	}
}

func TestFoldersAreNeverReused(t *testing.T) {
	root := t.TempDir()
	for _, want := range []string{"a-1", "a-2"} {
		d, err := NewFolder(root, "a")
		if err != nil || filepath.Base(d.Path) != want {
			t.Fatalf("%v, %v, want %s", d, err, want)
		}
	}
	if err := os.Remove(filepath.Join(root, "a-1")); err != nil {
		t.Fatal(err)
	}
	if d, err := NewFolder(root, "a"); err != nil || filepath.Base(d.Path) != "a-3" {
		t.Errorf("%v, %v: a number was given twice", d, err)
	}
	if _, err := MakeFolder(filepath.Join(root, "a-2")); err == nil || !IsInput(err) || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("an existing folder: %v", err)
	}
}

func TestPlanSaysWhatTheRunWillState(t *testing.T) {
	for name, overrides := range kinds {
		f := prepared(t, overrides...)
		p, err := f.Plan()
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Start(context.Background(), newFolder(t), "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		planned, _ := json.Marshal(p.Statement)
		stated, _ := json.Marshal(r.Statement)
		if !bytes.Equal(planned, stated) {
			t.Errorf("%s: planned\n%s\nstated\n%s", name, planned, stated)
		}
		if p.Seconds <= 0 || p.MemoryBytes <= 0 || p.BytesUp != r.BytesUp {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
