package kernel

import (
	"crypto/aes"
	"encoding/binary"
	"math"
)

// NormalGroup is how many normal numbers are made together, from as many 32-bit words.
const NormalGroup = 32

// Normal32 fills dst, a multiple of [NormalGroup], with independent standard normal numbers from 4·len(dst) uniform bytes
// (Box and Muller 1958).
//
// Multiplications and additions are fused in the polynomials, and nowhere else, so every processor gives the same bits.
func Normal32(dst []float32, words []byte) {
	words = words[:4*len(dst)]
	if len(dst)%NormalGroup != 0 {
		panic("kernel: internal error: normal numbers come in groups of 32")
	}
	if len(dst) > 0 && !normal32Fast(dst, words) {
		normal32Plain(dst, words)
	}
}

// Normal32 is [Normal32] with the next words of the stream, which it leaves in words. Numbers come in whole chunks of them. Where the
// processor can, it encrypts the words of the next chunk while it works on these.
func (k *Keystream) Normal32(dst []float32, words []byte) {
	words = words[:4*len(dst)]
	done := 0
	if len(words) > Chunk {
		k.Fill(words[:Chunk])
		if drawNormal32Fast(k, dst, words) {
			k.Move(int64(len(words)-Chunk) / aes.BlockSize)
			done = len(dst) - Chunk/4
		} else {
			k.Fill(words[Chunk:])
		}
	} else {
		k.Fill(words)
	}
	Normal32(dst[done:], words[4*done:])
}

// Polynomials through the Chebyshev points of the interval, rounded to float32: relative errors 2e-8 for the logarithm
// of [sqrt(1/2), sqrt(2)], 4e-8 for the sine and 6e-8 for the cosine of up to an eighth of a turn.
var (
	logP = [...]float32{0.33333331, -0.25000307, 0.20001045, -0.16641282, 0.14214496, -0.12998183, 0.12622319, -0.07902744}
	sinP = [...]float32{1.5707964, -0.64596349, 0.07968022, -0.0046021491}
	cosP = [...]float32{1, -1.2336971, 0.25359857, -0.02040816}
)

// fused is a polynomial as horner, but each product and its sum are rounded once.
func fused(c []float32, x float32) float32 {
	y := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		y = fusedMultiplyAdd(y, x, c[i])
	}
	return y
}

// fusedMultiplyAdd is x·y + z, rounded once. The product is exact in float64; the sum is rounded there to an odd last bit unless it is
// exact, and then a second rounding does no harm (Boldo and Melquiond 2008).
func fusedMultiplyAdd(x, y, z float32) float32 {
	product, added := float64(x)*float64(y), float64(z)
	sum := product + added
	back := sum - product
	lost := (product - (sum - back)) + (added - back) // exact: Knuth's two-sum
	if bits := math.Float64bits(sum); lost != 0 && bits&1 == 0 {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}

// normal32Plain is the definition that the faster versions are held against.
func normal32Plain(dst []float32, words []byte) {
	const half = NormalGroup / 2
	for base := 0; base < len(dst); base += NormalGroup {
		for i := base; i < base+half; i++ {
			forRadius := binary.LittleEndian.Uint32(words[4*i:])
			forAngle := binary.LittleEndian.Uint32(words[4*(i+half):])

			u := float32(float32(int32(forRadius>>1))+0.5) * 0x1p-31 // in (0, 1]
			bits := math.Float32bits(u)
			exponent := int32(bits-math.Float32bits(math.Sqrt2/2)) >> 23
			f := math.Float32frombits(bits-uint32(exponent)<<23) - 1 // u = (1 + f)·2^exponent
			square := float32(f * f)
			log := float32(float32(fused(logP[:], f)*f) * square)
			log -= float32(0.5 * square)
			log += f
			log += float32(float32(exponent) * math.Ln2)
			radius := float32(math.Sqrt(float64(-2 * log))) // rounding twice changes no float32 square root (Figueroa 1995)

			t := float32(int32(forAngle<<2)) * 0x1p-32 // in [-1/2, 1/2] of a quarter turn
			square = float32(t * t)
			sin := float32(fused(sinP[:], square) * t)
			cos := fused(cosP[:], square)
			if forAngle>>30&1 == 1 { // an odd number of quarter turns
				sin, cos = cos, sin
			}
			negative := func(x float32, bit uint32) float32 {
				return math.Float32frombits(math.Float32bits(x) ^ bit&(1<<31))
			}
			dst[i] = negative(float32(sin*radius), forAngle)
			dst[i+half] = negative(float32(cos*radius), forAngle^forAngle<<1)
		}
	}
}
