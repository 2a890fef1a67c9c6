package nn

import "hubbub/internal/kernel"

// dense is one fully connected layer of the head: weights of in×out, row-major, then out biases, and what follows it.
type dense struct {
	in, out    int
	at         int        // where its weights begin in the flat vector
	activation Activation // empty: none
}

func (d dense) weights(params []float32) []float32 { return params[d.at : d.at+d.in*d.out] }
func (d dense) biases(params []float32) []float32 {
	return params[d.at+d.in*d.out : d.at+(d.in+1)*d.out]
}

// forward sets the outputs of some examples.
func (d dense) forward(w *kernel.Workspace, params, outputs, inputs []float32) {
	examples := len(outputs) / d.out
	w.Multiply(outputs, d.out, rows(inputs, d.in), rows(d.weights(params), d.out), examples, d.out, d.in, false)
	kernel.AddToRows(outputs, d.biases(params))
	d.activation.apply(outputs)
}

// backward sets the loss's derivative by the inputs, from that by the sums before the activation: deltas times the weights,
// transposed. Where there are few examples it is less work to transpose the result.
func (d dense) backward(w *worker, params, dInputs, deltas []float32) {
	examples := len(deltas) / d.out
	weights := d.weights(params)
	if examples >= d.out {
		w.products.Multiply(dInputs, d.in, rows(deltas, d.out), columns(weights, d.out), examples, d.in, d.out, false)
		return
	}
	const most = 192 // rows whose results stay in the first cache
	w.turned = grow(w.turned, (d.out+most)*examples)
	turned, part := w.turned[:d.out*examples], w.turned[d.out*examples:]
	transpose(turned, deltas, d.out)
	for from := 0; from < d.in; from += most {
		height := min(most, d.in-from)
		w.products.Multiply(part, examples, rows(weights[from*d.out:], d.out), rows(turned, examples), height, examples, d.out, false)
		for e := range examples {
			row := dInputs[e*d.in+from : e*d.in+from+height]
			for i := range row {
				row[i] = part[i*examples+e]
			}
		}
	}
}

// transpose turns rows of so many columns into columns.
func transpose(dst, src []float32, columns int) {
	rows := len(src) / columns
	for i := range rows {
		for j, x := range src[i*columns : (i+1)*columns] {
			dst[j*rows+i] = x
		}
	}
}

// block is a range of rows of a dense layer's weights: the part of the summing product that one task does.
type block struct{ layer, from, to int }

// Layers with fewer weights than smallBlock are one block, since handing it out costs as much as the work; larger ones are several, of
// about largeBlock weights at the most.
const (
	smallBlock = 1 << 14
	largeBlock = 1 << 17
)

// sumGradients sets the rows of the block to the sum of the examples' gradients.
func (d dense) sumGradients(w *kernel.Workspace, sum []float32, b block, inputs, deltas []float32) {
	examples := len(deltas) / d.out
	part := d.weights(sum)[b.from*d.out : b.to*d.out]
	w.Multiply(part, d.out, columns(inputs[b.from:], d.in), rows(deltas, d.out), b.to-b.from, d.out, examples, false)
	if b.from == 0 {
		clear(d.biases(sum))
		kernel.AddRows(d.biases(sum), deltas)
	}
}
