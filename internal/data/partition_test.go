package data

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func seeded(seed uint64) rand.Source {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return rand.NewChaCha8(key)
}

// checkPartition is the promise of Partition, said plainly: each of n records once, ascending, no client empty.
func checkPartition(p Partition, n, clients int) error {
	if len(p) != clients {
		return fmt.Errorf("%d clients, want %d", len(p), clients)
	}
	seen := make([]int, n)
	for c, records := range p {
		if len(records) == 0 {
			return fmt.Errorf("client %d is empty", c)
		}
		if !slices.IsSorted(records) {
			return fmt.Errorf("records of client %d are not ascending: %v", c, records)
		}
		for _, i := range records {
			if i < 0 || i >= n {
				return fmt.Errorf("client %d holds record %d of %d", c, i, n)
			}
			seen[i]++
		}
	}
	for i, times := range seen {
		if times != 1 {
			return fmt.Errorf("record %d is held %d times", i, times)
		}
	}
	return nil
}

func same(a, b Partition) bool {
	return slices.EqualFunc(a, b, func(x, y []int) bool { return slices.Equal(x, y) })
}

func sizes(p Partition) (smallest, largest int) {
	smallest = len(p[0])
	for _, records := range p {
		smallest, largest = min(smallest, len(records)), max(largest, len(records))
	}
	return smallest, largest
}

func TestEveryPartitionHoldsEachRecordOnceAndFollowsItsSeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const classes = 5
		labels := rapid.SliceOfN(rapid.Uint8Range(0, classes-1), 1, 300).Draw(t, "labels")
		n := len(labels)
		clients := rapid.IntRange(1, n).Draw(t, "clients")
		each := rapid.IntRange(1, n/clients).Draw(t, "shards or minimum")
		alpha := rapid.SampledFrom([]float64{MinAlpha, 0.1, 1, 100, MaxAlpha}).Draw(t, "alpha")
		seed := rapid.Uint64().Draw(t, "seed")

		for kind, make := range map[string]func(rand.Source) (Partition, error){
			"iid":       func(s rand.Source) (Partition, error) { return IID(n, clients, s) },
			"shards":    func(s rand.Source) (Partition, error) { return Shards(labels, clients, each, s) },
			"dirichlet": func(s rand.Source) (Partition, error) { return Dirichlet(labels, classes, clients, alpha, each, s) },
		} {
			p, err := make(seeded(seed))
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if err := checkPartition(p, n, clients); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if again, _ := make(seeded(seed)); !same(p, again) {
				t.Fatalf("%s: two runs with one seed differ", kind)
			}
			smallest, largest := sizes(p)
			switch kind {
			case "iid":
				if largest-smallest > 1 {
					t.Fatalf("iid: sizes from %d to %d", smallest, largest)
				}
			case "shards":
				if largest-smallest > each {
					t.Fatalf("shards: sizes from %d to %d with %d shards", smallest, largest, each)
				}
			case "dirichlet":
				if smallest < each {
					t.Fatalf("dirichlet: a client with %d records, minimum %d", smallest, each)
				}
			}
		}
	})
}

func TestRecordsMakesEachRecordAClient(t *testing.T) {
	for _, n := range []int{1, 2, 1000} {
		p, err := Records(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPartition(p, n, n); err != nil {
			t.Error(err)
		}
		if p[n-1][0] != n-1 {
			t.Errorf("client %d holds record %d", n-1, p[n-1][0])
		}
	}
}

// balanced lists 10 labels in turn, so a record's label is its number modulo 10.
func balanced(n int) []uint8 {
	labels := make([]uint8, n)
	for i := range labels {
		labels[i] = uint8(i % 10)
	}
	return labels
}

func TestShardsGivesAClientOnlyTheLabelsOfItsShards(t *testing.T) {
	// 400 shards of 150 divide the 6,000 records of each label evenly, so a shard holds one label.
	labels := balanced(60_000)
	p, err := Shards(labels, 100, 4, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	set := &Set{Classes: 10, Labels: labels}
	few := 0
	for c, records := range p {
		kinds := 0
		for label, count := range set.Histogram(records) {
			if count%150 != 0 {
				t.Errorf("client %d has %d records of label %d: not whole shards", c, count, label)
			}
			if count > 0 {
				kinds++
			}
		}
		if len(records) != 600 || kinds > 4 {
			t.Errorf("client %d has %d records of %d labels, want 600 of at most 4", c, len(records), kinds)
		}
		if kinds < 4 {
			few++
		}
	}
	// Four shards out of 400 in 10 labels are all different with probability about 0.51; 100 clients all alike would
	// mean that shards are not dealt at random (chance below 1e-28 either way).
	if few == 0 || few == 100 {
		t.Errorf("%d of 100 clients have fewer than 4 labels: the shards were not dealt at random", few)
	}
}

func TestAnotherSeedGivesAnotherPartition(t *testing.T) {
	labels := balanced(200)
	for kind, make := range map[string]func(rand.Source) (Partition, error){
		"iid":       func(s rand.Source) (Partition, error) { return IID(200, 10, s) },
		"shards":    func(s rand.Source) (Partition, error) { return Shards(labels, 10, 2, s) },
		"dirichlet": func(s rand.Source) (Partition, error) { return Dirichlet(labels, 10, 10, 1, 1, s) },
	} {
		a, errA := make(seeded(1))
		b, errB := make(seeded(2))
		if errA != nil || errB != nil || same(a, b) {
			t.Errorf("%s: seeds 1 and 2 give one partition, or errors %v, %v", kind, errA, errB)
		}
	}
}

// Each record must be equally likely to go to each client. Chi-square over 20 records x 4 clients from 4,000 partitions:
// each record's counts have 3 degrees of freedom; 46 is exceeded with probability 6e-10, so 20 records raise a false
// alarm with probability about 1e-8.
func TestIIDGivesEachRecordToEachClientEquallyOften(t *testing.T) {
	const n, clients, draws = 20, 4, 4000
	var held [n][clients]int
	for seed := range uint64(draws) {
		p, err := IID(n, clients, seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		for c, records := range p {
			for _, i := range records {
				held[i][c]++
			}
		}
	}
	const expected = float64(draws) / clients
	for i, counts := range held {
		chi := 0.0
		for _, k := range counts {
			chi += (float64(k) - expected) * (float64(k) - expected) / expected
		}
		if chi > 46 {
			t.Errorf("record %d went to the clients %v times: chi-square %.1f", i, counts, chi)
		}
	}
}

func TestPartitionersRefuse(t *testing.T) {
	ten := balanced(10)
	dirichlet := func(clients int, alpha float64, minRecords int) func() (Partition, error) {
		return func() (Partition, error) { return Dirichlet(ten, 10, clients, alpha, minRecords, seeded(1)) }
	}
	shards := func(clients, each int) func() (Partition, error) {
		return func() (Partition, error) { return Shards(ten, clients, each, seeded(1)) }
	}
	nan := 0.0
	nan /= nan
	tests := map[string]struct {
		make func() (Partition, error)
		want string
	}{
		"no records":                          {func() (Partition, error) { return Records(0) }, "0 records"},
		"iid without records":                 {func() (Partition, error) { return IID(0, 0, seeded(1)) }, "0 records"},
		"zero clients":                        {func() (Partition, error) { return IID(10, 0, seeded(1)) }, "0 clients: at least 1"},
		"fewer than zero clients":             {shards(-3, 1), "-3 clients: at least 1"},
		"more clients than records":           {func() (Partition, error) { return IID(10, 11, seeded(1)) }, "11 clients for 10 records would leave clients without data: use at most 10 clients"},
		"more shards than records":            {shards(4, 3), "use at most 2 shards per client"},
		"so many shards that 64 bits are few": {shards(4, 1<<62), "use at most 2 shards per client"},
		"zero shards":                         {shards(4, 0), "0 shards per client"},
		"dirichlet with too many clients":     {dirichlet(11, 1, 1), "11 clients for 10 records"},
		"a minimum that cannot be met":        {dirichlet(4, 1, 3), "use a minimum of at most 2, or fewer clients"},
		"a minimum of zero":                   {dirichlet(4, 1, 0), "minimum of 0 records"},
		"alpha zero":                          {dirichlet(4, 0, 1), "alpha 0 outside [0.001, 1e+06]"},
		"alpha below zero":                    {dirichlet(4, -1, 1), "alpha -1 outside"},
		"alpha above its limit":               {dirichlet(4, 1e7, 1), "alpha 1e+07 outside"},
		"alpha that is no number":             {dirichlet(4, nan, 1), "alpha NaN outside"},
		"a label of no class": {func() (Partition, error) { return Dirichlet(ten, 9, 4, 1, 1, seeded(1)) },
			"label 9 of record 9 outside [0, 8]"},
		"no classes": {func() (Partition, error) { return Dirichlet(ten, 0, 4, 1, 1, seeded(1)) }, "0 classes outside"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := test.make()
			if err == nil || !strings.Contains(err.Error(), test.want) || p != nil {
				t.Errorf("partition %v, error %v, want an error with %q", p, err, test.want)
			}
		})
	}
}

// A changed value here means that every seeded run deals its data differently than before: say so in the changelog.
// source: this package's first version.
func TestPartitionsOfASeedStayWhatTheyWere(t *testing.T) {
	labels := balanced(20)
	tests := map[string]struct {
		make func() (Partition, error)
		want string
	}{
		"iid":       {func() (Partition, error) { return IID(20, 4, seeded(7)) }, "[[1 2 4 5 10] [6 15 16 18 19] [9 11 13 14 17] [0 3 7 8 12]]"},
		"shards":    {func() (Partition, error) { return Shards(labels, 4, 2, seeded(7)) }, "[[0 1 9 10 19] [2 5 11 12 14 15] [3 4 7 13 17] [6 8 16 18]]"},
		"dirichlet": {func() (Partition, error) { return Dirichlet(labels, 10, 4, 0.3, 2, seeded(7)) }, "[[0 3 6 12 13 16] [5 9 18 19] [1 2 8 10 14] [4 7 11 15 17]]"},
	}
	for name, test := range tests {
		p, err := test.make()
		if got := fmt.Sprint(p); err != nil || got != test.want {
			t.Errorf("%s: %s (error %v), want %s", name, got, err, test.want)
		}
	}
}
