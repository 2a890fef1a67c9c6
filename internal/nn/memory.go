package nn

// Memory estimates the bytes that a [Pass] without a crew grows to with batches of so many examples.
func (n *Net) Memory(batch int) int64 {
	task := NewPass(n, nil).perTask(batch)
	groups := (batch + groupExamples - 1) / groupExamples
	head, each := 0, n.bodySize+n.turned+n.scratch+2*n.passing+2*n.widest+task*n.memory
	for _, d := range n.head {
		head += 2 * d.out
	}
	if len(n.body) > 0 {
		head += n.head[0].in
		each += task * n.head[0].in
	}
	return 4 * int64(batch*head+groups*n.bodySize+each)
}
