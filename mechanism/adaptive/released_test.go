package adaptive

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"hubbub/accountant"
	"hubbub/noise"
)

func released(t *testing.T, c ReleasedConfig) *Released {
	t.Helper()
	r, err := NewReleased(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func round(t *testing.T, r *Released, newest, before []float32) *Round {
	t.Helper()
	round, err := r.Round(newest, before)
	if err != nil {
		t.Fatal(err)
	}
	return round
}

func TestIntervalsFollowReleasedModels(t *testing.T) {
	tensors := Tensors{0, 2, 3, 5}
	newest, before := []float32{3, -4, 0, 100, 100}, []float32{3, -2, 0, 100, 101}
	rms := math.Sqrt(12.5)
	for _, c := range []struct {
		name    string
		source  Source
		before  []float32
		want    []float64
		minimum float64
	}{
		{"weights: the root mean square of the tensor, capped", FromWeights, before, []float64{rms, 0, 10}, 0},
		{"weights: not below the smallest", FromWeights, nil, []float64{rms, .5, 10}, .5},
		{"change: the root mean square of the change", FromChange, before, []float64{math.Sqrt2, 0, math.Sqrt(.5)}, 0},
		{"change: the largest in the first round", FromChange, nil, []float64{10, 10, 10}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := released(t, ReleasedConfig{Tensors: tensors, Truncation: 2, NoiseLevel: 1, Source: c.source, Smallest: c.minimum, Largest: 10})
			got := round(t, r, newest, c.before)
			for g, q := range got.HalfIntervals() {
				if math.Abs(q-c.want[g]) > 1e-12 {
					t.Errorf("tensor %d: %g, want %g", g, q, c.want[g])
				}
			}
			// An interval of 0 sends a constant, and no noise is needed for it.
			for g, sigma := range got.Sigmas() {
				if (sigma == 0) != (c.want[g] == 0) {
					t.Errorf("tensor %d: half interval %g, sigma %g", g, c.want[g], sigma)
				}
			}
		})
	}
}

// What the proof needs, on the integers that are sent: for all updates of a client and others in their place, the
// distance in units of the noise is at most 1/σ0.
func TestNoUpdateIsFartherFromAnotherThanTheEventSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 20), 1, 6).Draw(t, "sizes")
		tensors := Tensors{0}
		for _, n := range sizes {
			tensors = append(tensors, tensors.weights()+n)
		}
		value := rapid.Float32Range(-1e6, 1e6)
		vector := rapid.SliceOfN(rapid.OneOf(value, rapid.Float32Range(-1e-6, 1e-6), rapid.Just(float32(0))), tensors.weights(), tensors.weights())
		noiseLevel := rapid.Float64Range(1e-3, 1e6).Draw(t, "noise level")
		r, err := NewReleased(ReleasedConfig{
			Tensors: tensors, NoiseLevel: noiseLevel, Largest: rapid.Float64Range(1e-9, 1e9).Draw(t, "largest"),
			Source: rapid.SampledFrom([]Source{FromWeights, FromChange}).Draw(t, "source"),
		})
		if err != nil {
			t.Fatal(err)
		}
		round, err := r.Round(vector.Draw(t, "newest"), vector.Draw(t, "before"))
		if err != nil {
			t.Fatal(err)
		}
		one, other := vector.Draw(t, "update"), vector.Draw(t, "other update")
		distance, widest := 0.0, 0.0
		for g, grid := range round.grids {
			if grid.step == 0 {
				continue // nothing sent
			}
			for m := tensors[g]; m < tensors[g+1]; m++ {
				steps := float64(grid.encode(one[m]) - grid.encode(other[m]))
				distance += math.Pow(steps*grid.step/grid.sigma, 2)
				widest += math.Pow(float64(2*grid.clip)*grid.step/grid.sigma, 2)
			}
		}
		if distance*noiseLevel*noiseLevel > 1 || widest*noiseLevel*noiseLevel > 1 {
			t.Errorf("distance² %g, at the most %g, of noise level %g", distance, widest, noiseLevel)
		}
	})
}

// The allocation of the noise spends the event and no less, and is no worse in total than the printed one with the same event.
func TestTheAllocationIsTightAndCheapest(t *testing.T) {
	tensors := Tensors{0, 800, 810, 900}
	r := rand.New(rand.NewPCG(8, 8))
	newest := append(append(gaussians(r, 800, .01), gaussians(r, 10, 2)...), gaussians(r, 90, .3)...)
	got := round(t, released(t, ReleasedConfig{Tensors: tensors, NoiseLevel: 4, Largest: 5}), newest, nil)
	spent, total, printed := 0.0, 0.0, 0.0
	for g, q := range got.HalfIntervals() {
		n := float64(tensors[g+1] - tensors[g])
		sigma := got.Sigmas()[g]
		spent += n * math.Pow(2*q/sigma, 2)
		total += n * sigma * sigma
		printed += n * 900 * math.Pow(4*2*q, 2) // σ_m = √M·σ0·2q_m
	}
	if math.Abs(spent*16-1) > 1e-9 || spent*16 > 1 {
		t.Errorf("ΣD²/σ² = %.12f/σ0², want 1 from below", spent*16)
	}
	if total > printed/2 {
		t.Errorf("total variance %g, the printed allocation has %g: expected less than half with such unequal tensors", total, printed)
	}
}

// Mean and variance of the decoded sum, in every dimension: limits of 6 standard errors, false alarm 2e-9 each.
func TestSumsDecodeToTheTrueSumWithThePredictedNoise(t *testing.T) {
	const clients, weights = 6, 30_000
	tensors := Tensors{0, 100, 25_000, weights}
	r := rand.New(rand.NewPCG(9, 9))
	newest := append(gaussians(r, 25_000, .1), gaussians(r, 5_000, 1)...)
	c := round(t, released(t, ReleasedConfig{Tensors: tensors, NoiseLevel: .7, Largest: 3}), newest, nil)
	sum, want := make([]int64, weights), make([]float64, weights)
	for client := range clients {
		update := gaussians(r, weights, .05)
		if err := c.Contribute(sum, update, noise.Seeded(12).Derive("client", uint64(client)).Stream()); err != nil {
			t.Fatal(err)
		}
		for g, q := range c.HalfIntervals() {
			for m := tensors[g]; m < tensors[g+1]; m++ {
				want[m] += min(max(float64(update[m]), -q), q)
			}
		}
	}
	mean := make([]float32, weights)
	c.Decode(mean, sum, clients)
	for g, sigma := range c.Sigmas() {
		bias, square, n := 0.0, 0.0, float64(tensors[g+1]-tensors[g])
		for m := tensors[g]; m < tensors[g+1]; m++ {
			z := (float64(mean[m]) - want[m]/clients) / (sigma / math.Sqrt(clients))
			bias += z
			square += z * z
		}
		if z := bias / math.Sqrt(n); math.Abs(z) > 6 {
			t.Errorf("tensor %d: bias of %.1f standard errors", g, z)
		}
		if z := (square - n) / math.Sqrt(2*n); math.Abs(z) > 6 {
			t.Errorf("tensor %d: variance off by %.1f standard errors", g, z)
		}
	}
}

// A change of up to the interval arrives to within half a step of the grid, in every dimension.
func TestChangesWithinTheIntervalPassUnchanged(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for _, d := range []int{1, 10, 100_000} {
		c := round(t, released(t, ReleasedConfig{Tensors: Tensors{0, d}, NoiseLevel: 26, Smallest: .1, Largest: .1}), make([]float32, d), nil)
		grid := c.grids[0]
		for range 100 {
			change := float32((2*r.Float64() - 1) * .1)
			if off := math.Abs(float64(grid.encode(change))*grid.step - float64(change)); off > grid.step/2*(1+1e-9) {
				t.Fatalf("%d weights: %g is off by %g, a step is %g", d, change, off, grid.step)
			}
		}
		if grid.step > .1/1000 {
			t.Errorf("%d weights: a step of %g is coarse for an interval of 0.1", d, grid.step)
		}
	}
}

// The attacks of printed_paper_test.go find nothing here: intervals and noise are the same bits with and without the record.
func TestTheAttacksFailAgainstReleasedIntervals(t *testing.T) {
	const weights, trials = 5, 2000
	c := round(t, released(t, ReleasedConfig{Tensors: Tensors{0, 1, weights}, NoiseLevel: 26, Largest: 1}), make([]float32, weights), nil)
	for _, update := range [][]float32{make([]float32, weights), {.3, -.2, 20, 20, 20}} {
		for trial := range trials {
			sum := make([]int64, weights)
			if err := c.Contribute(sum, update, noise.Seeded(1).Derive("trial", uint64(trial)).Stream()); err != nil {
				t.Fatal(err)
			}
			for _, v := range sum {
				if v != 0 { // a model of zeros has intervals of 0: it stays, whatever the data
					t.Fatalf("update %v sent %v", update, sum)
				}
			}
		}
	}

	// Attack 2's energy, without and with the outlier: the same noise, moved by at most the interval, 1/(√M·2·26) of a standard deviation.
	const many, rounds = 1000, 200
	newest, moved := make([]float32, many), make([]float32, many)
	for m := range newest {
		newest[m], moved[m] = .05, .016
	}
	c = round(t, released(t, ReleasedConfig{Tensors: Tensors{0, many}, NoiseLevel: 26, Largest: 1}), newest, nil)
	energy := func(update []float32) (total float64) {
		for trial := range rounds {
			sum := make([]int64, many)
			if err := c.Contribute(sum, update, noise.Seeded(2).Derive("trial", uint64(trial)).Stream()); err != nil {
				t.Fatal(err)
			}
			for _, v := range sum {
				total += float64(v) * float64(v)
			}
		}
		return total
	}
	if ratio := energy(moved) / energy(make([]float32, many)); math.Abs(ratio-1) > 1e-3 {
		t.Errorf("the outlier changes the energy by a factor of %g; as printed it is 1.7424", ratio)
	}
}

func TestTheSoundEventProtectsAClient(t *testing.T) {
	about := released(t, ReleasedConfig{Tensors: Tensors{0, 1}, NoiseLevel: 26, Largest: 1}).About()
	want := accountant.About{Adjacency: accountant.ReplaceOne, Unit: accountant.Client, Event: accountant.Gaussian{NoiseMultiplier: 26}}
	if about != want {
		t.Errorf("%+v", about)
	}
	if err := accountant.Validate(about); err != nil {
		t.Error(err)
	}
}

// A tensor whose interval is drowned a hundred-million-fold sends nothing instead of a coarse integer.
func TestADrownedTensorSendsNothing(t *testing.T) {
	newest := make([]float32, 1001)
	for m := range newest {
		newest[m] = 1e15
	}
	newest[0] = 1e-15
	c := round(t, released(t, ReleasedConfig{Tensors: Tensors{0, 1, 1001}, NoiseLevel: 26, Largest: 1e20}), newest, nil)
	sum := make([]int64, 1001)
	if err := c.Contribute(sum, newest, noise.Seeded(1).Stream()); err != nil {
		t.Fatal(err)
	}
	if sum[0] != 0 || c.Sigmas()[0] != 0 || sum[1] == 0 {
		t.Errorf("sent %d and %d", sum[0], sum[1])
	}
}

func TestBadUpdatesAreRefusedAndAddNothing(t *testing.T) {
	r := released(t, ReleasedConfig{Tensors: Tensors{0, 2}, NoiseLevel: 1, Largest: 1})
	c := round(t, r, []float32{1, 1}, nil)
	for name, update := range map[string][]float32{"NaN": {1, float32(math.NaN())}, "infinity": {float32(math.Inf(1)), 0}, "short": {1}, "empty": {}} {
		sum := []int64{5, 6}
		err := c.Contribute(sum, update, noise.Seeded(1).Stream())
		if err == nil || sum[0] != 5 || sum[1] != 6 {
			t.Errorf("%s: error %v, sum %v", name, err, sum)
		}
		if len(update) == 2 && !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %v is not ErrNotFinite", name, err)
		}
	}
	if err := c.Contribute(make([]int64, 3), []float32{1, 1}, noise.Seeded(1).Stream()); err == nil {
		t.Error("a long sum was accepted")
	}
	if _, err := r.Round([]float32{1}, nil); err == nil {
		t.Error("a short model was accepted")
	}
	if _, err := r.Round([]float32{1, 2}, []float32{1, float32(math.Inf(1))}); !errors.Is(err, ErrNotFinite) {
		t.Errorf("an infinite model: %v", err)
	}
}

func TestImpossibleReleasedSettingsAreRefused(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]ReleasedConfig{
		"no tensors":                 {NoiseLevel: 1, Largest: 1},
		"no noise level":             {Tensors: Tensors{0, 1}, Largest: 1},
		"no largest interval":        {Tensors: Tensors{0, 1}, NoiseLevel: 1},
		"a largest interval of NaN":  {Tensors: Tensors{0, 1}, NoiseLevel: 1, Largest: nan},
		"smallest above the largest": {Tensors: Tensors{0, 1}, NoiseLevel: 1, Largest: 1, Smallest: 2},
		"a negative smallest":        {Tensors: Tensors{0, 1}, NoiseLevel: 1, Largest: 1, Smallest: -1},
		"an unknown source":          {Tensors: Tensors{0, 1}, NoiseLevel: 1, Largest: 1, Source: "gradients"},
		"a truncation of NaN":        {Tensors: Tensors{0, 1}, NoiseLevel: 1, Largest: 1, Truncation: nan},
	} {
		if _, err := NewReleased(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
