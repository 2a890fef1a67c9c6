package mechanism

import (
	"math"
	"math/bits"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// rotation flattens vectors: signs that everybody knows, then a Walsh-Hadamard transform. It keeps lengths and adds up, so
// the sum of rotated updates is the rotated sum; and no coordinate of it is much larger than the others, whatever the updates
// were, which is what saves bits (Suresh et al. 2017, Distributed mean estimation with limited communication).
type rotation struct {
	signs []float32 // ±1, one for each coordinate of an update
	width int       // a power of two, at least len(signs): the length of a rotated vector
}

func newRotation(dimension int, key noise.Key) *rotation {
	r := &rotation{signs: make([]float32, dimension), width: powerOfTwo(dimension)}
	random := key.Derive("rotation signs").Stream()
	var word uint64
	for i := range r.signs {
		if i%64 == 0 {
			word = random.Uint64()
		}
		r.signs[i] = 1 - 2*float32(word&1)
		word >>= 1
	}
	return r
}

func powerOfTwo(atLeast int) int { return 1 << bits.Len(uint(atLeast-1)) }

// forward sets dst, of the rotation's width, to scale times the rotated x.
func (r *rotation) forward(dst, x []float32, scale float64) {
	dst, n := dst[:r.width], len(r.signs)
	kernel.Signed(dst[:n], x, r.signs, float32(scale/math.Sqrt(float64(r.width))))
	clear(dst[n:])
	kernel.Hadamard(dst)
}

// backward undoes forward and scales. It works in y, and sets dst to what is left without the padding.
func (r *rotation) backward(dst, y []float32, scale float64) {
	kernel.Hadamard(y[:r.width])
	kernel.Signed(dst[:len(r.signs)], y, r.signs, float32(scale/math.Sqrt(float64(r.width))))
}
