package crew

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
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

// The counts are not atomic: the race detector would see a Do that returns, or a helper that begins, too early.
func TestStepsFollowEachOtherWhetherHelpersLookOrSleep(t *testing.T) {
	for _, processors := range []int{1, 4} { // fewer than the crew, and enough
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		c := New(3)
		var counts [5]int
		step := 0
		task := func(_, i int) { counts[i] += step }
		for step = 1; step <= 2000; step++ {
			c.Do(1+step%len(counts), task)
			if step%100 == 0 { // helpers lose patience meanwhile
				for start := time.Now(); time.Since(start) < 2*patience; {
					runtime.Gosched()
				}
			}
		}
		c.Close()
		for i := range counts {
			want := 0
			for step := 1; step <= 2000; step++ {
				if i <= step%len(counts) {
					want += step
				}
			}
			if counts[i] != want {
				t.Errorf("%d processors: task %d added up to %d, want %d", processors, i, counts[i], want)
			}
		}
	}
}

func TestACrewWithoutWorkSleepsAndAClosedOneEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	c := New(3)
	c.Do(10, func(_, _ int) {})
	wait := func(what string, so func() bool) {
		for start := time.Now(); !so(); runtime.Gosched() {
			if time.Since(start) > 5*time.Second {
				t.Fatalf("helpers do not %s", what)
			}
		}
	}
	for _, h := range c.helpers {
		wait("sleep", func() bool { return h.state.Load() == sleeping })
	}
	c.Close()
	wait("end", func() bool { return runtime.NumGoroutine() <= before })
}
