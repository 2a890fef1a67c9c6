//go:build slow

package mechanism

import (
	"fmt"
	"testing"
)

// A million weights, every mechanism, with and without rotation, from shares and from a committee; see checkSums.
func TestAMillionWeightsDecodeInEveryVariant(t *testing.T) {
	for _, mechanism := range integers {
		for _, rotate := range []bool{false, true} {
			for _, source := range []Source{ByShares, Exact} {
				t.Run(fmt.Sprintf("%s %v %s", mechanism.name, rotate, source), func(t *testing.T) {
					m, err := mechanism.make(1_000_000, rotate, source)
					if err != nil {
						t.Fatal(err)
					}
					checkSums(t, m, 1_000_000)
				})
			}
		}
	}
}
