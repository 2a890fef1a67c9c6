package crew

import (
	"sync/atomic"
	"testing"
)

func TestEveryTaskIsDoneOnceByAWorkerThatDoesNothingElse(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		c := New(size)
		defer c.Close()
		if c.Size() != size {
			t.Errorf("a crew of %d says %d", size, c.Size())
		}
		for _, tasks := range []int{0, 1, 2, 5, 100, 1000} {
			done := make([]atomic.Int32, tasks)
			busy := make([]atomic.Int32, size)
			c.Do(tasks, func(worker, i int) {
				if busy[worker].Add(1) != 1 {
					t.Errorf("worker %d does two tasks at once", worker)
				}
				done[i].Add(1)
				busy[worker].Add(-1)
			})
			for i := range done {
				if n := done[i].Load(); n != 1 {
					t.Fatalf("crew of %d: task %d of %d was done %d times", size, i, tasks, n)
				}
			}
		}
	}
}

func TestDoAllocatesNothing(t *testing.T) {
	c := New(3)
	defer c.Close()
	var sum atomic.Int64
	task := func(_, i int) { sum.Add(int64(i)) }
	if n := testing.AllocsPerRun(100, func() { c.Do(10, task) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
