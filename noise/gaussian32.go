package noise

import "hubbub/internal/kernel"

// Gaussian32 fills dst with independent standard normal numbers, fast (Box and Muller 1958, in float32).
//
// The logarithm's argument has 31 bits and a half, so the tail is cut at sqrt(64 ln 2) = 6.66 standard deviations, where a
// normal number lies with probability 3e-11; use [Stream.Gaussian] where that matters. What is said there of adding floats
// to data holds here too. A call takes whole groups of 32 from the stream.
func (s *Stream) Gaussian32(dst []float32) {
	b := s.scratch()
	const perChunk = kernel.Chunk / 4
	if cipher := s.direct(); cipher != nil {
		for len(dst) >= perChunk {
			n := min(len(dst)&^(perChunk-1), blockSize)
			cipher.Normal32(dst[:n], b.words[:])
			dst = dst[n:]
		}
	}
	for len(dst) >= kernel.NormalGroup {
		n := min(len(dst)&^(kernel.NormalGroup-1), blockSize)
		s.read(b.words[:4*n])
		kernel.Normal32(dst[:n], b.words[:])
		dst = dst[n:]
	}
	if len(dst) > 0 {
		var group [kernel.NormalGroup]float32
		s.read(b.words[:4*kernel.NormalGroup])
		kernel.Normal32(group[:], b.words[:])
		copy(dst, group[:])
	}
}
