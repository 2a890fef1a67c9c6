package noise

import "hubbub/internal/kernel"

// Gaussian fills dst with independent standard normal numbers (Box and Muller 1958, in float64).
//
// The logarithm's argument has 64 bits and a half, so the tail is cut at sqrt(130 ln 2) = 9.49 standard deviations, where a
// normal number lies with probability 2e-21; [kernel.Normal64] states errors. The samples are floats: add them to data only on a
// fixed grid (mechanism.Gaussian does), because the low bits of a sum of floats tell of its terms (Mironov 2012). A call takes whole
// groups of 16 from the stream.
func (s *Stream) Gaussian(dst []float64) {
	b := s.scratch()
	for len(dst) >= kernel.Normal64Group {
		n := min(len(dst)&^(kernel.Normal64Group-1), blockSize/4) // few enough that words and numbers stay in the first cache
		s.read(b.words[:8*n])
		kernel.Normal64(dst[:n], b.words[:])
		dst = dst[n:]
	}
	if len(dst) > 0 {
		var group [kernel.Normal64Group]float64
		s.read(b.words[:8*kernel.Normal64Group])
		kernel.Normal64(group[:], b.words[:])
		copy(dst, group[:])
	}
}
