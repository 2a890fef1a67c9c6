// Package simnet is a network for tests, with a clock of its own: messages between named nodes are lost, doubled, delayed, cut
// off, damaged, and nodes crash and come back, all decided by a seed.
//
// The same seed and the same nodes give the same run, event for event, so a failure is replayed by its seed. Nothing sleeps
// and there is no goroutine: an hour of the network's time takes as long as its messages take to handle.
package simnet

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// Node is a state machine on the network. What it keeps on disk lives outside of it, in the function that starts it.
type Node interface {
	Receive(now time.Time, from string, body []byte) Output
	Wake(now time.Time) Output // when the time of the last WakeAt has come
}

// Output is what a node wants done.
type Output struct {
	Send   []Message
	WakeAt time.Time // replaces the time asked for before; zero leaves that as it is
}

// Message is on its way to a node.
type Message struct {
	To   string
	Body []byte
}

// Network carries messages between nodes. It is used by one goroutine.
type Network struct {
	now     time.Time
	random  *rand.Rand
	faults  Faults
	nodes   map[string]*member
	queue   queue
	events  uint64 // scheduled so far; breaks ties of time
	cuts    []cut
	trace   trace
	counted Counts
}

type member struct {
	start func(now time.Time) (Node, Output)
	node  Node // nil while it is down
	life  int  // counts restarts: a timer of an earlier life does not fire
	timer int  // counts WakeAts: only the last one fires
}

// Start is when every network's clock starts.
var Start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// New makes an empty network with these faults.
func New(seed uint64, faults Faults) *Network {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return &Network{
		now: Start, random: rand.New(rand.NewChaCha8(key)), faults: faults.withDefaults(), nodes: map[string]*member{},
		counted: Counts{},
	}
}

// Add starts a node; start is called again whenever the node comes back from a crash. A name can be used once.
func (n *Network) Add(name string, start func(now time.Time) (Node, Output)) {
	if n.nodes[name] != nil {
		panic(fmt.Sprintf("simnet: node %q added twice", name))
	}
	m := &member{start: start}
	n.nodes[name] = m
	n.boot(name, m)
}

// Now is the network's time.
func (n *Network) Now() time.Time { return n.now }

// Run lets time pass until nothing is left to happen, or done reports true, or the limit is reached. It reports the time passed
// since Start. done may be nil.
func (n *Network) Run(limit time.Duration, done func() bool) time.Duration {
	end := Start.Add(limit)
	for len(n.queue) > 0 && !n.queue[0].at.After(end) && (done == nil || !done()) {
		e := heap.Pop(&n.queue).(event)
		n.now = e.at
		e.happen()
	}
	return n.now.Sub(Start)
}

// At lets something happen at a time: a test's own fault, or its look at the nodes.
func (n *Network) At(after time.Duration, happen func()) { n.schedule(Start.Add(after), happen) }

func (n *Network) boot(name string, m *member) {
	m.life++
	node, out := m.start(n.now)
	m.node = node
	n.act(name, m, out)
}

func (n *Network) act(name string, m *member, out Output) {
	for _, message := range out.Send {
		n.send(name, message)
	}
	if !out.WakeAt.IsZero() {
		m.timer++
		life, timer := m.life, m.timer
		n.schedule(out.WakeAt, func() {
			if m.node != nil && m.life == life && m.timer == timer {
				n.note("wake", name, "", 0)
				n.act(name, m, m.node.Wake(n.now))
			}
		})
	}
}

func (n *Network) deliver(from, to string, body []byte) {
	m := n.nodes[to]
	switch {
	case m == nil:
		n.note("nobody", from, to, len(body))
	case m.node == nil:
		n.fault(Down, from, to, len(body))
	case n.isCut(from, to):
		n.fault(Cut, from, to, len(body))
	default:
		n.note("deliver", from, to, len(body))
		n.act(to, m, m.node.Receive(n.now, from, body))
	}
}

func (n *Network) schedule(at time.Time, happen func()) {
	if at.Before(n.now) {
		at = n.now
	}
	n.events++
	heap.Push(&n.queue, event{at, n.events, happen})
}

type event struct {
	at     time.Time
	order  uint64
	happen func()
}

// queue is a heap by time, then by order of scheduling.
type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].order < q[j].order
}
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}
