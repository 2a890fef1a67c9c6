package graph

import (
	"slices"

	"hubbub/noise"
)

// Graph says who is joined to whom. Clients are numbered from 0.
type Graph struct {
	plan  Plan
	place []int // of each client in the ring; nil if complete
	at    []int // the client at each place
}

// Graph draws the graph of a plan from a seed that everybody knows: the same seed gives the same graph everywhere. The seed of
// a complete graph is not looked at.
func (p Plan) Graph(seed [32]byte) *Graph {
	g := &Graph{plan: p}
	if p.Complete {
		return g
	}
	n := p.Clients
	g.place, g.at = make([]int, n), make([]int, n)
	random := noise.Key(seed).Derive("secagg graph", uint64(n), uint64(p.Degree)).Stream()
	for i := range g.at { // Fisher-Yates from the inside out
		j := int(random.Below(uint64(i + 1)))
		g.at[i], g.at[j] = g.at[j], i
	}
	for place, client := range g.at {
		g.place[client] = place
	}
	return g
}

// Neighbours lists the clients that share masks with client i, in ascending order.
func (g *Graph) Neighbours(i int) []int {
	n, half := g.plan.Clients, g.plan.Degree/2
	neighbours := make([]int, 0, g.plan.Degree)
	if g.plan.Complete {
		for j := range n {
			if j != i {
				neighbours = append(neighbours, j)
			}
		}
		return neighbours
	}
	for step := 1; step <= half; step++ {
		neighbours = append(neighbours, g.at[(g.place[i]+step)%n], g.at[(g.place[i]+n-step)%n])
	}
	slices.Sort(neighbours)
	return neighbours
}

// Holders lists the clients that hold shares of client i's secrets, in ascending order: its neighbours, and in a complete
// graph itself.
func (g *Graph) Holders(i int) []int {
	holders := g.Neighbours(i)
	if g.plan.Complete {
		holders = slices.Insert(holders, i, i)
	}
	return holders
}

// Adjacent reports whether clients i and j share a mask.
func (g *Graph) Adjacent(i, j int) bool {
	if i == j {
		return false
	}
	if g.plan.Complete {
		return true
	}
	n := g.plan.Clients
	apart := (g.place[i] - g.place[j] + n) % n
	return min(apart, n-apart) <= g.plan.Degree/2
}
