package experiment

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"hubbub/noise"
)

func TestFollowingComesToTheModelsOfTheRun(t *testing.T) {
	for _, name := range []string{"waterfill", "waterfill of updates", "skellam"} {
		f, d := prepared(t, kinds[name]...), newFolder(t)
		if _, err := f.Start(context.Background(), d, "test", nil); err != nil {
			t.Fatal(err)
		}
		kept, err := d.readCheckpoint(f.Hash, f.Net.Size())
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		err = f.Follow(context.Background(), kept.round, func(round int, model []float32) error {
			if round != seen {
				t.Errorf("%s: round %d after %d", name, round, seen-1)
			}
			seen++
			if same := slices.Equal(model, kept.model); same != (round == kept.round) {
				t.Errorf("%s: the model after round %d of %d is that of the run: %t", name, round, kept.round, same)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if seen != kept.round+1 {
			t.Errorf("%s: %d models of %d rounds", name, seen, kept.round)
		}
	}
	stop := errors.New("enough")
	if err := prepared(t, kinds["waterfill"]...).Follow(context.Background(), 3, func(int, []float32) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the viewer became %v", err)
	}
}

// Rows are those of single records, and of single lists of records, none longer than the clip.
func TestGradientsAndUpdatesAreRowByRow(t *testing.T) {
	f := prepared(t, append(slices.Clone(kinds["waterfill"]), "privacy.mechanism.clip=0.1")...)
	model := f.Net.Init(f.key.Stream())
	size := len(model)
	together, err := f.Gradients(model, []int{5, 9, 5})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := f.Gradients(model, []int{9})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(together[size:2*size], alone) || !slices.Equal(together[:size], together[2*size:]) || slices.Equal(together[:size], alone) {
		t.Error("rows are not the gradients of their records")
	}
	if got := length(alone); got > .1*(1+1e-6) || got < .1*(1-1e-6) {
		t.Errorf("a long gradient was clipped to %g, want 0.1", got)
	}
	trained := prepared(t, kinds["waterfill of updates"]...)
	updates, err := trained.Updates(model, 1, [][]int{{1, 2, 3}, {4, 5, 6}}, noise.Seeded(4))
	if err != nil {
		t.Fatal(err)
	}
	if len(updates) != 2*size || slices.Equal(updates[:size], updates[size:]) || length(updates[:size]) == 0 {
		t.Error("rows are not the updates of their lists")
	}
}

func length(x []float32) float64 {
	square := 0.0
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	return math.Sqrt(square)
}
