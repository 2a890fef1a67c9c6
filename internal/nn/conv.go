package nn

import (
	"fmt"

	"hubbub/internal/kernel"
)

// conv is a convolution with square windows and a bias per filter. Weights are window rows, window columns, channels, filters.
//
// No window is copied: products read the picture in place. The windows of one output row are a matrix whose rows overlap, and come in
// runs: the rows of a window.
type conv struct {
	in, out      picture
	size, stride int
	top, left    int     // zeros above and to the left
	padded       picture // in, with all its zeros
	at           int     // of the weights, then biases
}

func newConv(in picture, l Layer) (conv, string) {
	c := conv{in: in, size: l.Size, stride: l.Stride, padded: in}
	if c.size == 0 {
		c.size = 3
	}
	if c.stride == 0 {
		c.stride = 1
	}
	if l.Padding == "same" {
		// One output for every stride; an odd number of zeros has the larger half below and to the right.
		pad := func(side int) int { return max(0, ((side+c.stride-1)/c.stride-1)*c.stride+c.size-side) }
		c.top, c.left = pad(in.height)/2, pad(in.width)/2
		c.padded.height += pad(in.height)
		c.padded.width += pad(in.width)
	}
	if c.size > c.padded.height || c.size > c.padded.width {
		return c, fmt.Sprintf("a window of %dx%d does not fit into %dx%d pixels: lower size, or pad with padding: same", c.size, c.size, in.height, in.width)
	}
	c.out = picture{(c.padded.height-c.size)/c.stride + 1, (c.padded.width-c.size)/c.stride + 1, l.Filters}
	if c.padded.size() > maxWeights || c.row()*c.size > maxWeights/c.out.channels {
		return c, fmt.Sprintf("windows of %dx%d for %d filters are too many numbers: lower size or filters", c.size, c.size, c.out.channels)
	}
	return c, ""
}

// row is the length of one row of a window; window that of all of them.
func (c conv) row() int    { return c.size * c.in.channels }
func (c conv) window() int { return c.size * c.row() }

// weights are the weights and biases of a vector laid out as the network's weights.
func (c conv) weights(params []float32) (weights, biases []float32) {
	n := c.window() * c.out.channels
	return params[c.at : c.at+n], params[c.at+n : c.at+n+c.out.channels]
}

func (c conv) pads() bool { return c.padded != c.in }

// slides says whether the deltas are laid out with as many columns as the padded picture has, for the way back to the input: then the
// pixels under them are one evenly spaced run, and a pixel of the window takes one product instead of one for each row of the picture.
func (c conv) slides() bool { return c.stride == 1 }

func (c conv) keeps() int {
	if c.pads() {
		return c.padded.size()
	}
	return 0
}

func (c conv) scratch() int {
	n := 0
	if c.slides() {
		n += c.out.height * c.padded.width * c.out.channels
	}
	if c.pads() {
		n += c.padded.size()
	}
	return n
}

func (c conv) forward(w *kernel.Workspace, v visit) {
	filters := c.out.channels
	weights, biases := c.weights(v.params)
	from := c.fill(v)
	line := c.padded.width * c.in.channels
	for row := range c.out.height {
		windows := kernel.View{Data: from[row*c.stride*line:], Row: c.stride * c.in.channels, Col: 1, Run: c.row(), Next: line}
		w.Multiply(v.out[row*c.out.width*filters:], filters, windows, rows(weights, filters), c.out.width, filters, c.window(), false)
	}
	kernel.AddToRows(v.out, biases)
}

// fill copies the input into its zeros, if it has any, and returns what picture does.
func (c conv) fill(v visit) []float32 {
	if c.pads() {
		c.eachLine(func(inside, padded int) { copy(v.kept[padded:], v.in[inside:inside+c.in.width*c.in.channels]) })
	}
	return c.picture(v)
}

// picture is the input with its zeros around it. Only forward writes to it, and never to the zeros, which were there when the memory
// was made.
func (c conv) picture(v visit) []float32 {
	if c.pads() {
		return v.kept
	}
	return v.in
}

// eachLine calls do with where each row of the picture begins in itself and in its padded copy.
func (c conv) eachLine(do func(inside, padded int)) {
	for row := range c.in.height {
		do(row*c.in.width*c.in.channels, ((row+c.top)*c.padded.width+c.left)*c.in.channels)
	}
}

func (c conv) turns() int { return c.window() * c.out.channels }

// turn transposes each pixel's weights, channels by filters, for the way back to the input.
func (c conv) turn(turned, params []float32) {
	channels, filters := c.in.channels, c.out.channels
	from, _ := c.weights(params)
	for at := 0; at < len(from); at += channels * filters {
		kernel.Transpose(turned[at:at+channels*filters], from[at:at+channels*filters], filters)
	}
}

func (c conv) backward(w *kernel.Workspace, v visit) {
	filters := c.out.channels
	_, dBiases := c.weights(v.gradient)
	if !v.add {
		clear(dBiases)
	}
	kernel.AddRows(dBiases, v.dOut)
	c.weightGradient(w, v)
	if v.dIn == nil {
		return
	}

	// Deltas and how far apart their rows are; those that slide are spread out, with zeros where no window begins.
	deltas, pitch, lines, run := v.dOut, c.out.width, c.out.height, c.out.width
	if c.slides() {
		pitch, lines, run = c.padded.width, 1, c.out.height*c.padded.width-(c.size-1)
		deltas = v.scratch[:c.out.height*pitch*filters]
		v.scratch = v.scratch[len(deltas):]
		for row := range c.out.height {
			line := deltas[row*pitch*filters : (row+1)*pitch*filters]
			n := copy(line, v.dOut[row*c.out.width*filters:(row+1)*c.out.width*filters])
			clear(line[n:])
		}
	}
	if !c.pads() {
		c.inputGradient(w, v, v.dIn, deltas, pitch, lines, run)
		return
	}
	padded := v.scratch[:c.padded.size()]
	c.inputGradient(w, v, padded, deltas, pitch, lines, run)
	c.eachLine(func(inside, from int) { copy(v.dIn[inside:inside+c.in.width*c.in.channels], padded[from:]) })
}

// weightGradient multiplies windows by deltas. The pixels that meet a weight come in runs too: those of one output row.
func (c conv) weightGradient(w *kernel.Workspace, v visit) {
	channels, filters := c.in.channels, c.out.channels
	dWeights, _ := c.weights(v.gradient)
	from, line := c.picture(v), c.padded.width*channels
	for i := range c.size {
		pixels := kernel.View{Data: from[i*line:], Row: 1, Col: c.stride * channels, Run: c.out.width, Next: c.stride * line}
		w.Multiply(dWeights[i*c.row()*filters:], filters, pixels, rows(v.dOut, filters), c.row(), filters, c.out.height*c.out.width, v.add)
	}
}

// inputGradient adds, for each pixel of a window, deltas times weights to the inputs that the pixel met.
func (c conv) inputGradient(w *kernel.Workspace, v visit, dIn, deltas []float32, pitch, lines, run int) {
	channels, filters := c.in.channels, c.out.channels
	clear(dIn)
	for row := range lines {
		for i := range c.size {
			for j := range c.size {
				to := dIn[((row*c.stride+i)*c.padded.width+j)*channels:]
				w.Multiply(to, c.stride*channels, rows(deltas[row*pitch*filters:], filters), rows(v.turned[(i*c.size+j)*filters*channels:], channels), run, channels, filters, true)
			}
		}
	}
}
