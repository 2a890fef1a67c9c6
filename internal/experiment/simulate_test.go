package experiment

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"hubbub/internal/kernel"
)

// What a client would compute and send by itself is what the simulation, which computes many at once, adds up.
func TestClientsComputedTogetherSendWhatTheyWouldAlone(t *testing.T) {
	for _, kind := range []string{"skellam", "skellam in shares", "discrete gaussian", "mixture", "binomial"} {
		alone, together := newFolder(t), newFolder(t)
		f := prepared(t, kinds[kind]...)
		if f.gradients == nil {
			t.Fatalf("%s: clients are computed one by one", kind)
		}
		if _, err := f.Start(context.Background(), together, "test", nil); err != nil {
			t.Fatal(err)
		}
		f = prepared(t, kinds[kind]...)
		f.gradients = nil
		if _, err := f.Start(context.Background(), alone, "test", nil); err != nil {
			t.Fatal(err)
		}
		if outcome(t, alone) != outcome(t, together) {
			t.Errorf("%s: another end", kind)
		}
	}
}

// Whatever a round allocates, it is not for each client.
func TestAClientAllocatesNothing(t *testing.T) {
	if underRace {
		t.Skip("allocations are counted without the race detector")
	}
	if cpu, _ := kernel.CPU(); cpu != "avx512" {
		t.Skip("the standard library's cipher, which stands in for ours, allocates for each key")
	}
	for name, overrides := range kinds {
		if name == "adaptive" || strings.HasPrefix(name, "personal models") || strings.HasPrefix(name, "waterfill") || strings.HasPrefix(name, "estimated") {
			continue // they keep copies of all weights, a model, or a matrix of gradients for each client, or stand in for others' work
		}
		f := prepared(t, overrides...)
		crew := newCrew(f)
		crew.workers = crew.workers[:1]
		model := f.Net.Init(f.key.Stream())
		way, err := f.wayAfter(model, nil)
		if err != nil {
			t.Fatal(err)
		}
		allocations := func(clients int) float64 {
			cohort := make([]int, clients)
			for i := range cohort {
				cohort[i] = i % len(f.Parts)
			}
			after, err := f.afterEach(1, model, clients, 0)
			if err != nil {
				t.Fatal(err)
			}
			return testing.AllocsPerRun(5, func() {
				if _, err := crew.contributions(context.Background(), way.client, 1, model, cohort, after); err != nil {
					t.Fatal(err)
				}
			})
		}
		few, many := allocations(8), allocations(72)
		if (many-few)/64 > 0.2 { // a few for each batch of clients
			t.Errorf("%s: %g allocations for 8 clients, %g for 72", name, few, many)
		}
	}
}

// Sixty thousand clients take little more than their data, and no more from round to round.
func TestMemoryDoesNotGrowWithThePopulation(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	c, err := Parse("test.yaml", []byte(base), append(kinds["skellam"], "rounds=12", "evaluate_every=12", "cohort.expected_size=240"))
	if err != nil {
		t.Fatal(err)
	}
	const clients = 60_000
	train, test := blobs(1, clients), blobs(2, 200)
	before := heap()
	f, err := Prepare(c, train, test)
	if err != nil {
		t.Fatal(err)
	}
	var early, late int64
	_, err = f.Start(context.Background(), newFolder(t), "test", func(p Progress) {
		switch p.Last.Round {
		case 3:
			early = heap()
		case 11:
			late = heap()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if each := float64(early-before) / clients; each > 100 { // which records it has, and how often it took part
		t.Errorf("a client takes %.0f bytes beside its data", each)
	}
	if grown := late - early; grown > 1<<18 {
		t.Errorf("%d bytes more after eight rounds", grown)
	}
	runtime.KeepAlive(train)
}
