package nn

import "hubbub/internal/kernel"

// winograd is a convolution with windows of 3×3 and stride 1, by way of patches of 4×4 pixels, in 16 products that have 4/9 of the
// multiplications (see package kernel). Each of them multiplies one pixel of all patches by one of 16 matrices, channels by filters.
type winograd struct {
	conv
	whole picture // out, with its sides filled up to even ones: patches give 2×2 outputs
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

// points is how many products there are: one for each pixel of a patch.
const points = 16

// bandFloats is about how many numbers the maps of a band have, inputs and outputs: they should stay in the second cache.
const bandFloats = 1 << 17

// across is how many patches lie in a row, bandRows how many rows of them are mapped and multiplied at a time.
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

// maps are what patches became: for each point a matrix, patches by channels.
type maps struct {
	data              []float32
	patches, channels int
}

func (m maps) point(p int) []float32 { return m.data[p*m.patches*m.channels:] }

// band is some rows of patches and their maps.
type band struct {
	from, to        int // rows of patches
	across          int // patches in a row
	inputs, outputs maps
}

// eachBand calls do with band after band. The maps of all lie in the same memory.
func (c winograd) eachBand(scratch []float32, do func(b band)) {
	most := points * c.bandRows() * c.across()
	for from := 0; from < c.whole.height/2; from += c.bandRows() {
		to := min(from+c.bandRows(), c.whole.height/2)
		patches := (to - from) * c.across()
		do(band{from, to, c.across(), maps{scratch, patches, c.in.channels}, maps{scratch[most*c.in.channels:], patches, c.out.channels}})
	}
}

// rest is the scratch memory behind that of the bands.
func (c winograd) rest(scratch []float32) []float32 {
	return scratch[points*c.bandRows()*c.across()*(c.in.channels+c.out.channels):]
}

// eachRow calls do for every row of patches of the band: where its pixels lie, in a picture where patches begin two pixels apart, and
// its part of the maps.
func (b band) eachRow(pixels []float32, shape picture, m maps, do func(pixels, maps kernel.Patches)) {
	line := shape.width * shape.channels
	for row := b.from; row < b.to; row++ {
		do(kernel.Patches{Data: pixels[2*row*line:], Row: line, Col: m.channels, Next: 2 * m.channels},
			kernel.Patches{Data: m.data[(row-b.from)*b.across*m.channels:], Row: 4 * m.patches * m.channels, Col: m.patches * m.channels, Next: m.channels})
	}
}

func (c winograd) forward(w *kernel.Workspace, v visit) {
	channels, filters := c.in.channels, c.out.channels
	_, biases := c.weights(v.params)
	from, out := c.fill(v), v.out
	if c.whole != c.out {
		out = c.rest(v.scratch)[:c.whole.size()]
	}
	c.eachBand(v.scratch, func(b band) {
		b.eachRow(from, c.padded, b.inputs, func(pixels, maps kernel.Patches) {
			kernel.PatchOfInput(maps, pixels, b.across, channels)
		})
		for p := range points {
			weights := rows(v.turned[p*channels*filters:], filters)
			w.Multiply(b.outputs.point(p), filters, rows(b.inputs.point(p), channels), weights, b.inputs.patches, filters, channels, false)
		}
		b.eachRow(out, c.whole, b.outputs, func(pixels, maps kernel.Patches) {
			kernel.PatchToOutput(pixels, maps, b.across, biases)
		})
	})
	if c.whole != c.out {
		c.eachOutputLine(func(inside, whole int) { copy(v.out[inside:inside+c.out.width*filters], out[whole:]) })
	}
}

// eachOutputLine calls do with where each row of the output begins in itself and in the whole.
func (c winograd) eachOutputLine(do func(inside, whole int)) {
	for row := range c.out.height {
		do(row*c.out.width*c.out.channels, row*c.whole.width*c.out.channels)
	}
}

func (c winograd) backward(w *kernel.Workspace, v visit) {
	channels, filters := c.in.channels, c.out.channels
	dWeights, dBiases := c.weights(v.gradient)
	if !v.add {
		clear(dBiases)
	}
	kernel.AddRows(dBiases, v.dOut)

	each := channels * filters
	products, rest := c.rest(v.scratch)[:points*each], c.rest(v.scratch)[points*each:]
	from, deltas, dIn := c.picture(v), v.dOut, v.dIn
	if c.whole != c.out {
		deltas, rest = rest[:c.whole.size()], rest[c.whole.size():]
		clear(deltas)
		c.eachOutputLine(func(inside, whole int) { copy(deltas[whole:], v.dOut[inside:inside+c.out.width*filters]) })
	}
	if dIn != nil && c.pads() {
		dIn = rest[:c.padded.size()]
	}
	clear(dIn)
	c.eachBand(v.scratch, func(b band) {
		b.eachRow(from, c.padded, b.inputs, func(pixels, maps kernel.Patches) {
			kernel.PatchOfInput(maps, pixels, b.across, channels)
		})
		b.eachRow(deltas, c.whole, b.outputs, func(pixels, maps kernel.Patches) {
			kernel.PatchOfDeltas(maps, pixels, b.across, filters)
		})
		for p := range points {
			w.Multiply(products[p*each:], filters, columns(b.inputs.point(p), channels), rows(b.outputs.point(p), filters), channels, filters, b.inputs.patches, b.from > 0)
		}
		if dIn == nil {
			return
		}
		for p := range points { // over the maps of the inputs, which have done their part
			weights := rows(v.turned[(points+p)*each:], channels)
			w.Multiply(b.inputs.point(p), channels, rows(b.outputs.point(p), filters), weights, b.inputs.patches, channels, filters, false)
		}
		b.eachRow(dIn, c.padded, b.inputs, func(pixels, maps kernel.Patches) {
			kernel.PatchToInput(pixels, maps, b.across, channels)
		})
	})
	kernel.PatchToWeights(kernel.Patches{Data: dWeights, Row: 3 * each, Col: each}, kernel.Patches{Data: products, Row: 4 * each, Col: each}, 1, each, v.add)
	if dIn != nil && c.pads() {
		c.eachLine(func(inside, padded int) { copy(v.dIn[inside:inside+c.in.width*channels], dIn[padded:]) })
	}
}
