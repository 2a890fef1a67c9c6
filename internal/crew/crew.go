// Package crew shares the tasks of one step out to goroutines that wait between steps, so that a step starts at once and allocates
// nothing. Who does which task is left to chance: tasks must not depend on it, and those of package nn do not.
//
// Go takes some 50 microseconds to wake a goroutine on another processor. Who waits here therefore looks for so long whether its
// turn has come, and sleeps only then: steps that follow each other start at once, and a crew without work costs nothing.
package crew

import (
	"runtime"
	"sync/atomic"
)

// Crew is a number of goroutines, the caller of [Crew.Do] among them.
type Crew struct {
	helpers []*helper

	task  func(worker, i int)
	tasks int64
	next  atomic.Int64

	busy atomic.Int64 // helpers that Do waits for, plus asleep if it sleeps
	done chan struct{}
	spin atomic.Bool // there is a processor for each of the crew
}

// asleep is more than there are helpers.
const asleep = 1 << 32

// New starts size-1 helpers, which end with [Crew.Close].
func New(size int) *Crew {
	c := &Crew{done: make(chan struct{}, 1)}
	for worker := 1; worker < size; worker++ {
		h := &helper{wake: make(chan struct{}, 1)}
		c.helpers = append(c.helpers, h)
		go func() {
			for h.called(&c.spin) {
				c.work(worker)
				h.state.Store(idle) // before Do may return and call again
				if c.busy.Add(-1) == asleep {
					c.done <- struct{}{}
				}
			}
		}()
	}
	return c
}

// Size is how many tasks run at once.
func (c *Crew) Size() int { return 1 + len(c.helpers) }

// Do calls task(worker, i) for each i below tasks and returns when all are done. A worker does one task at a time. Only one Do may run
// at a time.
func (c *Crew) Do(tasks int, task func(worker, i int)) {
	c.task, c.tasks = task, int64(tasks)
	c.next.Store(0)
	helpers := c.helpers[:max(0, min(len(c.helpers), tasks-1))]
	spin := runtime.GOMAXPROCS(0) >= c.Size()
	c.spin.Store(spin)
	c.busy.Store(int64(len(helpers)))
	for _, h := range helpers {
		h.call()
	}
	c.work(0)
	for _, h := range helpers {
		if h.excuse() {
			c.busy.Add(-1)
		}
	}
	if !spinUntil(spin, func() bool { return c.busy.Load() == 0 }) && c.busy.Add(asleep) != asleep {
		<-c.done
	}
	c.task = nil
}

func (c *Crew) work(worker int) {
	for i := c.next.Add(1) - 1; i < c.tasks; i = c.next.Add(1) - 1 {
		c.task(worker, int(i))
	}
}

// Close ends the helpers. The crew is of no use after it.
func (c *Crew) Close() {
	for _, h := range c.helpers {
		h.dismiss()
	}
}
