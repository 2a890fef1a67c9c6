package nn

import "hubbub/internal/kernel"

// Pass is scratch memory for gradients. It grows to the largest batch seen, and then allocates nothing more.
type Pass struct {
	net     *Net
	crew    Crew
	workers []worker

	job
	turned          []float32 // the body's weights, as its layers like them
	features        []float32 // what the body gives the head
	outputs, deltas [][]float32
	partial         []float32 // sums of the body's gradients, one for each group of examples
	losses          []float64
	ofInputs        []float64 // squared norms of what a layer takes
	ofDeltas        []float64 // and of its deltas
	right           []bool

	doChunk, doBlock func(worker, i int) // made once: a method value allocates

	// SquaredNorms holds the squared L2 norm of each example's gradient after [Pass.Clipped], off by less than 2^-16 of it.
	SquaredNorms []float64
}

// job is what was asked for.
type job struct {
	params, inputs []float32
	labels         []uint8
	sum            []float32                                      // set this to the sum of gradients
	mean           bool                                           // or to their mean
	rows           []float32                                      // or write each example's here; neither: no gradients
	factor         func(example int, squaredNorm float64) float64 // nil: gradients are not scaled, and not measured
	each           func(worker, example int, gradient []float32, runs [][2]int)
}

// NewPass makes scratch memory for the network. The crew shares the work of every batch; nil: the caller does it alone.
func NewPass(net *Net, crew Crew) *Pass {
	if crew == nil {
		crew = alone{}
	}
	p := &Pass{net: net, crew: crew, workers: make([]worker, crew.Size())}
	p.outputs, p.deltas = make([][]float32, len(net.head)), make([][]float32, len(net.head))
	p.turned = make([]float32, net.turned)
	p.doChunk, p.doBlock = p.chunk, p.block
	for i := range p.workers {
		p.workers[i].init(net)
	}
	return p
}

// Sum sets sum to the sum of a batch's gradients and returns its summed loss.
func (p *Pass) Sum(sum, params, inputs []float32, labels []uint8) (loss float64) {
	return p.run(job{params: params, inputs: inputs, labels: labels, sum: sum})
}

// Mean sets mean to the mean of a batch's gradients and returns its summed loss.
func (p *Pass) Mean(mean, params, inputs []float32, labels []uint8) (loss float64) {
	return p.run(job{params: params, inputs: inputs, labels: labels, sum: mean, mean: true})
}

// Clipped sets sum to the sum of a batch's gradients, each times factor of its index and squared norm, and returns the summed loss of
// the batch. The crew's workers call factor, at once and in any order.
func (p *Pass) Clipped(sum, params, inputs []float32, labels []uint8, factor func(example int, squaredNorm float64) float64) (loss float64) {
	return p.run(job{params: params, inputs: inputs, labels: labels, sum: sum, factor: factor})
}

// PerExample writes every example's gradient to rows, one after the other, and returns the summed loss.
func (p *Pass) PerExample(rows, params, inputs []float32, labels []uint8) (loss float64) {
	return p.run(job{params: params, inputs: inputs, labels: labels, rows: rows})
}

// Evaluate returns the summed loss and the number of examples whose label has the largest logit.
func (p *Pass) Evaluate(params, inputs []float32, labels []uint8) (loss float64, correct int) {
	loss = p.run(job{params: params, inputs: inputs, labels: labels})
	for _, right := range p.right {
		if right {
			correct++
		}
	}
	return loss, correct
}

func (j job) backward() bool { return j.sum != nil || j.rows != nil || j.each != nil }

// The gradients of the body's weights are added up in groups of so many examples, whoever does them, and then the groups one after
// the other. All other sums run over one example, or in the kernel's order, so no result depends on who took which examples.
const groupExamples = 8

// perTask is how many examples one task takes, whole groups of them: a share for each of the crew, but no more than pay. With many
// examples the head's weights are read less often. But what the body leaves behind for the way back should stay in a cache: it may be
// about twice as much as those weights.
func (p *Pass) perTask(batch int) int {
	most := 256
	if n := p.net; len(n.body) > 0 {
		most = max(16, min(64, 2*n.head[0].in*n.head[0].out/n.memory))
	}
	share := min(most, (batch+p.crew.Size()-1)/p.crew.Size())
	return (share + groupExamples - 1) / groupExamples * groupExamples
}

func (p *Pass) run(j job) (loss float64) {
	net, batch := p.net, len(j.labels)
	if batch == 0 {
		clear(j.sum)
		p.SquaredNorms, p.right = p.SquaredNorms[:0], p.right[:0]
		return 0
	}
	p.job = j
	perTask := p.perTask(batch)
	groups := (batch + groupExamples - 1) / groupExamples
	p.ofInputs, p.ofDeltas = grow(p.ofInputs, batch), grow(p.ofDeltas, batch)
	p.losses, p.right, p.SquaredNorms = grow(p.losses, batch), grow(p.right, batch), grow(p.SquaredNorms, batch)
	if len(net.body) > 0 {
		p.features = grow(p.features, batch*net.head[0].in)
	}
	for i, d := range net.head {
		p.outputs[i], p.deltas[i] = grow(p.outputs[i], batch*d.out), grow(p.deltas[i], batch*d.out)
	}
	for _, s := range net.body {
		s.turn(p.turned[s.turnedAt:s.turnedAt+s.turns()], j.params)
	}
	if j.sum != nil {
		p.partial = grow(p.partial, groups*net.bodySize)
	}
	p.crew.Do((batch+perTask-1)/perTask, p.doChunk)
	if j.sum != nil {
		p.crew.Do(len(net.blocks)+(net.bodySize+bodyPiece-1)/bodyPiece, p.doBlock)
	}
	for _, l := range p.losses {
		loss += l
	}
	p.job = job{} // the caller's memory is not ours to hold
	return loss
}

// bodyPiece is how many of the body's weights one task sums: they stay in the first cache while the groups go by.
const bodyPiece = 1 << 12

// block sums the gradients of all examples, for some rows of a dense layer or for a piece of the body.
func (p *Pass) block(worker, i int) {
	if piece := i - len(p.net.blocks); piece >= 0 {
		from, to := piece*bodyPiece, min((piece+1)*bodyPiece, p.net.bodySize)
		copy(p.sum[from:to], p.partial[from:to])
		for group := p.net.bodySize; group < len(p.partial); group += p.net.bodySize {
			kernel.Axpy(p.sum[from:to], 1, p.partial[group+from:group+to])
		}
		return
	}
	b := p.net.blocks[i]
	d := p.net.head[b.layer]
	d.sumGradients(&p.workers[worker].products, p.sum, b, p.headInput(b.layer, 0, len(p.labels)), p.deltas[b.layer])
}

// headInput is what layer i of the head takes from some examples.
func (p *Pass) headInput(i, from, to int) []float32 {
	width, all := p.net.head[i].in, p.inputs
	switch {
	case i > 0:
		all = p.outputs[i-1]
	case len(p.net.body) > 0:
		all = p.features
	}
	return all[from*width : to*width]
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
