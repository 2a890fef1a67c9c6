package experiment

import (
	"context"
	"testing"

	"hubbub/internal/algorithm"
	"hubbub/internal/data"
)

// mnist is the real data set, which "hubbub data fetch mnist" gets.
func mnist(b *testing.B, overrides ...string) (c *Config, train, test *data.Set) {
	b.Helper()
	c, err := Load("../../experiments/002/ours.yaml", append([]string{"sweep=null"}, overrides...))
	if err != nil {
		b.Fatal(err)
	}
	if train, test, err = LoadData(c); err != nil {
		b.Skip(err)
	}
	return c, train, test
}

// BenchmarkPaper002 is 50 of paper 002's 250 rounds, from reading the file to the report: 240 clients of one record, 63,610 weights.
func BenchmarkPaper002(b *testing.B) {
	for name, overrides := range map[string][]string{
		"exact":   {"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1}"},
		"minimum": {"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1}", "secagg.noise=minimum", "cohort.min_survivors=200"},
		"rotated": {"privacy.mechanism={kind: skellam, clip: 1, granularity: 0.1, bits: 8, rotate: true}"},
		"smm":     {"privacy.mechanism={kind: smm, clip: 1, granularity: 0.1, rotate: true}"},
		"printed": {"privacy.mechanism={kind: skellam, clip: 1.0, granularity: 0.1, rounding: conditional, k: 5, bound: dsm}"},
	} {
		b.Run(name, func(b *testing.B) {
			c, train, test := mnist(b, append(overrides, "rounds=50")...)
			for b.Loop() {
				f, err := Prepare(c, train, test)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Start(context.Background(), newFolder(b), "bench", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRound is a round of 50 clients with 50 records each, clipped and noised by the server, on one core: one epoch in batches of 10.
func BenchmarkRound(b *testing.B) {
	c, train, test := mnist(b, "data.partition={kind: iid, clients: 1200}", "cohort={sampling: fixed, expected_size: 50}", "secagg=null",
		"privacy={delta: 1e-5, mechanism: {kind: gaussian, place: central, clip: 1, noise_multiplier: 1}}",
		"algorithm={kind: fedavg, local: {lr: 0.1, batch: 10, epochs: 1}, server: {kind: sgd}}")
	f, err := Prepare(c, train, test)
	if err != nil {
		b.Fatal(err)
	}
	crew := newCrew(f)
	crew.workers = crew.workers[:1]
	model := f.Net.Init(f.key.Stream())
	server, err := algorithm.NewOptimizer(c.serverOptimizer(), len(model))
	if err != nil {
		b.Fatal(err)
	}
	cohort, mean := f.sampling.Cohort(1), make([]float32, len(model))
	b.ReportAllocs()
	for b.Loop() {
		sums, err := crew.contributions(context.Background(), f.way.client, 1, model, cohort, nil)
		if err != nil {
			b.Fatal(err)
		}
		f.way.server.ServerNoise(sums[0].Sum, f.key.Stream())
		f.way.server.Decode(mean, sums[0].Sum, 50)
		f.algorithm.ServerGradient(mean)
		server.Step(model, mean, 1)
	}
}
