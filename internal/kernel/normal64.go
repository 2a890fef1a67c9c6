package kernel

import (
	"encoding/binary"
	"math"
)

// Normal64Group is how many normal numbers are made together, from as many 64-bit words.
const Normal64Group = 16

// Normal64 fills dst, a multiple of [Normal64Group], with independent standard normal numbers from 8·len(dst) uniform bytes
// (Box and Muller 1958): a word for the radius and one for the angle of each pair.
//
// The radius exceeds r with a probability that is a whole number of 2^-64, off exp(-r²/2) by less than 2^-64 and the rounding
// below. The largest radius is sqrt(130 ln 2) = 9.49, where a normal number lies with probability 2e-21; the smallest is 2^-32.
// The angle has 64 bits: it lies on each of 2^64 points of the circle, or the float64 nearest to it, equally often.
//
// Relative errors, rounding and polynomials together: below 4e-16 for the logarithm, the sine and the cosine, and 6e-16 for a
// normal number. No multiplication is fused with an addition, so every processor gives the same bits.
func Normal64(dst []float64, words []byte) {
	words = words[:8*len(dst)]
	if len(dst)%Normal64Group != 0 {
		panic("kernel: internal error: normal numbers come in groups of 16")
	}
	if len(dst) > 0 && !normal64Fast(dst, words) {
		normal64Plain(dst, words)
	}
}

// Polynomials through the Chebyshev points of the interval, rounded to float64; errors relative to the function, without those of
// evaluating: 8e-18 for the logarithm, 4e-17 for the sine, 3e-17 for the cosine.
var (
	// (2·artanh(s) - 2s)/s³ of s² up to 1/9
	log64 = [...]float64{
		0.6666666666666666, 0.40000000000014585, 0.2857142856710876, 0.22222222717427864, 0.18181789436132859,
		0.15385570064958623, 0.13314144209654935, 0.12001072809590713, 0.08800738486144674, 0.1616404561194353,
	}
	// sin(t·π/2)/t and cos(t·π/2) of t² up to 1/4
	sin64 = [...]float64{
		1.5707963267948966, -0.6459640975062443, 0.07969262624604301, -0.004681754132340976, 0.0001604411507421909,
		-3.59864335298231e-06, 5.633933781537854e-08,
	}
	cos64 = [...]float64{
		1, -1.2337005501361697, 0.2536695079010467, -0.02086348076331121, 0.0009192602741831558,
		-2.520203677046026e-05, 4.710609726757823e-07, -6.321256869628588e-09,
	}
)

// horner64 is c[0] + x(c[1] + x(c[2] + ...)). The conversion keeps a compiler from fusing.
func horner64(c []float64, x float64) float64 {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = float64(y*x) + c[i]
	}
	return y
}

// logUniform64 is ln u for a uniform u in (0, 1): u = (word + 1/2)·2^-64 if that is below 1/2; words above are turned around and
// stand for 1 - u, so that u is as fine near 1 as near 0, and the logarithm never 0.
func logUniform64(word uint64) float64 {
	high := int64(word) < 0
	near := word // to the end at hand
	if high {
		near = ^word
	}
	v := float64(float64(int64(near))+0.5) * 0x1p-64 // in (0, 1/2]
	const ofHalf = 1022                              // the exponent of 1/2, as its bits have it
	bits := math.Float64bits(v)
	exponent := float64(int64(bits>>52) - ofHalf)
	f := math.Float64frombits(bits&(1<<52-1)|ofHalf<<52) - 1
	if high {
		exponent, f = 0, -v
	}
	// u = (1 + f)·2^exponent with f in [-1/2, 0): neither logarithm is positive, so that their sum loses nothing.
	// With s = f/(2 + f), ln(1 + f) = 2·artanh(s) = 2s + s·rest, and 2s = f - s·f.
	s := f / (2 + f)
	square := float64(s * s)
	rest := float64(horner64(log64[:], square) * square)
	return float64(exponent*math.Ln2) + (f - float64(s*(f-rest)))
}

// turn64 is sine and cosine of the angle that the word gives: a quarter turn from its top two bits, and the rest of it.
func turn64(word uint64) (sin, cos float64) {
	t := float64(int64(word<<2)) * 0x1p-64 // in [-1/2, 1/2] of a quarter turn
	square := float64(t * t)
	sin = float64(horner64(sin64[:], square) * t)
	cos = horner64(cos64[:], square)
	if word>>62&1 == 1 { // an odd number of quarter turns
		sin, cos = cos, sin
	}
	negative := func(x float64, bit uint64) float64 {
		return math.Float64frombits(math.Float64bits(x) ^ bit&(1<<63))
	}
	return negative(sin, word), negative(cos, word^word<<1)
}

// normal64Plain is the definition that the faster versions are held against.
func normal64Plain(dst []float64, words []byte) {
	const half = Normal64Group / 2
	for base := 0; base < len(dst); base += Normal64Group {
		for i := base; i < base+half; i++ {
			radius := math.Sqrt(-2 * logUniform64(binary.LittleEndian.Uint64(words[8*i:])))
			sin, cos := turn64(binary.LittleEndian.Uint64(words[8*(i+half):]))
			dst[i] = radius * sin
			dst[i+half] = radius * cos
		}
	}
}
