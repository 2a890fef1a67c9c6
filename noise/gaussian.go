package noise

import "math"

// Gaussian fills dst with independent standard normal numbers (Box and Muller 1958, in float64).
//
// The logarithm's argument has 64 bits, so the tail is cut at sqrt(128 ln 2) = 9.42 standard deviations, where a normal
// number lies with probability 5e-21. The samples are floats: add them to data only on a fixed grid
// (mechanism.Gaussian does), because the low bits of a sum of floats tell of its terms (Mironov 2012).
func (s *Stream) Gaussian(dst []float64) {
	for i := 0; i < len(dst); i += 2 {
		u := (float64(s.Uint64()) + 0.5) * 0x1p-64 // in (0, 1]
		angle := float64(s.Uint64()>>11) * (2 * math.Pi * 0x1p-53)
		radius := math.Sqrt(-2 * math.Log(u))
		sin, cos := math.Sincos(angle)
		dst[i] = radius * cos
		if i+1 < len(dst) {
			dst[i+1] = radius * sin
		}
	}
}
