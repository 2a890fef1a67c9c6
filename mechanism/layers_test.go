package mechanism

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/noise"
)

// parts of the total in a cohort of n: a base of 1/n, and layers of 1/((n-k+1)(n-k)).
func layerParts(clients, count int) []float64 {
	parts := []float64{1 / float64(clients)}
	for k := 1; k < count; k++ {
		parts = append(parts, 1/float64((clients-k+1)*(clients-k)))
	}
	return parts
}

// Whoever drops out, the layers that are kept add up to noise of the same law as if it were drawn at once: a chi-square test over
// 2e5 numbers for each number of dropouts, a false alarm once in 1e6 tests.
func TestLayersThatAreKeptAddUpToTheTotal(t *testing.T) {
	const rate, clients, width = 3.0, 6, 200_000
	c := paper()
	c.Dimension, c.Rate, c.Noise, c.Bits, c.Rounding, c.K = width, rate, InLayers, 30, Stochastic, 0
	m := skellam(t, c)
	cut, err := m.Layers(layerParts(clients, 4))
	if err != nil {
		t.Fatal(err)
	}
	if d := cut.Distance(); !(d > 0 && d < 1e-20) {
		t.Errorf("the samplers are off by %g", d)
	}
	once, err := noise.NewSkellam(rate)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int64, 40*width)
	once.Add(want, noise.Seeded(99).Stream())
	for dropped := range 4 {
		sum := make([]int64, width)
		for client := dropped; client < clients; client++ {
			for k := 0; k <= dropped; k++ {
				cut.Add(sum, k, noise.Seeded(uint64(100*dropped+10*client+k)).Stream())
			}
		}
		if p := sameLaw(sum, want); p < 1e-6 {
			t.Errorf("%d dropouts: the noise that is left differs from the total, p = %g", dropped, p)
		}
	}
	// A layer too many is noticed.
	sum := make([]int64, width)
	for client := 1; client < clients; client++ {
		for k := 0; k <= 2; k++ {
			cut.Add(sum, k, noise.Seeded(uint64(7000+10*client+k)).Stream())
		}
	}
	if p := sameLaw(sum, want); p > 1e-6 {
		t.Errorf("a layer too many passes for the total, p = %g", p)
	}
}

// sameLaw is the p-value of a chi-square test that two samples, the second much larger, have one law.
func sameLaw(sample, reference []int64) float64 {
	const reach = 8
	bin := func(v int64) int { return int(min(max(v, -reach), reach)) + reach }
	var seen, expected [2*reach + 1]float64
	for _, v := range sample {
		seen[bin(v)]++
	}
	scale := float64(len(sample)) / float64(len(reference))
	for _, v := range reference {
		expected[bin(v)] += scale
	}
	chi := 0.0
	for i := range seen {
		// The reference is random too: its share of the variance is scale.
		chi += math.Pow(seen[i]-expected[i], 2) / (expected[i] * (1 + scale))
	}
	return distuv.ChiSquared{K: 2 * reach}.Survival(chi)
}

func TestNoiseThatDoesNotAddUpHasNoLayers(t *testing.T) {
	m, err := NewDiscreteGaussian(DiscreteGaussianConfig{
		Encoding: Encoding{Dimension: 10, Clip: 1, Granularity: 0.1, Bits: 20}, Crowd: Crowd{Shares: 5, Clients: 5, Noise: Exact}, Sigma2: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Layers([]float64{0.2}); !errors.Is(err, ErrNotDivisible) {
		t.Errorf("layers of discrete Gaussian noise: %v", err)
	}
}
