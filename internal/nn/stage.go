package nn

import "hubbub/internal/kernel"

// layer is a step of the body. It takes one example at a time; pictures are height, width, channels.
type layer interface {
	forward(w *kernel.Workspace, v visit)
	backward(w *kernel.Workspace, v visit)

	keeps() int   // floats that forward leaves for backward, beside its output
	scratch() int // floats that it needs while it runs
	turns() int   // floats that turn sets

	// turn sets the weights of the layer as forward and backward like them, once for all examples of a batch.
	turn(turned, params []float32)
}

// visit is what a layer works on.
type visit struct {
	params        []float32 // the network's weights
	turned        []float32 // the layer's: see layer.turn
	in, out, kept []float32
	scratch       []float32

	dOut     []float32 // the loss's derivative by out; may be overwritten
	dIn      []float32 // to be set to that by in; nil: nobody asks; an activation's is dOut
	gradient []float32 // that by the body's weights, to be set, or added to
	add      bool
}

// stage is a layer and where its numbers lie.
type stage struct {
	layer
	in, out  picture
	from, to place // of in and out
	keptAt   int   // in an example's memory
	turnedAt int   // in a pass's
}

// place is where a picture lies.
type place struct {
	where where
	at    int // in an example's memory
}

type where int

const (
	inRecord  where = iota // the record as it came
	inExample              // kept for the way back
	inPassing              // one of two buffers that the next examples use too
)

// plain is what most layers have in common: they keep nothing, and need neither scratch memory nor turned weights.
type plain struct{}

func (plain) keeps() int          { return 0 }
func (plain) scratch() int        { return 0 }
func (plain) turns() int          { return 0 }
func (plain) turn(_, _ []float32) {}

// visit gathers what the layer meets of one example.
func (s *stage) visit(w *worker, params, turned, record, memory []float32) visit {
	return visit{
		params: params, turned: turned[s.turnedAt : s.turnedAt+s.turns()], scratch: w.scratch, kept: memory[s.keptAt : s.keptAt+s.keeps()],
		in: s.from.find(w, record, memory, s.in.size()), out: s.to.find(w, record, memory, s.out.size()),
	}
}

func (p place) find(w *worker, record, memory []float32, size int) []float32 {
	switch p.where {
	case inRecord:
		return record
	case inExample:
		return memory[p.at : p.at+size]
	}
	return w.passing[p.where-inPassing][:size]
}

// rows is a matrix whose rows begin stride apart; columns is one whose columns do.
func rows(data []float32, stride int) kernel.View {
	return kernel.View{Data: data, Row: stride, Col: 1}
}
func columns(data []float32, stride int) kernel.View {
	return kernel.View{Data: data, Row: 1, Col: stride}
}
