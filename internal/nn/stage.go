package nn

import "hubbub/internal/kernel"

// layer is a step of the body. It takes one example at a time; pictures are height, width, channels.
type layer interface {
	forward(w *kernel.Workspace, v visit)
	backward(w *kernel.Workspace, v visit)

	keeps() int   // floats that forward leaves for backward, beside its output
	scratch() int // floats that it needs while it runs
	turn(turned, params []float32)
}

// visit is what a layer works on.
type visit struct {
	params        []float32 // the network's weights
	turned        []float32 // the body's, as backward likes them: see layer.turn
	in, out, kept []float32
	scratch       []float32

	dOut     []float32 // the loss's derivative by out; may be overwritten
	dIn      []float32 // to be set to that by in; nil: nobody asks; an activation's is dOut
	gradient []float32 // that by the body's weights, to be set, or added to
	add      bool
}

// stage is a layer and the place of its numbers in an example's memory.
type stage struct {
	layer
	in, out             picture
	inAt, outAt, keptAt int
}

// record stands for the place of the record itself, which is not in an example's memory.
const record = -1

// weightless is what layers without weights have in common.
type weightless struct{}

func (weightless) keeps() int          { return 0 }
func (weightless) scratch() int        { return 0 }
func (weightless) turn(_, _ []float32) {}

// visit gathers what the layer meets of one example.
func (s *stage) visit(params, input, memory, scratch []float32) visit {
	v := visit{params: params, in: input, scratch: scratch}
	if s.inAt != record {
		v.in = memory[s.inAt : s.inAt+s.in.size()]
	}
	v.out = memory[s.outAt : s.outAt+s.out.size()]
	v.kept = memory[s.keptAt : s.keptAt+s.keeps()]
	return v
}

// rows is a matrix whose rows begin stride apart; columns is one whose columns do.
func rows(data []float32, stride int) kernel.View {
	return kernel.View{Data: data, Row: stride, Col: 1}
}
func columns(data []float32, stride int) kernel.View {
	return kernel.View{Data: data, Row: 1, Col: stride}
}
