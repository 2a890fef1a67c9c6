package data

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Partition says who holds what: Partition[c] lists the records of client c, ascending. Each record of the set occurs
// exactly once and no client is empty.
type Partition [][]int

// Records makes each of n records a client of its own.
func Records(n int) (Partition, error) {
	if err := checkClients(n, n); err != nil {
		return nil, err
	}
	return deal(count(n), n), nil
}

// IID deals n records to the clients at random; sizes differ by at most one.
func IID(n, clients int, source rand.Source) (Partition, error) {
	if err := checkClients(n, clients); err != nil {
		return nil, err
	}
	return sorted(deal(rand.New(source).Perm(n), clients)), nil
}

// Shards sorts the records by label, cuts them into clients*shardsPerClient shards whose sizes differ by at most one, and
// gives each client shardsPerClient of them at random, so that most clients see few labels ([MMRHA17], section 3). Records
// of one label keep the order of the set.
func Shards(labels []uint8, clients, shardsPerClient int, source rand.Source) (Partition, error) {
	n := len(labels)
	if err := checkClients(n, clients); err != nil {
		return nil, err
	}
	if shardsPerClient < 1 {
		return nil, fmt.Errorf("data: %d shards per client: give each client at least 1", shardsPerClient)
	}
	if shardsPerClient > n/clients { // never multiplies, so never overflows
		return nil, fmt.Errorf("data: %d clients with %d shards each need more shards than there are records (%d): "+
			"use at most %d shards per client", clients, shardsPerClient, n, n/clients)
	}
	records := count(n)
	slices.SortStableFunc(records, func(a, b int) int { return int(labels[a]) - int(labels[b]) })
	shards := deal(records, clients*shardsPerClient)

	parts := make(Partition, clients)
	for i, s := range rand.New(source).Perm(len(shards)) {
		c := i / shardsPerClient
		parts[c] = append(parts[c], shards[s]...)
	}
	return sorted(parts), nil
}

// checkClients refuses a number of clients that would leave one without data.
func checkClients(records, clients int) error {
	switch {
	case records < 1:
		return fmt.Errorf("data: %d records: there is nothing to deal out to clients", records)
	case clients < 1:
		return fmt.Errorf("data: %d clients: at least 1 is needed", clients)
	case clients > records:
		return fmt.Errorf("data: %d clients for %d records would leave clients without data: use at most %d clients",
			clients, records, records)
	}
	return nil
}

// count lists 0 ... n-1.
func count(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// deal cuts records, in order, into parts whose sizes differ by at most one. The parts share the memory of records.
func deal(records []int, parts int) Partition {
	cut := make(Partition, parts)
	size, larger := len(records)/parts, len(records)%parts // the first parts are the larger ones
	from := 0
	for p := range cut {
		to := from + size
		if p < larger {
			to++
		}
		cut[p] = records[from:to:to]
		from = to
	}
	return cut
}

func sorted(p Partition) Partition {
	for _, records := range p {
		slices.Sort(records)
	}
	return p
}
