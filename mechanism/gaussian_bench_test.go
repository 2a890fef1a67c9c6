package mechanism

import (
	"testing"

	"hubbub/noise"
)

// BenchmarkGaussianStep is what the mechanism adds to a step of DP-SGD with 63,610 weights: encoding the sum of clipped gradients,
// noise, decoding, and a local contribution beside them.
func BenchmarkGaussianStep(b *testing.B) {
	const weights = 63_610
	central, err := NewGaussian(Central, 1, 1)
	if err != nil {
		b.Fatal(err)
	}
	local, err := NewGaussian(Local, 1, 1)
	if err != nil {
		b.Fatal(err)
	}
	random := noise.Seeded(1).Stream()
	sum, update := make([]int64, weights), make([]float32, weights)
	random.Gaussian32(update)
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"encode", func() error { return central.ContributeSum(sum, update) }},
		{"noise", func() error { central.ServerNoise(sum, random); return nil }},
		{"decode", func() error { central.Decode(update, sum, 240); return nil }},
		{"local", func() error { return local.Contribute(sum, update, random) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			for b.Loop() {
				if err := part.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/weights, "ns/weight")
		})
	}
}
