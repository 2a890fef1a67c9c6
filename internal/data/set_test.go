package data

import (
	"slices"
	"testing"
)

// fourRecords has shape 1x1x2 and classes 0, 1, 2, of which 2 has no record.
func fourRecords() *Set {
	return &Set{
		Name: "four", Shape: []int{1, 1, 2}, Classes: 3,
		Features: []float32{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1},
		Labels:   []uint8{1, 0, 1, 1},
	}
}

func TestHeadIsAViewOfTheFirstRecords(t *testing.T) {
	for _, test := range []struct{ n, want int }{{-1, 0}, {0, 0}, {1, 1}, {3, 3}, {4, 4}, {5, 4}} {
		set := fourRecords()
		head := set.Head(test.n)
		if head.Len() != test.want || len(head.Features) != 2*test.want || head.Dim() != 2 || head.Classes != 3 {
			t.Errorf("Head(%d) has %d records and %d features, want %d records", test.n, head.Len(), len(head.Features), test.want)
		}
		if head.Len() > 0 && &head.Features[0] != &set.Features[0] {
			t.Errorf("Head(%d) copied the features", test.n)
		}
		// Growing the view must not write over the records behind it.
		_ = append(head.Features, 9)
		_ = append(head.Labels, 9)
		if !slices.Equal(set.Features, fourRecords().Features) || !slices.Equal(set.Labels, fourRecords().Labels) {
			t.Errorf("growing Head(%d) changed the set", test.n)
		}
	}
}

func TestHistogramCountsTheGivenRecords(t *testing.T) {
	set := fourRecords()
	tests := map[string]struct{ records, want []int }{
		"all records":       {[]int{0, 1, 2, 3}, []int{1, 3, 0}},
		"some records":      {[]int{1, 3}, []int{1, 1, 0}},
		"no record at all":  {nil, []int{0, 0, 0}},
		"a record is twice": {[]int{2, 2}, []int{0, 2, 0}},
	}
	for name, test := range tests {
		if got := set.Histogram(test.records); !slices.Equal(got, test.want) {
			t.Errorf("%s: histogram %v, want %v", name, got, test.want)
		}
	}
}
