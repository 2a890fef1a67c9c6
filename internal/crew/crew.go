// Package crew shares the tasks of one step out to goroutines that wait between steps, so that a step starts at once and allocates
// nothing. Who does which task is left to chance: tasks must not depend on it, and those of package nn do not.
package crew

import (
	"sync"
	"sync/atomic"
)

// Crew is a number of goroutines, the caller of [Crew.Do] among them.
type Crew struct {
	wake []chan struct{} // one for each helper
	done sync.WaitGroup

	task  func(worker, i int)
	tasks int64
	next  atomic.Int64
}

// New starts size-1 helpers, which end with [Crew.Close].
func New(size int) *Crew {
	c := &Crew{}
	for worker := 1; worker < size; worker++ {
		wake := make(chan struct{})
		c.wake = append(c.wake, wake)
		go func() {
			for range wake {
				c.work(worker)
				c.done.Done()
			}
		}()
	}
	return c
}

// Size is how many tasks run at once.
func (c *Crew) Size() int { return 1 + len(c.wake) }

// Do calls task(worker, i) for each i below tasks and returns when all are done. A worker does one task at a time. Only one Do may run
// at a time.
func (c *Crew) Do(tasks int, task func(worker, i int)) {
	c.task, c.tasks = task, int64(tasks)
	c.next.Store(0)
	helpers := c.wake[:max(0, min(len(c.wake), tasks-1))]
	c.done.Add(len(helpers))
	for _, wake := range helpers {
		wake <- struct{}{}
	}
	c.work(0)
	c.done.Wait()
	c.task = nil
}

func (c *Crew) work(worker int) {
	for i := c.next.Add(1) - 1; i < c.tasks; i = c.next.Add(1) - 1 {
		c.task(worker, int(i))
	}
}

// Close ends the helpers. The crew is of no use after it.
func (c *Crew) Close() {
	for _, wake := range c.wake {
		close(wake)
	}
}
