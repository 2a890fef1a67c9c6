package crew

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkDo is the time of a Do whose tasks are almost nothing, and of one whose tasks take 20 microseconds on each of the crew:
// steps that follow each other, as in training. What is beyond the 20 is the crew's own.
func BenchmarkDo(b *testing.B) {
	size := runtime.GOMAXPROCS(0)
	for _, work := range []time.Duration{0, 20 * time.Microsecond} {
		b.Run(fmt.Sprintf("crew=%d/work=%v", size, work), func(b *testing.B) {
			c := New(size)
			defer c.Close()
			var helped atomic.Int64
			const tasks = 8 // for each of the crew
			task := func(worker, _ int) {
				if worker > 0 {
					helped.Add(1)
				}
				for start := time.Now(); time.Since(start) < work/tasks; {
				}
			}
			for b.Loop() {
				c.Do(tasks*size, task)
			}
			b.ReportMetric(100*float64(helped.Load())/float64(b.N*tasks*size), "%-helped")
		})
	}
}
