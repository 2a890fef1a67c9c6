package experiment

import (
	"context"
	"strings"
	"testing"
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
	for name, overrides := range kinds {
		if name == "adaptive" || strings.HasPrefix(name, "waterfill") {
			continue // as printed they keep float64 copies of all weights, or matrices of gradients, for each client
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
			return testing.AllocsPerRun(5, func() {
				if _, err := crew.contributions(context.Background(), way.client, 1, model, cohort); err != nil {
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
