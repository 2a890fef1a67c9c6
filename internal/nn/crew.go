package nn

// Crew does tasks, several at once if it can. The caller has one, or none: this package starts no goroutine.
type Crew interface {
	// Size is how many tasks may run at once.
	Size() int
	// Do calls task(worker, i) for each i below tasks, with workers below Size that are never used twice at once, and returns when all are done.
	Do(tasks int, task func(worker, i int))
}

// alone is a crew of the caller itself.
type alone struct{}

func (alone) Size() int { return 1 }
func (alone) Do(tasks int, task func(worker, i int)) {
	for i := range tasks {
		task(0, i)
	}
}
