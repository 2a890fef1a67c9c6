package kernel

// The loops below do what a faster version left: it takes whole groups of 16 elements, and says how many elements that were. Pixels and
// rows it takes only if each of them is whole groups.

// AddToRows adds x to every row of y; y has whole rows of x's length.
func AddToRows(y, x []float32) {
	for y = y[addToRowsFast(y, x):]; len(y) > 0; y = y[len(x):] {
		Axpy(y[:len(x)], 1, x)
	}
}

// AddRows adds every row of y to sum; y has whole rows of sum's length.
func AddRows(sum, y []float32) {
	for y = y[addRowsFast(sum, y):]; len(y) > 0; y = y[len(sum):] {
		Axpy(sum, 1, y[:len(sum)])
	}
}

// ReLU sets negative elements to zero.
func ReLU(x []float32) {
	for i := reluFast(x); i < len(x); i++ {
		if x[i] < 0 {
			x[i] = 0
		}
	}
}

// ReLUBack sets the deltas to zero where the output is not above zero.
func ReLUBack(delta, output []float32) {
	output = output[:len(delta)]
	for i := reluBackFast(delta, output); i < len(delta); i++ {
		if !(output[i] > 0) {
			delta[i] = 0
		}
	}
}

// Larger sets each element of y to x's, where that is larger, and that of which to number. y and which hold pixels, channels each, one
// after the other; x's pixels begin stride elements apart.
func Larger(y, which, x []float32, number float32, channels, stride int) {
	pixels := len(y) / channels
	_, _ = which[len(y)-1], x[(pixels-1)*stride+channels-1]
	for p := largerFast(y, which, x, number, pixels, channels, stride); p < pixels; p++ {
		for i, v := range x[p*stride : p*stride+channels] {
			if at := p*channels + i; v > y[at] {
				y[at], which[at] = v, number
			}
		}
	}
}

// AddWhere adds delta to dx where which is number. The pixels of delta and which follow each other; those of dx begin stride elements apart.
func AddWhere(dx, delta, which []float32, number float32, channels, stride int) {
	pixels := len(delta) / channels
	_, _ = which[len(delta)-1], dx[(pixels-1)*stride+channels-1]
	for p := addWhereFast(dx, delta, which, number, pixels, channels, stride); p < pixels; p++ {
		to := dx[p*stride : p*stride+channels]
		for i := range to {
			if at := p*channels + i; which[at] == number {
				to[i] += delta[at]
			}
		}
	}
}

// SetWhere sets the pixels of dx to delta where which is number, and to zero elsewhere.
func SetWhere(dx, delta, which []float32, number float32, channels, stride int) {
	pixels := len(delta) / channels
	_, _ = which[len(delta)-1], dx[(pixels-1)*stride+channels-1]
	for p := setWhereFast(dx, delta, which, number, pixels, channels, stride); p < pixels; p++ {
		to := dx[p*stride : p*stride+channels]
		for i := range to {
			to[i] = 0
			if at := p*channels + i; which[at] == number {
				to[i] = delta[at]
			}
		}
	}
}
