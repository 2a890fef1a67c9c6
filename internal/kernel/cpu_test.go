package kernel

import (
	"os"
	"strings"
	"testing"
)

func TestTheWishForInstructionsIsFollowedOrRefused(t *testing.T) {
	for _, c := range []struct {
		name, wish string
		best, want int
		refusal    string // part of the error
	}{
		{"no wish takes the best", "", avx512, avx512, ""},
		{"less than the best is granted", "generic", avx512, generic, ""},
		{"the best itself is granted", "avx2", avx2, avx2, ""},
		{"more than there is falls back and says so", "avx512", avx2, avx2, "no more than avx2"},
		{"an unknown name falls back and lists the known", "sse9", avx2, avx2, "generic, avx2, avx512"},
		{"names are exact", "AVX2", avx512, avx512, `"AVX2"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := chooseCPU(c.wish, c.best)
			if got != c.want {
				t.Errorf("%s, want %s", cpuNames[got], cpuNames[c.want])
			}
			if (err != nil) != (c.refusal != "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("error %v, want one with %q", err, c.refusal)
			}
		})
	}
}

func TestCPUIsWhatTheEnvironmentAsksFor(t *testing.T) {
	name, err := CPU()
	if wish := os.Getenv(cpuVariable); wish != "" && err == nil && name != wish {
		t.Errorf("%s is in use, %s=%s", name, cpuVariable, wish)
	}
}
