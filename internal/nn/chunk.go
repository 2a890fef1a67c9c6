package nn

import "hubbub/internal/kernel"

// worker is the memory of one of the crew.
type worker struct {
	products kernel.Workspace
	examples []float32    // what the examples of a chunk leave on their way through the body
	passing  [2][]float32 // what they do not leave
	scratch  []float32
	turned   []float32    // of a dense layer's way back
	features []float32    // the loss's derivative by the features of a chunk
	deltas   [2][]float32 // and by what flows between two layers of the body
	gradient []float32    // of one example by the body's weights
	row      []float32    // and by all weights, where a caller wants each example's
	runs     [][2]int     // the parts of row that are set
}

func (w *worker) init(n *Net) {
	w.scratch = make([]float32, n.scratch)
	w.gradient = make([]float32, n.bodySize)
	if len(n.body) > 0 {
		w.deltas = [2][]float32{make([]float32, n.widest), make([]float32, n.widest)}
		w.passing = [2][]float32{make([]float32, n.passing), make([]float32, n.passing)}
	}
}

// chunk takes some examples forward and, if gradients are wanted, back.
func (p *Pass) chunk(number, i int) {
	n, w := p.net, &p.workers[number]
	perTask := p.perTask(len(p.labels))
	from, to := i*perTask, min((i+1)*perTask, len(p.labels))
	if len(n.body) > 0 {
		w.examples = grow(w.examples, perTask*n.memory)
		for e := from; e < to; e++ {
			p.bodyForward(w, e, w.examples[(e-from)*n.memory:(e-from+1)*n.memory])
		}
	}
	for l, d := range n.head {
		d.forward(&w.products, p.params, p.outputs[l][from*d.out:to*d.out], p.headInput(l, from, to))
	}
	p.loss(from, to)
	if !p.backward() {
		return
	}
	for l := len(n.head) - 1; l > 0; l-- {
		d, before := n.head[l], n.head[l-1]
		deltas := p.deltas[l-1][from*d.in : to*d.in]
		d.backward(w, p.params, deltas, p.deltas[l][from*d.out:to*d.out])
		before.activation.back(deltas, p.outputs[l-1][from*d.in:to*d.in])
	}
	if d := n.head[0]; n.bodySize > 0 {
		w.features = grow(w.features, perTask*d.in)
		d.backward(w, p.params, w.features[:(to-from)*d.in], p.deltas[0][from*d.out:to*d.out])
	}
	if p.factor != nil {
		p.headSquares(from, to)
	}
	for e := from; e < to; e++ {
		p.example(w, number, e, e-from)
	}
}

// headSquares sets SquaredNorms to those of the head's gradients, off by less than 2^-16. The gradient of a dense layer's weights is the
// outer product of input and delta, that of its biases is delta.
func (p *Pass) headSquares(from, to int) {
	squares, ofInputs, ofDeltas := p.SquaredNorms[from:to], p.ofInputs[from:to], p.ofDeltas[from:to]
	clear(squares)
	for l, d := range p.net.head {
		kernel.RoughSquares(ofInputs, p.headInput(l, from, to))
		kernel.RoughSquares(ofDeltas, p.deltas[l][from*d.out:to*d.out])
		for k := range squares {
			squares[k] += ofDeltas[k] * (1 + ofInputs[k])
		}
	}
}

// example finishes example e, the k-th of its chunk: the body's gradient, the norm, the clip.
func (p *Pass) example(w *worker, number, e, k int) {
	n := p.net
	var sum []float32 // of the body's gradients of its group, which its first example sets
	begins := e%groupExamples == 0
	if p.sum != nil {
		sum = p.partial[e/groupExamples*n.bodySize : (e/groupExamples+1)*n.bodySize]
	}
	body := func(gradient []float32, add bool) {
		if n.bodySize > 0 {
			width := n.head[0].in
			p.bodyBackward(w, e, w.examples[k*n.memory:(k+1)*n.memory], w.features[k*width:(k+1)*width], gradient, add)
		}
	}
	switch {
	case p.each != nil:
		w.row = grow(w.row, n.size)
		body(w.row[:n.bodySize], false)
		w.runs = p.gradientOf(e, w.row, w.runs)
		p.each(number, e, w.row, w.runs)
	case p.rows != nil:
		row := p.rows[e*n.size : (e+1)*n.size]
		body(row[:n.bodySize], false)
		for _, b := range n.blocks {
			d := n.head[b.layer]
			d.sumGradients(&w.products, row, b, p.headInput(b.layer, e, e+1), p.deltas[b.layer][e*d.out:(e+1)*d.out])
		}
	case p.factor == nil:
		body(sum, !begins)
	default:
		if n.bodySize > 0 {
			var square [1]float64
			body(w.gradient, false)
			kernel.RoughSquares(square[:], w.gradient)
			p.SquaredNorms[e] += square[0]
		}
		factor := float32(p.factor(e, p.SquaredNorms[e]))
		if begins {
			clear(sum)
		}
		kernel.Axpy(sum, factor, w.gradient)
		for l, d := range n.head {
			kernel.Scale(p.deltas[l][e*d.out:(e+1)*d.out], factor)
		}
	}
}

// loss sets the last layer's deltas, each example's loss, and whether its answer is right.
func (p *Pass) loss(from, to int) {
	last := len(p.net.head) - 1
	classes := p.net.Classes()
	deltas := p.deltas[last][from*classes : to*classes]
	softmax(deltas, p.outputs[last][from*classes:to*classes], p.labels[from:to], p.losses[from:to], p.right[from:to])
	if p.mean { // all that follows is linear in these
		kernel.Scale(deltas, 1/float32(len(p.labels)))
	}
}

func (p *Pass) bodyForward(w *worker, e int, memory []float32) {
	n := p.net
	input := p.inputs[e*n.Inputs() : (e+1)*n.Inputs()]
	if n.channelsLast {
		transpose(memory[:len(input)], input, n.input.height*n.input.width)
	}
	for i := range n.body {
		s := &n.body[i]
		s.forward(&w.products, s.visit(w, p.params, p.turned, input, memory))
	}
	last := n.body[len(n.body)-1]
	copy(p.features[e*n.head[0].in:], last.to.find(w, input, memory, last.out.size()))
}

func (p *Pass) bodyBackward(w *worker, e int, memory, delta, gradient []float32, add bool) {
	n := p.net
	input := p.inputs[e*n.Inputs() : (e+1)*n.Inputs()]
	spare := 0 // which of the buffers is free
	for i := len(n.body) - 1; i >= n.firstWeights; i-- {
		s := &n.body[i]
		v := s.visit(w, p.params, p.turned, input, memory)
		v.gradient, v.add = gradient, add
		v.dOut = delta
		switch _, inPlace := s.layer.(activation); {
		case inPlace:
			v.dIn = delta
		case i > n.firstWeights:
			v.dIn = w.deltas[spare][:s.in.size()]
			spare = 1 - spare
		}
		s.backward(&w.products, v)
		delta = v.dIn
	}
}
