package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hubbub/internal/data"
)

// subjects are small experiments, one for each kind of mechanism that claims a guarantee: few weights, so that a million trials take
// seconds, but checked, calibrated, built and priced as any other experiment is.
var subjects = map[string]string{
	"gaussian":          `mechanism: {kind: gaussian, place: central, clip: 1}` + target("public"),
	"laplace":           `mechanism: {kind: laplace, place: central, clip: 1}` + target("public"),
	"skellam":           `mechanism: {kind: skellam, clip: 1, granularity: 0.1}` + target("server") + aggregated,
	"ddgauss":           `mechanism: {kind: ddgauss, clip: 1, granularity: 0.1}` + target("server") + aggregated,
	"smm":               `mechanism: {kind: smm, clip: 1, granularity: 1}` + target("server") + aggregated,
	"binomial":          `mechanism: {kind: binomial, clip: 1, granularity: 0.1}` + target("server") + aggregated,
	"dpsgd":             `unit: record, mechanism: {kind: dpsgd, clip: 1}` + target("server") + locally,
	"adaptive-released": `mechanism: {kind: adaptive-released, follow: weights, smallest: 0.01, largest: 0.02}` + target("server") + locally,
	"waterfill":         `unit: record, mechanism: {kind: waterfill, method: gsgd-dp, batch: 2, clip: 1}` + target("server") + "}\nsecagg: {kind: ideal",
}

const (
	aggregated = "}\nsecagg: {kind: ideal, noise: exact"
	locally    = "}\nalgorithm: {kind: fedavg, local: {kind: sgd, lr: 1, batch: 2, steps: 1}, server: {kind: sgd, lr: 1}"
)

func target(against string) string {
	return fmt.Sprintf(", target: {epsilon: 2, delta: 1e-5, against: %s}", against)
}

// Variant is a kind with some of its settings changed.
type Variant struct {
	Name    string
	Kind    string
	Changed []string
}

// Variants are what an audit of everything goes through: each way in which a mechanism claims a guarantee.
var Variants = []Variant{
	{"gaussian, trusted server", "gaussian", nil},
	{"gaussian, each client", "gaussian", byEachClient},
	{"laplace, trusted server", "laplace", nil},
	{"laplace, each client", "laplace", byEachClient},
	{"skellam", "skellam", nil},
	{"skellam, rotated", "skellam", []string{"privacy.mechanism.rotate=true"}},
	{"skellam, conditional rounding", "skellam", []string{"privacy.mechanism.rounding=conditional", "privacy.mechanism.k=2"}},
	{"skellam, paper 002's proof", "skellam", []string{"privacy.mechanism.rounding=conditional", "privacy.mechanism.k=2", "privacy.mechanism.bound=dsm"}},
	{"skellam, server sees contributions", "skellam", []string{"secagg={kind: none, noise: minimum}", "cohort.min_survivors=8"}},
	{"discrete gaussian", "ddgauss", nil},
	{"skellam mixture", "smm", nil},
	{"binomial", "binomial", nil},
	{"DP-SGD", "dpsgd", nil},
	{"adaptive, from releases", "adaptive-released", nil},
	{"water-filling", "waterfill", nil},
	{"gradient sampling, isotropic", "waterfill", []string{"privacy.mechanism.method=gsgd-isotropic"}},
	{"sampled gradients and noise", "waterfill", []string{"privacy.mechanism.method=sgd-dp"}},
	{"all gradients and noise", "waterfill", []string{"privacy.mechanism={kind: waterfill, method: gd-dp, clip: 1}"}},
}

var byEachClient = []string{"privacy.mechanism.place=local", "privacy.target.against=server"}

// AuditKinds are the kinds of mechanism that can be audited.
func AuditKinds() []string { return slices.Sorted(maps.Keys(subjects)) }

const (
	subjectClients = 8
	subjectRecords = 4 // of each client
	mixingClients  = 2 // of waterfill, whose clients take long
)

// subject prepares a small experiment. Features decide the number of weights, 2·features + 2.
func subject(kind string, features int, overrides []string) (*Federation, error) {
	privacy, ok := subjects[kind]
	if !ok {
		return nil, inputError("audit: no mechanism %q claims a guarantee: one of %s", kind, strings.Join(AuditKinds(), ", "))
	}
	clients := subjectClients
	if kind == "waterfill" {
		clients = mixingClients
	}
	text := fmt.Sprintf(`name: audit
data: {name: audit, partition: {kind: iid, clients: %d}}
model: {kind: mlp, hidden: []}
cohort: {sampling: fixed, expected_size: %d}
rounds: 1
privacy: {%s}
`, clients, clients, privacy)
	if !strings.Contains(text, "\nalgorithm:") {
		text += "algorithm: {kind: fedsgd}\n"
	}
	c, err := Parse("the audit of "+kind, []byte(text), overrides)
	if err != nil {
		return nil, err
	}
	train := &data.Set{Name: "audit", Shape: []int{1, 1, features}, Classes: 2, Labels: make([]uint8, clients*subjectRecords)}
	train.Features = make([]float32, train.Len()*features)
	test := train.Head(1)
	return Prepare(c, train, test)
}
