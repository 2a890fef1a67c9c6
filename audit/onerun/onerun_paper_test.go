package onerun

import (
	"math"
	"testing"
)

// Values at 95% and delta 1e-5 of the formulas of [SNJ23] and [MMC24], from an independent implementation.
func TestBoundsMatchKnownValues(t *testing.T) {
	for _, c := range []struct {
		name         string
		guesses      Guesses
		epsilon, fdp float64 // fdp 0: not known
	}{
		{"160 of 200 correct, 1000 canaries", Guesses{1000, 200, 160}, 1.085, 1.729},
		{"all of 100 correct", Guesses{100, 100, 100}, 3.490, 0},
		{"all of 1000 correct", Guesses{1000, 1000, 1000}, 5.782, 0},
		{"half correct shows nothing", Guesses{1000, 200, 100}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := c.guesses.Bound(1e-5, .95)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(b.Epsilon-c.epsilon) > 1e-3 {
				t.Errorf("epsilon %.6f, want %.3f", b.Epsilon, c.epsilon)
			}
			if c.fdp > 0 && math.Abs(b.EpsilonFDP-c.fdp) > 1e-3 {
				t.Errorf("epsilon by the trade-off %.6f, want %.3f", b.EpsilonFDP, c.fdp)
			}
		})
	}
}
