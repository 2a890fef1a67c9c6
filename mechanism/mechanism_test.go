package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hubbub/accountant"
	"hubbub/noise"
)

func gaussian(t *testing.T, place Place, clip, z float64) *Gaussian {
	t.Helper()
	g, err := NewGaussian(place, clip, z)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func randomUpdate(r *rand.Rand, d int, norm float64) []float32 {
	x := make([]float64, d)
	square := 0.0
	for i := range x {
		x[i] = r.NormFloat64()
		square += x[i] * x[i]
	}
	v := make([]float32, d)
	for i := range x {
		v[i] = float32(x[i] * norm / math.Sqrt(square))
	}
	return v
}

// The bound is on the integers that are sent, so it holds whatever float32 and the grid did before.
func TestNoContributionExceedsTheClip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 2, 100, 100_000} {
		for _, norm := range []float64{0, 1e-30, 0.5, 0.999999, 1, 1.000001, 7, 1e20} {
			for _, clip := range []float64{1e-6, 1, 3e4} {
				g := gaussian(t, Central, clip, 1)
				sum := make([]int64, d)
				if err := g.Contribute(sum, randomUpdate(r, d, norm*clip), nil); err != nil {
					t.Fatal(err)
				}
				square := 0.0
				for _, v := range sum {
					square += float64(v) * float64(v)
				}
				if got := math.Sqrt(square) * float64(g.grid); got > clip {
					t.Errorf("d %d, norm %g, clip %g: the contribution has norm %g", d, norm*clip, clip, got)
				} else if norm >= 1 && got < 0.998*clip && d > 1 {
					t.Errorf("d %d, norm %g, clip %g: clipped far below the bound, to %g", d, norm*clip, clip, got)
				}
			}
		}
	}
}

// A local grid must hold the noise too: with much of it the steps are coarse, and the bound must hold all the same. The noise
// is known, so it is taken off again.
func TestNoLocalContributionExceedsTheClipHoweverCoarseTheGrid(t *testing.T) {
	const d = 100_000
	r := rand.New(rand.NewPCG(6, 6))
	for _, z := range []float64{1, 1e3, 1e5, maxNoise} {
		g := gaussian(t, Local, 1, z)
		sum, noised := make([]int64, d), make([]int64, d)
		if err := g.Contribute(sum, randomUpdate(r, d, 2), noise.Seeded(8).Stream()); err != nil {
			t.Fatal(err)
		}
		g.addNoise(noised, noise.Seeded(8).Stream())
		square := 0.0
		for i := range sum {
			square += float64(sum[i]-noised[i]) * float64(sum[i]-noised[i])
		}
		if got := math.Sqrt(square) * float64(g.grid); got > 1 {
			t.Errorf("noise multiplier %g: the update has norm %g on the grid, the clip is 1", z, got)
		}
	}
}

// One client more or less moves a float32 sum of a full batch by no more than the clip, in the integers.
func TestBatchSumsKeepTheSensitivity(t *testing.T) {
	const d = 2000
	r := rand.New(rand.NewPCG(2, 2))
	g := gaussian(t, Central, 1, 1)
	for trial := range 20 {
		direction := randomUpdate(r, d, 1)
		with, without := make([]float32, d), make([]float32, d)
		for client := range MaxBatch {
			update := direction // all alike: the partial sums, and so their rounding, are as large as they get
			if trial%2 == 1 {
				update = randomUpdate(r, d, 1)
			}
			factor := float32(ClipFactor(1, 1))
			for i, v := range update {
				with[i] += factor * v
				if client != trial {
					without[i] += factor * v
				}
			}
		}
		a, b := make([]int64, d), make([]int64, d)
		if err := errors.Join(g.ContributeSum(a, with), g.ContributeSum(b, without)); err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for i := range a {
			square += float64(a[i]-b[i]) * float64(a[i]-b[i])
		}
		if got := math.Sqrt(square) * float64(g.grid); got > 1 {
			t.Errorf("trial %d: one client moved the sum by %g, the clip is 1", trial, got)
		}
	}
}

// The mean of the decoded sum and its variance, in every dimension: limits of 6 standard errors, false alarm 2e-9 each.
func TestSumsDecodeToTheTrueSumWithThePredictedNoise(t *testing.T) {
	const clients, clip, z = 5, 2.0, 0.7
	for _, place := range []Place{Central, Local} {
		for _, d := range []int{1, 3, 1000, 1_000_000} {
			t.Run(fmt.Sprintf("%s %d", place, d), func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, uint64(d)))
				g := gaussian(t, place, clip, z)
				key := noise.Seeded(11)
				sum, want := make([]int64, d), make([]float64, d)
				for c := range clients {
					update := randomUpdate(r, d, 1) // below the clip: passes unchanged
					if err := g.Contribute(sum, update, key.Derive("client", uint64(c)).Stream()); err != nil {
						t.Fatal(err)
					}
					for i, v := range update {
						want[i] += float64(v)
					}
				}
				g.ServerNoise(sum, key.Derive("server").Stream())
				mean := make([]float32, d)
				g.Decode(mean, sum, clients)
				sigma := z * clip / clients
				if place == Local {
					sigma *= math.Sqrt(clients)
				}
				bias, square := 0.0, 0.0
				for i := range mean {
					off := float64(mean[i]) - want[i]/clients
					bias += off
					square += off * off
				}
				n := float64(d)
				if z := bias / (sigma * math.Sqrt(n)); math.Abs(z) > 6 {
					t.Errorf("bias of %.1f standard errors", z)
				}
				if z := (square/(sigma*sigma) - n) / math.Sqrt(2*n); math.Abs(z) > 6 && d > 1 {
					t.Errorf("variance off by %.1f standard errors", z)
				}
			})
		}
	}
}

func TestNoneIsExactOnItsGrid(t *testing.T) {
	sum := make([]int64, 3)
	update := []float32{0.5, -4096, 0x1p-31}
	for range 4 {
		if err := (None{}).Contribute(sum, update, nil); err != nil {
			t.Fatal(err)
		}
	}
	mean := make([]float32, 3)
	None{}.Decode(mean, sum, 4)
	for i, v := range update {
		if mean[i] != v {
			t.Errorf("%g became %g", v, mean[i])
		}
	}
}

func TestBadUpdatesAreRefusedAndAddNothing(t *testing.T) {
	for name, update := range map[string][]float32{
		"NaN": {1, float32(math.NaN())}, "infinity": {float32(math.Inf(-1)), 1}, "too short": {1}, "too long": {1, 2, 3}, "empty": {},
	} {
		for _, m := range []interface {
			Contribute([]int64, []float32, *noise.Stream) error
		}{gaussian(t, Central, 1, 1), gaussian(t, Local, 1, 1), None{}} {
			sum := []int64{5, 6}
			err := m.Contribute(sum, update, noise.Seeded(1).Stream())
			if err == nil || sum[0] != 5 || sum[1] != 6 {
				t.Errorf("%T, %s: error %v, sum %v", m, name, err, sum)
			}
			if len(update) == 2 && !errors.Is(err, ErrNotFinite) {
				t.Errorf("%T, %s: %v is not ErrNotFinite", m, name, err)
			}
		}
	}
	if err := (None{}).Contribute(make([]int64, 1), []float32{5000}, nil); err == nil {
		t.Error("a diverged update was accepted")
	}
}

func TestImpossibleGaussiansAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		place   Place
		clip, z float64
	}{{Central, 0, 1}, {Central, -1, 1}, {Central, nan, 1}, {Central, inf, 1}, {Local, 1, 0}, {Local, 1, -2}, {Local, 1, nan}, {Local, 1, inf}, {"both", 1, 1}} {
		if _, err := NewGaussian(c.place, c.clip, c.z); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

func TestEveryMechanismCarriesItsEvent(t *testing.T) {
	if got := gaussian(t, Local, 3, 1.25).Event(); got != (accountant.Gaussian{NoiseMultiplier: 1.25}) {
		t.Errorf("%+v", got)
	}
	if got := (None{}).Event(); got != (accountant.None{}) {
		t.Errorf("%+v", got)
	}
}
