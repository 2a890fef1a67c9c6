package experiment

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// refused are configurations that must not be run. The messages are in testdata/refused.txt, reviewed as text.
var refused = []struct {
	name string
	file string // a whole file; empty: base
	sets []string
}{
	{name: "an unknown key", file: base + "learning_rate: 3\n"},
	{name: "a key of another tool", file: strings.Replace(base, "clip: 1", "max_grad_norm: 1", 1)},
	{name: "a misspelt kind", sets: []string{"privacy.mechanism.kind=gausian"}},
	{name: "a wrong type", file: strings.Replace(base, "rounds: 12", "rounds: twelve", 1)},
	{name: "half a round", file: strings.Replace(base, "rounds: 12", "rounds: 12.5", 1)},
	{name: "no rounds", sets: []string{"rounds=0"}},
	{name: "privacy left out", file: base[:strings.Index(base, "privacy:")]},
	{name: "a name that is no folder", sets: []string{"name=../../etc"}},
	{name: "zero clients", sets: []string{"data.partition={kind: iid, clients: 0}"}},
	{name: "more clients than records", sets: []string{"data.partition={kind: iid, clients: 601}"}},
	{name: "clients where records are clients", sets: []string{"data.partition.clients=5"}},
	{name: "more shards than records", sets: []string{"data.partition={kind: shards, clients: 300, shards_per_client: 3}"}},
	{name: "alpha zero", sets: []string{"data.partition={kind: dirichlet, clients: 3}"}},
	{name: "a client that would have no data", sets: []string{"data.partition={kind: dirichlet, clients: 300, alpha: 0.1, min_records: 3}"}},
	{name: "a cohort larger than the population", file: strings.Replace(base, "expected_size: 100", "expected_size: 601", 1)},
	{name: "half a client", sets: []string{"cohort={sampling: fixed, expected_size: 10.5}"}},
	{name: "more survivors than the cohort", sets: []string{"cohort={sampling: fixed, expected_size: 10, min_survivors: 11}"}},
	{name: "no clip", sets: []string{"privacy.mechanism.clip=0"}},
	{name: "a negative clip", file: strings.Replace(base, "clip: 1", "clip: -1", 1)},
	{name: "no noise", sets: []string{"privacy.mechanism.noise_multiplier=0"}},
	{name: "no delta", sets: []string{"privacy.delta=null"}},
	{name: "delta of one", sets: []string{"privacy.delta=1"}},
	{name: "neither target nor noise", sets: []string{"privacy.mechanism.noise_multiplier=null"}},
	{name: "target and noise", sets: []string{"privacy.target={epsilon: 3, delta: 1e-5}"}},
	{name: "a target of zero", sets: []string{"privacy.mechanism.noise_multiplier=null", "privacy.delta=null", "privacy.target={epsilon: 0, delta: 1e-5}"}},
	{name: "central noise against the server", sets: []string{"privacy.mechanism.noise_multiplier=null", "privacy.delta=null", "privacy.target={epsilon: 3, delta: 1e-5, against: server}"}},
	{name: "a place left out", file: strings.Replace(base, "place: central, ", "", 1)},
	{name: "records by Gaussian noise", sets: []string{"privacy.unit=record"}},
	{name: "clients by dpsgd, without local training", sets: []string{"privacy.mechanism={kind: dpsgd, clip: 1, noise_multiplier: 1}"}},
	{name: "fedavg without local training", sets: []string{"algorithm={kind: fedavg}"}},
	{name: "fedavg with epochs and steps", sets: []string{"algorithm={kind: fedavg, local: {lr: 1, batch: 2, epochs: 1, steps: 1}}"}},
	{name: "fedsgd with local training", sets: []string{"algorithm.local={lr: 1, batch: 2, epochs: 1}"}},
	{name: "settings of a mechanism beside none", sets: []string{"privacy={delta: 1e-5, mechanism: {kind: none, clip: 1}}"}},
	{name: "a target for what has no guarantee", sets: append(slices.Clone(kinds["adaptive"]), "privacy.target={epsilon: 3, delta: 1e-5}")},
	{name: "adaptive without noise", sets: append(slices.Clone(kinds["adaptive"]), "privacy.mechanism.sigma0=0")},
	{name: "adaptive for records, by single gradients", sets: append(slices.Clone(kinds["adaptive"]), "privacy.unit=record", "algorithm={kind: fedsgd}")},
	{name: "a clip for intervals", sets: append(slices.Clone(kinds["adaptive"]), "privacy.mechanism.clip=1")},
	{name: "a truncation that is no number for noise", sets: append(slices.Clone(kinds["adaptive"]), "privacy.mechanism.beta=1e-12")},
	{name: "intervals without a cap", sets: append(slices.Clone(kinds["adaptive-released"]), "privacy.mechanism.largest=null")},
	{name: "intervals that could vanish", sets: append(slices.Clone(kinds["adaptive-released"]), "privacy.mechanism.smallest=null")},
	{name: "a smallest interval above the largest", sets: append(slices.Clone(kinds["adaptive-released"]), "privacy.mechanism.smallest=1")},
	{name: "a reading of the sound variant", sets: append(slices.Clone(kinds["adaptive-released"]), "privacy.mechanism.reading=one")},
	{name: "secure aggregation of intervals", sets: append(slices.Clone(kinds["adaptive-released"]), "secagg={kind: ideal}")},
	{name: "an unreachable target for intervals", sets: append(slices.Clone(kinds["adaptive-released"]), "privacy.delta=null", "privacy.mechanism.sigma0=null", "privacy.target={epsilon: 1e-9, delta: 1e-15, against: server}")},
	{name: "a budget that is none", sets: append(slices.Clone(kinds["adaptive"]), "privacy.mechanism.budget={epsilon: 0, delta: 1e-5}")},
	{name: "a budget for the sound variant", sets: append(slices.Clone(kinds["adaptive-released"]), "privacy.mechanism.budget={epsilon: 1, delta: 1e-5}")},
	{name: "an estimate of nothing", sets: append(slices.Clone(kinds["estimated from the largest"]), "privacy.mechanism.estimate=null")},
	{name: "a target for an estimate", sets: append(slices.Clone(kinds["estimated from the largest"]), "privacy.target={epsilon: 3, delta: 1e-5}")},
	{name: "an estimate for clients", sets: append(slices.Clone(kinds["estimated from the largest"]), "privacy.unit=client")},
	{name: "noise that falls for some of the clients", sets: append(slices.Clone(kinds["dpsgd with less and less noise"]), "cohort.expected_size=5")},
	{name: "noise that rises first", sets: append(slices.Clone(kinds["dpsgd with less and less noise"]), "privacy.mechanism.schedule.warmup=3")},
	{name: "noise that falls by an unknown part", sets: append(slices.Clone(kinds["dpsgd with less and less noise"]), "privacy.mechanism.schedule={kind: step}")},
	{name: "water-filling with a cohort of some", sets: append(slices.Clone(kinds["waterfill"]), "cohort.expected_size=5")},
	{name: "water-filling with a cohort by coins", sets: append(slices.Clone(kinds["waterfill"]), "cohort.sampling=poisson")},
	{name: "water-filling with uneven clients", sets: append(slices.Clone(kinds["waterfill"]), "data.partition.clients=7", "cohort.expected_size=7")},
	{name: "water-filling with local training", sets: append(slices.Clone(kinds["waterfill"]), "algorithm={kind: fedavg, local: {lr: 1, batch: 2, epochs: 1}}")},
	{name: "groups of records where gradients are mixed", sets: append(slices.Clone(kinds["waterfill"]), "privacy.mechanism.groups=5")},
	{name: "more groups than records", sets: append(slices.Clone(kinds["waterfill of updates"]), "privacy.mechanism.groups=61")},
	{name: "water-filling for clients", sets: append(slices.Clone(kinds["waterfill"]), "privacy.unit=client")},
	{name: "water-filling without a method", sets: append(slices.Clone(kinds["waterfill"]), "privacy.mechanism.method=null")},
	{name: "water-filling, and nothing said of sums", sets: append(slices.Clone(kinds["waterfill"]), "secagg=null")},
	{name: "water-filling in shares", sets: append(slices.Clone(kinds["waterfill"]), "secagg.noise=minimum")},
	{name: "a batch larger than the records", sets: append(slices.Clone(kinds["waterfill by samples"]), "privacy.mechanism.batch=61")},
	{name: "a batch where all records are used", sets: append(slices.Clone(kinds["waterfill"]), "privacy.mechanism.method=gd-dp")},
	{name: "a leash for fedavg", sets: []string{"algorithm={kind: fedavg, mu: 1, local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "fedprox without a leash", sets: []string{"algorithm={kind: fedprox, local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "a leash by another name", sets: []string{"algorithm={kind: fedprox, proximal_mu: 1, local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "a helper model for fedavg", sets: []string{"algorithm={kind: fedavg, helper: identity, alphas: [1], local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "a part of the global model beside all of it", sets: []string{"algorithm={kind: prifedsync, helper: identity, alpha: 0.1, local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "helpers that nothing is known of", sets: []string{"algorithm={kind: prifedsync, helper: attention, local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "helpers per client, and no parts", sets: []string{"algorithm={kind: prifedsync, helper: per-client, local: {lr: 0.1, batch: 10, epochs: 1}}", "privacy={mechanism: {kind: none}}"}},
	{name: "more parts than clients", sets: []string{"algorithm={kind: prifedsync, helper: per-client, alphas: [0.1, 0.2, 0.3, 0.4], local: {lr: 0.1, batch: 10, epochs: 1}}", "privacy={mechanism: {kind: none}}", "data.partition={kind: iid, clients: 3}", "cohort.expected_size=3"}},
	{name: "a part above one", sets: []string{"algorithm={kind: prifedsync, helper: per-client, alphas: [0.1, 1.5], local: {lr: 0.1, batch: 10, epochs: 1}}"}},
	{name: "local training for fedsgd", sets: []string{"algorithm.local={lr: 0.1, batch: 10, epochs: 1}"}},
	{name: "momentum of sgd", sets: []string{"algorithm.server={kind: sgd, beta: 0.9}"}},
	{name: "two decays of momentum, by the name of another library", sets: []string{"algorithm.server={kind: momentum, beta2: 0.9, adam_epsilon: 1}"}},
	{name: "an optimizer that is not there", sets: []string{"algorithm.server.kind=fedyogi"}},
	{name: "weight decay that leaves nothing", sets: []string{"algorithm.server={kind: sgd, lr: 2, weight_decay: 0.5}"}},
	{name: "a schedule with the keys of another", sets: []string{"algorithm.server.schedule={kind: cosine, every: 3, drop: 0.5}"}},
	{name: "steps without an amount", sets: []string{"algorithm.server.schedule={kind: step}"}},
	{name: "a warmup that never ends", sets: []string{"algorithm.server.schedule={kind: linear, warmup: 12}"}},
	{name: "a leash for the printed paper", sets: append(slices.Clone(kinds["adaptive"]), "algorithm.kind=fedprox", "algorithm.mu=1")},
	{name: "an optimizer that the printed paper does not know", sets: append(slices.Clone(kinds["adaptive"]), "algorithm.local={kind: adagrad, lr: 0.1, batch: 5, steps: 4, weight_decay: 0.1}")},
	{name: "hidden layers of a cnn", sets: []string{"model={kind: cnn, hidden: [80]}"}},
	{name: "layers of a perceptron", sets: []string{"model.layers=[{kind: relu}]"}},
	{name: "no layers at all", sets: []string{"model={kind: layers}"}},
	{name: "a layer by another name", sets: []string{"model={kind: layers, layers: [{kind: dense, out_features: 8}]}"}},
	{name: "batch normalisation", sets: []string{"model={kind: layers, layers: [{kind: conv, filters: 4, size: 2}, {kind: batchnorm}]}"}},
	{name: "a layer that is not there", sets: []string{"model={kind: layers, layers: [{kind: lstm}]}"}},
	{name: "a window wider than the picture", sets: []string{"model={kind: layers, layers: [{kind: relu}, {kind: conv, filters: 4, size: 5}]}"}},
	{name: "a picture too small for the network", sets: []string{"model={kind: cifar}"}},
	{name: "a hidden layer of nothing", sets: []string{"model.hidden=[80, 0]"}},
	{name: "an unknown data set", sets: []string{"data.name=mnits"}},
	{name: "shares without secure aggregation", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9}"}},
	{name: "exact noise on single contributions", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9}", "secagg={kind: none}"}},
	{name: "shares for nobody", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9}", "secagg={kind: ideal, noise: minimum}"}},
	{name: "too few bits", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, bits: 4, rate: 9}", "secagg={kind: ideal}"}},
	{name: "hopeless rounding", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 5, rounding: conditional, k: 1, rate: 9}", "secagg={kind: ideal}"}},
	{name: "no grid", sets: []string{"privacy.mechanism={kind: ddgauss, clip: 1, sigma2: 9}", "secagg={kind: ideal}"}},
	{name: "k without conditional rounding", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, k: 5, rate: 9}", "secagg={kind: ideal}"}},
	{name: "a rate for Gaussian noise", sets: []string{"privacy.mechanism={kind: gaussian, place: central, clip: 1, rate: 9}"}},
	{name: "secure aggregation for Gaussian noise", sets: []string{"secagg={kind: ideal}"}},
	{name: "masks over a committee's noise", sets: []string{"privacy.mechanism={kind: ddgauss, clip: 1, granularity: 0.1, sigma2: 9}", "secagg={kind: masked}"}},
	{name: "colluders where nothing is hidden", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9}", "secagg={kind: none, noise: minimum, max_colluders: 0.1}", "cohort.min_survivors=9"}},
	{name: "nobody honest left", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9}", "secagg={kind: masked, max_colluders: 0.5, max_dropouts: 0.5}"}},
	{name: "overflow without bits", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9, overflow: allow}", "secagg={kind: ideal}"}},
	{name: "a cohort too small to hide in", sets: []string{"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, rate: 9}", "secagg={kind: masked}", "cohort.expected_size=2"}},
	{name: "a sweep planned as one experiment", sets: []string{"sweep={rounds: [1, 2]}"}},
	{name: "own data from nowhere", sets: []string{"data.name=own"}},
	{name: "own data that is not there", sets: []string{"data.name=own", "data.from=testdata/gone"}},
	{name: "a folder for a data set that is known", sets: []string{"data.from=here", "data.label=y"}},
	{name: "a scale of three numbers", sets: []string{"data.name=own", "data.from=testdata", "data.scale=[0, 1, 2]"}},
	{name: "a folder without data", sets: []string{"data.name=own", "data.from=testdata"}},
	{name: "own data that was changed", sets: []string{"data.name=own", "data.from=testdata/own", "data.sha256=00ff"}},
	{name: "an empty file", file: "\n"},
}

func TestRefusalsSayWhatToChange(t *testing.T) {
	var out bytes.Buffer
	for _, c := range refused {
		file := c.file
		if file == "" {
			file = base
		}
		config, err := Parse("test.yaml", []byte(file), c.sets)
		if err == nil && config.Data.Name != "mnist" {
			_, _, err = LoadData(config)
		} else if err == nil {
			_, err = Prepare(config, blobs(1, 600), blobs(2, 200))
		}
		if err == nil {
			t.Errorf("%s was accepted", c.name)
			continue
		}
		if !IsInput(err) {
			t.Errorf("%s: %v is not marked as an error of the input", c.name, err)
		}
		fmt.Fprintf(&out, "# %s\n%s\n\n", c.name, err)
	}
	golden(t, "refused.txt", out.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run the test with -update and review the change\n%s", path, got)
	}
}

func TestTheResolvedConfigurationIsTheSameExperiment(t *testing.T) {
	for name, overrides := range kinds {
		c, err := Parse("test.yaml", []byte(base), overrides)
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("config.yaml", text, nil)
		if err != nil {
			t.Errorf("%s: the resolved file is refused: %v\n%s", name, err, text)
			continue
		}
		first, _ := c.Hash()
		second, _ := again.Hash()
		if first != second {
			t.Errorf("%s: the hash changed", name)
		}
	}
}

func TestExamplesAreValid(t *testing.T) {
	var files []string
	err := filepath.WalkDir("../../examples", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".yaml" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples found: %v", len(files), err)
	}
	for _, file := range files {
		if _, err := Load(file, nil); err != nil {
			t.Errorf("%v", err)
		}
	}
}
