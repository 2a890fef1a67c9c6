package kernel

import "math"

// The loops of optimizers: what they remember of gradients, and a step that is divided by a root. Products are rounded before they are
// added, in every version, so all give the same bits.
//
// What is remembered never stays below the least normal float32, but becomes zero: such numbers take processors a hundred times as long,
// and a memory that only decays would reach them and, by rounding, never leave.

func normalOrZero(x float32) float32 {
	if x < leastNormal && x > -leastNormal {
		return 0
	}
	return x
}

const leastNormal = 0x1p-126

// Decay moves every element of y towards x's: y = keep·y + (1-keep)·x.
func Decay(y []float32, keep float32, x []float32) {
	x = x[:len(y)]
	rest := 1 - keep
	for i := decayFast(y, keep, rest, x); i < len(y); i++ {
		y[i] = normalOrZero(float32(keep*y[i]) + float32(rest*x[i]))
	}
}

// DecaySquares moves every element of y towards the square of x's: y = keep·y + (1-keep)·x².
func DecaySquares(y []float32, keep float32, x []float32) {
	x = x[:len(y)]
	rest := 1 - keep
	for i := decaySquaresFast(y, keep, rest, x); i < len(y); i++ {
		y[i] = normalOrZero(float32(keep*y[i]) + float32(float32(rest*x[i])*x[i]))
	}
}

// Descend steps against a direction, each element by its own measure: params -= rate·direction / (√(correction·square) + tau).
func Descend(params, direction, square []float32, rate, correction, tau float32) {
	direction, square = direction[:len(params)], square[:len(params)]
	for i := descendFast(params, direction, square, rate, correction, tau); i < len(params); i++ {
		root := float32(math.Sqrt(float64(correction * square[i]))) // the compiler makes it one float32 instruction
		params[i] -= float32(rate*direction[i]) / (root + tau)
	}
}
