package secagg

import "slices"

// topology says who is whose neighbour. The graph is a function of the root, so of everybody's keys.
type topology struct {
	n     int
	all   []int   // complete: everybody
	lists [][]int // otherwise the neighbours of each
}

func newTopology(p *Params, n int, root [32]byte) topology {
	t := topology{n: n}
	if p.Degree == 0 {
		t.all = make([]int, n)
		for i := range t.all {
			t.all[i] = i
		}
		return t
	}
	return t
}

// holders lists who holds the shares of client i's secrets, in ascending order: its neighbours, and in a complete graph itself.
func (t *topology) holders(i int) []int {
	if t.all != nil {
		return t.all
	}
	return t.lists[i]
}

// circle is client i and its neighbours, in ascending order.
func (t *topology) circle(i int) []int {
	if t.all != nil {
		return t.all
	}
	at, _ := slices.BinarySearch(t.lists[i], i)
	return slices.Insert(slices.Clone(t.lists[i]), at, i)
}

// index is the Shamir index of holder among the holders of dealer: its place there, from 1.
func (t *topology) index(dealer, holder int) int {
	at, found := slices.BinarySearch(t.holders(dealer), holder)
	if !found {
		panic("secagg: internal error: no holder of that client")
	}
	return at + 1
}
