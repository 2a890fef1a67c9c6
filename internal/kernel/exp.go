package kernel

import "math"

// Exp replaces every element, none above zero, by its exponential. Below -80 it gives zero: beside the 1 that a softmax divides by, what is
// left out does not exist in a float32, and products with it would be slow denormal numbers.
//
// Relative error below 1.2e-7, rounding included. No multiplication is fused with an addition, so every processor gives the same bits.
func Exp(x []float32) {
	for i := expFast(x); i < len(x); i++ {
		x[i] = expPlain(x[i])
	}
}

const (
	leastExponent = -80
	// wholeMagic has a unit in its last place of 1: adding it rounds to a whole number, which its lowest bits then hold.
	wholeMagic = 0x1.8p23
	// ln 2 in two parts. The first has 9 bits, so that its product with an exponent is exact.
	ln2Upper, ln2Lower = 0x1.63p-1, -0x1.bd0106p-13
)

// expP is (e^r - 1 - r)/r² for r up to half of ln 2: a polynomial through the Chebyshev points, rounded to float32; the error of e^r is 1.1e-8.
var expP = [...]float32{0.5, 0.166665763, 0.0416665561, 0.00836317893, 0.0013926184}

// horner is c[0] + x(c[1] + x(c[2] + ...)). The conversion keeps a compiler from fusing.
func horner(c []float32, x float32) float32 {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = float32(y*x) + c[i]
	}
	return y
}

// expPlain is the definition that the faster versions are held against: e^x = 2^n·e^r with r = x - n·ln 2.
func expPlain(x float32) float32 {
	if x < leastExponent {
		return 0
	}
	shifted := float32(x*math.Log2E) + wholeMagic
	n := shifted - wholeMagic
	r := x - float32(n*ln2Upper)
	r -= float32(n * ln2Lower)
	y := float32(horner(expP[:], r) * float32(r*r))
	y += r
	y += 1
	return math.Float32frombits(math.Float32bits(y) + math.Float32bits(shifted)<<23)
}
