package noise

// Gaussian32 fills dst with independent standard normal numbers.
func (s *Stream) Gaussian32(dst []float32) {
	var x [256]float64
	for len(dst) > 0 {
		n := min(len(dst), len(x))
		s.Gaussian(x[:n])
		for i := range n {
			dst[i] = float32(x[i])
		}
		dst = dst[n:]
	}
}
