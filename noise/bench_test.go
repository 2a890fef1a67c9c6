package noise

import (
	"fmt"
	"testing"
	"time"
)

// The rates are printed in millions of samples a second, and as the share of what the stream alone would allow if it
// only delivered the 32 bits that a sample takes.

const benchLength = 1 << 16

func benchmark(b *testing.B, draw func(*Stream)) {
	s := Seeded(1).Stream()
	for b.Loop() {
		draw(s)
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)

	const passes = 500
	piece := make([]byte, 4*blockSize) // stays in the first cache, as the samplers' does
	start := time.Now()
	for range passes * benchLength / blockSize {
		s.read(piece)
	}
	alone := time.Since(start).Seconds() / passes
	b.ReportMetric(benchLength/seconds/1e6, "Msamples/s")
	b.ReportMetric(100*alone/seconds, "%ofstream")
}

func BenchmarkSamplers(b *testing.B) {
	x := make([]int64, benchLength)
	for _, c := range []struct {
		name string
		make func(variance float64) (sampler, error)
	}{
		{"skellam", func(v float64) (sampler, error) { return NewSkellam(v / 2) }},
		{"discretegaussian", func(v float64) (sampler, error) { return NewDiscreteGaussian(v) }},
		{"poisson", func(v float64) (sampler, error) { return NewPoisson(v) }},
		{"binomial", func(v float64) (sampler, error) { return NewBinomial(int(4*v), 0.5) }},
	} {
		for _, variance := range []float64{1, 100, 1e4, 1e6, 1e9} {
			b.Run(fmt.Sprintf("%s/variance=%g", c.name, variance), func(b *testing.B) {
				s, err := c.make(variance)
				if err != nil {
					b.Fatal(err)
				}
				benchmark(b, func(random *Stream) { s.Add(x, random) })
			})
		}
	}
}

func BenchmarkGaussian32(b *testing.B) {
	x := make([]float32, benchLength)
	benchmark(b, func(random *Stream) { random.Gaussian32(x) })
}

// BenchmarkPrepare is what a new table costs.
func BenchmarkPrepare(b *testing.B) {
	for _, variance := range []float64{1, 100, 1e4, 1e6, 1e9} {
		b.Run(fmt.Sprintf("skellam/variance=%g", variance), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewSkellam(variance / 2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOneSample(b *testing.B) {
	s, err := NewSkellam(50)
	if err != nil {
		b.Fatal(err)
	}
	random, x := Seeded(1).Stream(), make([]int64, 1)
	for b.Loop() {
		s.Add(x, random)
	}
}
