package simnet

import (
	"slices"
	"time"
)

// Faults are the odds of each message, from 0 to 1, and the time it takes. Zero times take the stated default.
type Faults struct {
	Drop      float64 // is lost
	Duplicate float64 // arrives twice, the second time after a time of its own
	Overtaken float64 // is held back by up to ten times MaxDelay, so that later ones arrive before
	Truncate  float64 // arrives as a part of itself: half an upload
	Corrupt   float64 // arrives with one bit flipped

	MinDelay time.Duration // default 10 ms
	MaxDelay time.Duration // default 100 ms
}

func (f Faults) withDefaults() Faults {
	if f.MinDelay == 0 {
		f.MinDelay = 10 * time.Millisecond
	}
	if f.MaxDelay == 0 {
		f.MaxDelay = 100 * time.Millisecond
	}
	f.MaxDelay = max(f.MaxDelay, f.MinDelay)
	return f
}

// Kind is a kind of fault, as it is counted.
type Kind string

// The faults.
const (
	Drop      Kind = "drop"
	Duplicate Kind = "duplicate"
	Overtaken Kind = "overtaken"
	Truncate  Kind = "truncate"
	Corrupt   Kind = "corrupt"
	Cut       Kind = "cut"     // lost in a partition
	Down      Kind = "down"    // lost because the receiver was down
	Crash     Kind = "crash"   // of a node
	Restart   Kind = "restart" // of a node
	Partition Kind = "partition"
)

// send decides the fate of a message. Every message takes the same number of random draws, whatever happens to it, so a change of the
// odds of one fault leaves the others where they were.
func (n *Network) send(from string, m Message) {
	f := n.faults
	chance := func(odds float64) bool { return n.random.Float64() < odds }
	delay := func() time.Duration {
		return f.MinDelay + time.Duration(n.random.Float64()*float64(f.MaxDelay-f.MinDelay))
	}
	drop, duplicate, overtaken := chance(f.Drop), chance(f.Duplicate), chance(f.Overtaken)
	truncate, corrupt, place := chance(f.Truncate), chance(f.Corrupt), n.random.Uint64()
	first, second, held := delay(), delay(), time.Duration(n.random.Float64()*10*float64(f.MaxDelay))

	body := slices.Clone(m.Body)
	bits := uint64(len(body)) * 8
	n.note("send", from, m.To, len(body))
	if drop {
		n.fault(Drop, from, m.To, len(body))
		return
	}
	if truncate && len(body) > 0 {
		n.fault(Truncate, from, m.To, len(body))
		body = body[:place%uint64(len(body))]
	} else if corrupt && len(body) > 0 {
		n.fault(Corrupt, from, m.To, len(body))
		body[place%bits/8] ^= 1 << (place % 8)
	}
	if overtaken {
		n.fault(Overtaken, from, m.To, len(body))
		first += held
	}
	n.schedule(n.now.Add(first), func() { n.deliver(from, m.To, body) })
	if duplicate {
		n.fault(Duplicate, from, m.To, len(body))
		again := slices.Clone(body) // the receiver may have changed the first
		n.schedule(n.now.Add(first+second), func() { n.deliver(from, m.To, again) })
	}
}

// cut is a one-way partition.
type cut struct {
	from, to []string
	heals    time.Time
}

// CutOff loses everything that arrives at the nodes to from the nodes from, after a time and for a while. The other way stays
// open: call it twice for a whole partition. No names mean all nodes.
func (n *Network) CutOff(from, to []string, after, lasts time.Duration) {
	n.At(after, func() {
		n.fault(Partition, "", "", 0)
		n.cuts = append(n.cuts, cut{slices.Clone(from), slices.Clone(to), n.now.Add(lasts)})
	})
}

func (n *Network) isCut(from, to string) bool {
	n.cuts = slices.DeleteFunc(n.cuts, func(c cut) bool { return !n.now.Before(c.heals) })
	return slices.ContainsFunc(n.cuts, func(c cut) bool {
		return (len(c.from) == 0 || slices.Contains(c.from, from)) && (len(c.to) == 0 || slices.Contains(c.to, to))
	})
}

// CrashNode ends a node after a time: its state is gone, and so is what arrives until it is started again, a while later. A while
// of zero is for ever.
func (n *Network) CrashNode(name string, after, down time.Duration) {
	n.At(after, func() {
		m := n.nodes[name]
		if m == nil || m.node == nil {
			return
		}
		n.fault(Crash, name, "", 0)
		m.node = nil
		if down > 0 {
			n.schedule(n.now.Add(down), func() {
				n.fault(Restart, name, "", 0)
				n.boot(name, m)
			})
		}
	})
}
