package nn

import "hubbub/internal/kernel"

// Each computes every example's gradient by itself and hands it to use. It returns the summed loss. A gradient is the caller's until
// use returns. It may differ from zero in the runs only, and outside of them it is not set: the first layer's weights have no gradient
// where an input is zero, as four fifths of a scanned digit are. The crew's workers call use, at once and in any order.
//
// A run is its first weight and the first one behind it. Runs ascend, begin at multiples of 32, and end at multiples of 32 or with the
// last weight.
func (p *Pass) Each(params, inputs []float32, labels []uint8, use func(worker, example int, gradient []float32, runs [][2]int)) (loss float64) {
	return p.run(job{params: params, inputs: inputs, labels: labels, each: use})
}

// gradientOf writes what is not zero of the gradient of example e, but for the body's part, and returns its runs.
func (p *Pass) gradientOf(e int, gradient []float32, runs [][2]int) [][2]int {
	r := runner{gradient: gradient, runs: runs[:0]}
	r.cover(0, p.net.bodySize)
	for l, d := range p.net.head {
		delta := p.deltas[l][e*d.out : (e+1)*d.out]
		at := d.at
		for _, x := range p.headInput(l, e, e+1) {
			if x != 0 {
				r.cover(at, at+d.out)
				row := gradient[at : at+d.out]
				clear(row)
				kernel.Axpy(row, x, delta)
			}
			at += d.out
		}
		r.cover(at, at+d.out)
		copy(gradient[at:], delta)
	}
	return r.finish()
}

// runUnit is what runs begin and end at multiples of: norms are summed in so many partial sums (kernel.Squares).
const runUnit = 32

// runner gathers runs, and sets the few weights to zero that fill them up to whole units.
type runner struct {
	gradient []float32
	runs     [][2]int
	from, to int // the run that is open
}

// cover adds a part behind all others.
func (r *runner) cover(from, to int) {
	if from == to {
		return
	}
	if begin := from &^ (runUnit - 1); begin > r.to {
		r.close()
		r.from, r.to = begin, begin
	}
	clear(r.gradient[r.to:from])
	r.to = to
}

// close ends the open run at a multiple of the unit.
func (r *runner) close() {
	if r.to > r.from {
		end := min((r.to+runUnit-1)&^(runUnit-1), len(r.gradient))
		clear(r.gradient[r.to:end])
		r.runs = append(r.runs, [2]int{r.from, end})
	}
}

func (r *runner) finish() [][2]int {
	r.close()
	return r.runs
}
