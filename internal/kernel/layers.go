package kernel

// AddToRows adds x to every row of y; y has whole rows of x's length.
func AddToRows(y, x []float32) {
	for ; len(y) > 0; y = y[len(x):] {
		Axpy(y[:len(x)], 1, x)
	}
}

// AddRows adds every row of y to sum; y has whole rows of sum's length.
func AddRows(sum, y []float32) {
	for ; len(y) > 0; y = y[len(sum):] {
		Axpy(sum, 1, y[:len(sum)])
	}
}

// ReLU sets negative elements to zero.
func ReLU(x []float32) {
	for i, v := range x {
		if v < 0 {
			x[i] = 0
		}
	}
}

// ReLUBack sets the deltas to zero where the output is not above zero.
func ReLUBack(delta, output []float32) {
	output = output[:len(delta)]
	for i, v := range output {
		if !(v > 0) {
			delta[i] = 0
		}
	}
}

// Larger sets each element of y to x's, where that is larger.
func Larger(y, x []float32) {
	x = x[:len(y)]
	for i, v := range x {
		if v > y[i] {
			y[i] = v
		}
	}
}

// GiveToEqual moves deltas to where they came from: for each element with x = largest, delta is added to dx and becomes zero.
func GiveToEqual(dx, delta, x, largest []float32) {
	delta, x, largest = delta[:len(dx)], x[:len(dx)], largest[:len(dx)]
	for i, v := range x {
		if v == largest[i] {
			dx[i] += delta[i]
			delta[i] = 0
		}
	}
}
