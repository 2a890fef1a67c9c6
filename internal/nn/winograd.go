package nn

import "hubbub/internal/kernel"

// winograd is a convolution with windows of 3×3 and stride 1, by way of squares of 4×4 pixels, in 16 products that have 4/9 of the
// multiplications (see package kernel). Each of them multiplies one pixel of all squares by one of 16 matrices, channels by filters.
type winograd struct {
	conv
	whole picture // out, with its sides filled up to even ones: squares give 2×2 outputs
}

// suitsWinograd says whether the maps cost less than the products save: not with few channels or filters, and not with few pixels,
// where an example has less to multiply than there are weights to map.
func (c conv) suitsWinograd() bool {
	const fewest = 16
	return c.size == 3 && c.stride == 1 && c.in.channels >= fewest && c.out.channels >= fewest && c.out.height*c.out.width >= 4*fewest
}

func newWinograd(c conv) winograd {
	even := func(side int) int { return (side + 1) / 2 * 2 }
	whole := picture{even(c.out.height), even(c.out.width), c.out.channels}
	c.padded.height, c.padded.width = whole.height+2, whole.width+2
	return winograd{c, whole}
}

// points is how many products there are: one for each pixel of a square.
const points = 16

// bandFloats is about how many numbers the maps of a band have, inputs and outputs: they should stay in the second cache.
const bandFloats = 1 << 17

// across is how many squares lie in a row, bandRows how many rows of them are mapped and multiplied at a time.
func (c winograd) across() int { return c.whole.width / 2 }
func (c winograd) bandRows() int {
	rows := bandFloats / (points * c.across() * (c.in.channels + c.out.channels))
	return min(max(rows, 1), c.whole.height/2)
}

func (c winograd) turns() int { return 2 * points * c.in.channels * c.out.channels }

// turn maps the weights, for the way there, and transposes them, for the way back.
func (c winograd) turn(turned, params []float32) {
	weights, _ := c.weights(params)
	each := c.in.channels * c.out.channels
	there, back := turned[:points*each], turned[points*each:]
	kernel.PatchOfWeights(kernel.Patches{Data: there, Row: 4 * each, Col: each}, kernel.Patches{Data: weights, Row: 3 * each, Col: each}, 1, each)
	for at := 0; at < len(there); at += each {
		kernel.Transpose(back[at:at+each], there[at:at+each], c.out.channels)
	}
}

func (c winograd) scratch() int {
	n := points*c.bandRows()*c.across()*(c.in.channels+c.out.channels) + points*c.in.channels*c.out.channels
	if c.whole != c.out {
		n += c.whole.size()
	}
	if c.pads() {
		n += c.padded.size()
	}
	return n
}

// band is some rows of squares, and where their maps lie: for each point a matrix, squares by channels.
type band struct {
	from, to        int // rows of squares
	squares         int
	inputs, outputs []float32
}

// eachBand calls do with band after band. The maps of all lie in the same memory.
func (c winograd) eachBand(inputs, outputs []float32, do func(b band)) {
	for from := 0; from < c.whole.height/2; from += c.bandRows() {
		to := min(from+c.bandRows(), c.whole.height/2)
		do(band{from, to, (to - from) * c.across(), inputs, outputs})
	}
}

// memory cuts scratch memory into that for the maps of inputs and outputs, and the rest.
func (c winograd) memory(scratch []float32) (inputs, outputs, rest []float32) {
	n := points * c.bandRows() * c.across()
	return scratch[:n*c.in.channels], scratch[n*c.in.channels : n*(c.in.channels+c.out.channels)], scratch[n*(c.in.channels+c.out.channels):]
}

// eachRow calls do for every row of squares of the band, with its pixels, in a picture of this shape whose squares have corners two
// pixels apart, and its part of the maps.
func (b band) eachRow(pixels, maps []float32, p picture, do func(pixels, maps kernel.Patches)) {
	across := b.squares / (b.to - b.from)
	for row := b.from; row < b.to; row++ {
		do(kernel.Patches{Data: pixels[2*row*p.width*p.channels:], Row: p.width * p.channels, Col: p.channels, Next: 2 * p.channels},
			kernel.Patches{Data: maps[(row-b.from)*across*p.channels:], Row: 4 * b.squares * p.channels, Col: b.squares * p.channels, Next: p.channels})
	}
}

func (c winograd) forward(w *kernel.Workspace, v visit) {
	_, biases := c.weights(v.params)
	channels, filters := c.in.channels, c.out.channels
	inputs, outputs, rest := c.memory(v.scratch)
	from, out := c.fill(v), v.out
	if c.whole != c.out {
		out = rest[:c.whole.size()]
	}
	c.eachBand(inputs, outputs, func(b band) {
		b.eachRow(from, b.inputs, c.padded, func(pixels, maps kernel.Patches) {
			kernel.PatchOfInput(maps, pixels, c.across(), channels)
		})
		for p := range points {
			w.Multiply(b.outputs[p*b.squares*filters:], filters, rows(b.inputs[p*b.squares*channels:], channels), rows(v.turned[p*channels*filters:], filters), b.squares, filters, channels, false)
		}
		b.eachRow(out, b.outputs, c.whole, func(pixels, maps kernel.Patches) {
			kernel.PatchToOutput(pixels, maps, c.across(), biases)
		})
	})
	if c.whole != c.out {
		for row := range c.out.height {
			copy(v.out[row*c.out.width*filters:(row+1)*c.out.width*filters], out[row*c.whole.width*filters:])
		}
	}
}

func (c winograd) backward(w *kernel.Workspace, v visit) {
	channels, filters := c.in.channels, c.out.channels
	dWeights, dBiases := c.weights(v.gradient)
	if !v.add {
		clear(dBiases)
	}
	kernel.AddRows(dBiases, v.dOut)

	inputs, outputs, rest := c.memory(v.scratch)
	each := channels * filters
	products, rest := rest[:points*each], rest[points*each:]
	from, deltas, dIn := c.picture(v), v.dOut, v.dIn
	if c.whole != c.out {
		deltas, rest = rest[:c.whole.size()], rest[c.whole.size():]
		clear(deltas)
		for row := range c.out.height {
			copy(deltas[row*c.whole.width*filters:], v.dOut[row*c.out.width*filters:(row+1)*c.out.width*filters])
		}
	}
	if dIn != nil && c.pads() {
		dIn = rest[:c.padded.size()]
	}
	clear(dIn)
	c.eachBand(inputs, outputs, func(b band) {
		b.eachRow(from, b.inputs, c.padded, func(pixels, maps kernel.Patches) {
			kernel.PatchOfInput(maps, pixels, c.across(), channels)
		})
		b.eachRow(deltas, b.outputs, c.whole, func(pixels, maps kernel.Patches) {
			kernel.PatchOfDeltas(maps, pixels, c.across(), filters)
		})
		for p := range points {
			w.Multiply(products[p*each:], filters, columns(b.inputs[p*b.squares*channels:], channels), rows(b.outputs[p*b.squares*filters:], filters), channels, filters, b.squares, b.from > 0)
		}
		if dIn == nil {
			return
		}
		back := v.turned[points*each:] // what the inputs' maps gave is no longer needed
		for p := range points {
			w.Multiply(b.inputs[p*b.squares*channels:], channels, rows(b.outputs[p*b.squares*filters:], filters), rows(back[p*each:], channels), b.squares, channels, filters, false)
		}
		b.eachRow(dIn, b.inputs, c.padded, func(pixels, maps kernel.Patches) {
			kernel.PatchToInput(pixels, maps, c.across(), channels)
		})
	})
	kernel.PatchToWeights(kernel.Patches{Data: dWeights, Row: 3 * each, Col: each}, kernel.Patches{Data: products, Row: 4 * each, Col: each}, 1, each, v.add)
	if dIn != nil && c.pads() {
		c.eachLine(func(inside, padded int) { copy(v.dIn[inside:inside+c.in.width*channels], dIn[padded:]) })
	}
}
