package experiment

import (
	"context"
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
