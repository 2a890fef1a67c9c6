//go:build slow

package secagg_test

import (
	"math/rand/v2"
	"testing"
)

// The same for cohorts in which not everybody is everybody's neighbour.
func TestEverySeedOfALargeCohortEndsInTheExactSumOrACleanAbort(t *testing.T) {
	ends := runSeeds(t, 12, func(random *rand.Rand) int { return 257 + random.IntN(60) })
	if ends["sum"] == 0 {
		t.Errorf("no sum at all: %s", tally(ends))
	}
}
