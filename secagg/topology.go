package secagg

import (
	"slices"

	"hubbub/secagg/graph"
)

// topology says who holds whose shares. The graph is a function of the cohort's root, so of everybody's keys.
type topology struct {
	threshold int
	complete  bool
	graph     *graph.Graph
	lists     [][]int // holders of each client, made when asked for; one list for all if complete
}

// plan is the degree and threshold for n clients: every party computes them, so that none can lower them.
func (p *Params) plan(n int) (graph.Plan, error) {
	if p.complete() {
		return graph.Plan{Setting: graph.Setting{Clients: n}, Complete: true, Degree: n - 1, Shares: n, Threshold: p.Threshold}, nil
	}
	plan, err := graph.New(graph.Setting{Clients: n, Colluders: p.Colluders, Dropouts: n - p.MinSurvivors})
	if err != nil {
		return plan, refuse(ErrCohort, "%w", err)
	}
	return plan, nil
}

func newTopology(plan graph.Plan, root [32]byte) topology {
	return topology{threshold: plan.Threshold, complete: plan.Complete, graph: plan.Graph(root), lists: make([][]int, plan.Clients)}
}

// holders lists who holds the shares of client i's secrets, in ascending order: its neighbours, and in a complete graph itself. So who
// holds of i is also whose shares i holds.
func (t *topology) holders(i int) []int {
	if t.complete {
		i = 0
	}
	if t.lists[i] == nil {
		t.lists[i] = t.graph.Holders(i)
	}
	return t.lists[i]
}

// circle is client i and its neighbours, in ascending order.
func (t *topology) circle(i int) []int {
	holders := t.holders(i)
	at, itself := slices.BinarySearch(holders, i)
	if itself {
		return holders
	}
	return slices.Insert(slices.Clone(holders), at, i)
}

// index is the Shamir index of holder among the holders of dealer: its place there, from 1.
func (t *topology) index(dealer, holder int) int {
	at, found := slices.BinarySearch(t.holders(dealer), holder)
	if !found {
		panic("secagg: internal error: no holder of that client")
	}
	return at + 1
}
