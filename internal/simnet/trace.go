package simnet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Counts says how often each kind of fault happened.
type Counts map[Kind]int

// Add adds the counts of another run.
func (c Counts) Add(other Counts) {
	for kind, times := range other {
		c[kind] += times
	}
}

// String lists the kinds in alphabetical order.
func (c Counts) String() string {
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		words = append(words, fmt.Sprintf("%s %d", kind, c[kind]))
	}
	if len(words) == 0 {
		return "no faults"
	}
	return strings.Join(words, ", ")
}

// Counts gives the faults so far.
func (n *Network) Counts() Counts { return maps.Clone(n.counted) }

// Trace tells what happened, a line for each event with time, kind, nodes and bytes. Bodies are not shown.
func (n *Network) Trace() string {
	var b strings.Builder
	for _, l := range n.trace {
		fmt.Fprintf(&b, "%10.3fs %s", l.at.Seconds(), l.what)
		if l.from != "" {
			fmt.Fprintf(&b, " %s", l.from)
		}
		if l.to != "" {
			fmt.Fprintf(&b, " -> %s, %d bytes", l.to, l.size)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

type trace []line

type line struct {
	at       time.Duration
	what     string
	from, to string
	size     int
}

func (n *Network) note(what, from, to string, size int) {
	n.trace = append(n.trace, line{n.now.Sub(Start), what, from, to, size})
}

func (n *Network) fault(kind Kind, from, to string, size int) {
	n.counted[kind]++
	n.note(string(kind), from, to, size)
}
