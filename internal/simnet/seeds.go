package simnet

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// SeedVariable names the environment variable that makes [Seeds] run a single seed.
const SeedVariable = "HUBBUB_SEED"

// Seeds runs a test for the seeds 0 ... count-1, or for the one that the environment asks for. The first seed that fails ends
// it and prints the command that replays it.
func Seeds(t *testing.T, count uint64, test func(t *testing.T, seed uint64)) {
	t.Helper()
	first, last := uint64(0), count
	if text := os.Getenv(SeedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%s is no seed", SeedVariable, text)
		}
		first, last = seed, seed+1
	}
	for seed := first; seed < last; seed++ {
		func() {
			defer func() { // runs when the test called FailNow, too
				if t.Failed() {
					t.Logf("replay with: %s", Replay(t.Name(), seed))
				}
			}()
			test(t, seed)
		}()
		if t.Failed() {
			return
		}
	}
}

// Replay is the command that runs one test with one seed.
func Replay(test string, seed uint64) string {
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	return SeedVariable + "=" + strconv.FormatUint(seed, 10) + " go test -v -run '" + pattern + "' ."
}
