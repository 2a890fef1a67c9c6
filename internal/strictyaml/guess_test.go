package strictyaml

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNearestWord(t *testing.T) {
	words := []string{"clip", "kind", "lr", "rounds", "granularity", "noise_multiplier", "seed"}
	tests := []struct{ word, want string }{
		{"rond", "rounds"}, {"round", "rounds"}, {"cilp", "clip"}, {"clpi", "clip"}, {"noiseMultiplier", "noise_multiplier"},
		{"noise-multiplier", "noise_multiplier"}, {"GRANULARTY", "granularity"}, {"LR", "lr"},
		{"rl", ""}, {"l", ""}, {"", ""}, {"epsilon", ""}, {"c", ""}, {"need", "seed"}, {"sampling", ""},
	}
	for _, test := range tests {
		if got, _ := nearest(test.word, words); got != test.want {
			t.Errorf("%q is nearest to %q, want %q", test.word, got, test.want)
		}
	}
}

// slowDistance tries every first step.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	best := min(slowDistance(a[1:], b), slowDistance(a, b[1:]), slowDistance(a[1:], b[1:])) + 1
	if a[0] == b[0] {
		best = min(best, slowDistance(a[1:], b[1:]))
	}
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		best = min(best, slowDistance(a[2:], b[2:])+1)
	}
	return best
}

func TestDistanceIsThatOfTrying(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[abc]{0,5}`).Draw(t, "a")
		b := rapid.StringMatching(`[abc]{0,5}`).Draw(t, "b")
		if got, want := distance(a, b), slowDistance(a, b); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}
