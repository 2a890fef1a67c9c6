package nn

// Memory estimates the bytes that a [Pass] grows to, with a batch of so many examples and this many workers.
func (n *Net) Memory(batch, workers int) int64 {
	chunk := n.perChunk(batch)
	chunks := (batch + chunk - 1) / max(1, chunk)
	head, each := 0, n.bodySize+n.scratch+2*n.widest+chunk*n.memory
	for _, d := range n.head {
		head += 2 * d.out
	}
	if len(n.body) > 0 {
		head += n.head[0].in
		each += chunk * n.head[0].in
	}
	floats := batch*head + chunks*n.bodySize + n.bodySize + workers*each
	return 4 * int64(floats)
}
