package sums

import (
	"math/rand/v2"
	"testing"
)

// A tenth of the entries of the paper's larger model; the time grows with the cube.
func BenchmarkFactorize(b *testing.B) {
	const d = 1500
	c := positive(rand.New(rand.NewPCG(1, 1)), d)
	values := make([]float64, len(c.Values))
	for b.Loop() {
		copy(values, c.Values)
		if _, err := Factorize(Covariance{d, values}, OneByOne); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(d)*d*d/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
}

func BenchmarkMoments(b *testing.B) {
	const d, rows = 2048, 512
	x := draw(rand.New(rand.NewPCG(1, 2)), rows, d)
	m, err := NewMoments(d)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := m.Add(x, OneByOne); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(d)*d*rows*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
}
