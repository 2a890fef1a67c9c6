package claims

import (
	"testing"
	"time"
)

func TestEvidenceSupportsEveryVerdict(t *testing.T) {
	for _, c := range All() {
		if !c.Runs() {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			start := time.Now()
			e, err := c.Run()
			if err != nil {
				t.Error(err)
			}
			t.Logf("%s\n\tclaimed %v\n\tfound   %v\n\t%v", e.Ran, e.Claimed, e.Found, time.Since(start))
		})
	}
}
