package adaptive

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"hubbub/noise"
)

func printed(t *testing.T, c PrintedConfig) *Printed {
	t.Helper()
	p, err := NewPrinted(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func gaussians(r *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * scale)
	}
	return x
}

func TestTruncationKeepsWeightsInTheirIntervals(t *testing.T) {
	p := printed(t, PrintedConfig{Tensors: Tensors{0, 5}, Truncation: 2, NoiseLevel: 1}) // q = |ŵ|
	l := Local{
		Global:   []float32{1, 1, 1, -1, 0},
		Trained:  []float32{1.25, 9, -9, -9, 3},
		Estimate: []float32{.5, .5, -.5, .25, 0},
	}
	got := make([]float32, 5)
	if err := p.Truncate(got, l); err != nil {
		t.Fatal(err)
	}
	for m, want := range []float32{1.25, 1.5, .5, -1.25, 0} {
		if got[m] != want {
			t.Errorf("weight %d: %g, want %g", m, got[m], want)
		}
	}
}

// Mean and variance of contributions under each reading of M. 20,000 weights and one contribution; limits of 6 standard errors, false
// alarm 2e-9 each. The bias is against the truncated weight: truncation itself is a bias, against the paper's Theorem 2.
func TestContributionsHaveTheNoiseOfEachReading(t *testing.T) {
	const weights = 20_000
	r := rand.New(rand.NewPCG(6, 6))
	l := Local{Global: gaussians(r, weights, .05), Trained: gaussians(r, weights, .05), Estimate: gaussians(r, weights, .05), Batch: 75}
	for _, c := range []struct {
		reading Reading
		m       float64
	}{{"", weights}, {EveryWeight, weights}, {EveryTensor, 4}, {NoRoot, 1}, {OneOfBatch, 1. / 75 / 75}} {
		p := printed(t, PrintedConfig{Tensors: Tensors{0, 10, 500, 501, weights}, NoiseLevel: 3, Reading: c.reading})
		contribution, cut := make([]float32, weights), make([]float32, weights)
		if err := errors.Join(p.Truncate(cut, l), p.Contribute(contribution, l, noise.Seeded(5).Stream())); err != nil {
			t.Fatal(err)
		}
		sum, square := 0.0, 0.0
		for m := range contribution {
			sigma := math.Sqrt(c.m) * 3 * 1.1 * math.Abs(float64(l.Estimate[m]))
			z := (float64(contribution[m]) - float64(cut[m])) / sigma
			sum += z
			square += z * z
		}
		if z := sum / math.Sqrt(weights); math.Abs(z) > 6 {
			t.Errorf("%q: bias of %.1f standard errors", c.reading, z)
		}
		if z := (square - weights) / math.Sqrt(2*weights); math.Abs(z) > 6 {
			t.Errorf("%q: variance off by %.1f standard errors", c.reading, z)
		}
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]PrintedConfig{
		"no tensors":                {NoiseLevel: 1},
		"tensors not from 0":        {Tensors: Tensors{1, 2}, NoiseLevel: 1},
		"an empty tensor":           {Tensors: Tensors{0, 2, 2}, NoiseLevel: 1},
		"no noise level":            {Tensors: Tensors{0, 2}},
		"an infinite noise level":   {Tensors: Tensors{0, 2}, NoiseLevel: inf},
		"a truncation of NaN":       {Tensors: Tensors{0, 2}, NoiseLevel: 1, Truncation: nan},
		"a negative truncation":     {Tensors: Tensors{0, 2}, NoiseLevel: 1, Truncation: -1},
		"a reading that is unknown": {Tensors: Tensors{0, 2}, NoiseLevel: 1, Reading: "layers"},
	} {
		if _, err := NewPrinted(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestBadModelsAreNotSent(t *testing.T) {
	p := printed(t, PrintedConfig{Tensors: Tensors{0, 2}, NoiseLevel: 1})
	good, short, bad := []float32{1, 1}, []float32{1}, []float32{1, float32(math.NaN())}
	for name, l := range map[string]Local{
		"a short global model": {Global: short, Trained: good, Estimate: good}, "a short trained model": {Global: good, Trained: short, Estimate: good}, "no estimate": {Global: good, Trained: good},
		"NaN in the global model": {Global: bad, Trained: good, Estimate: good}, "NaN in the trained model": {Global: good, Trained: bad, Estimate: good},
		"NaN in the estimate": {Global: good, Trained: good, Estimate: bad},
	} {
		contribution := []float32{5, 6}
		if err := p.Contribute(contribution, l, noise.Seeded(1).Stream()); err == nil || contribution[0] != 5 || contribution[1] != 6 {
			t.Errorf("%s: error %v, contribution %v", name, err, contribution)
		}
	}
	if err := p.Contribute(short, Local{Global: good, Trained: good, Estimate: good}, noise.Seeded(1).Stream()); err == nil {
		t.Error("a contribution without room was accepted")
	}
	ofBatch := printed(t, PrintedConfig{Tensors: Tensors{0, 2}, NoiseLevel: 1, Reading: OneOfBatch})
	if err := ofBatch.Contribute(make([]float32, 2), Local{Global: good, Trained: good, Estimate: good}, noise.Seeded(1).Stream()); err == nil {
		t.Error("an unknown batch was accepted")
	}
	huge := []float32{math.MaxFloat32, math.MaxFloat32}
	if err := p.Contribute(make([]float32, 2), Local{Global: huge, Trained: huge, Estimate: huge}, noise.Seeded(2).Stream()); !errors.Is(err, ErrNotFinite) {
		t.Errorf("a contribution past float32: %v", err)
	}
}
