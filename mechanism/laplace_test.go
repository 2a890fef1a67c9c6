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

func laplace(t *testing.T, place Place, clip, scale float64) *Laplace {
	t.Helper()
	l, err := NewLaplace(place, clip, scale)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The L1 bound holds for the integers, however many coordinates share it.
func TestNoLaplaceContributionExceedsTheClip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 2, 100, 1_000_000} {
		for _, norm := range []float64{0, 1e-30, 0.5, 1, 7, 1e20} {
			for _, clip := range []float64{1e-6, 1, 3e4} {
				l := laplace(t, Central, clip, 1)
				sum := make([]int64, d)
				if err := l.Contribute(sum, randomUpdate(r, d, norm*clip), nil); err != nil {
					t.Fatal(err)
				}
				total := 0.0
				for _, v := range sum {
					total += math.Abs(float64(v))
				}
				if got := total * float64(l.grid); got > clip {
					t.Errorf("d %d, norm %g, clip %g: the contribution has L1 norm %g", d, norm*clip, clip, got)
				} else if norm >= 1 && got < 0.998*clip && d > 1 {
					t.Errorf("d %d, norm %g, clip %g: clipped far below the bound, to %g", d, norm*clip, clip, got)
				}
			}
		}
	}
}

// Bias, variance 2b² (b the scale) and the share beyond b·ln 10, one tenth, of the error: limits of 6 standard errors, false
// alarm 2e-9 each. A Laplace number's fourth moment is 24b⁴. Small dimensions are repeated up to 3,000 numbers.
func TestLaplaceSumsDecodeToTheTrueSumWithThePredictedNoise(t *testing.T) {
	const clients, clip, scale = 3, 2.0, 0.7
	for _, place := range []Place{Central, Local} {
		for _, d := range []int{1, 3, 1000, 1_000_000} {
			t.Run(fmt.Sprintf("%s %d", place, d), func(t *testing.T) {
				r := rand.New(rand.NewPCG(5, uint64(d)))
				l, random := laplace(t, place, clip, scale), noise.Seeded(uint64(d)).Stream()
				var bias, square, beyond, n float64
				b := scale * clip
				for range max(1, 3000/d) {
					sum, want := make([]int64, d), make([]float64, d)
					for range clients {
						update := randomUpdate(r, d, 1/math.Sqrt(float64(d))) // L1 norm of at most 1: passes unchanged
						if err := l.Contribute(sum, update, random); err != nil {
							t.Fatal(err)
						}
						for i, v := range update {
							want[i] += float64(v)
						}
					}
					l.ServerNoise(sum, random)
					mean := make([]float32, d)
					l.Decode(mean, sum, clients)
					for i := range mean {
						off := float64(mean[i])*clients - want[i]
						bias += off
						square += off * off
						n++
						if math.Abs(off) > b*math.Ln10 {
							beyond++
						}
					}
				}
				draws := 1.0
				if place == Local {
					draws = clients
				}
				variance := draws * 2 * b * b
				if z := bias / math.Sqrt(n*variance); math.Abs(z) > 6 {
					t.Errorf("bias of %.1f standard errors", z)
				}
				// Fourth cumulant 12b⁴ each.
				if z := (square - n*variance) / math.Sqrt(n*(2*variance*variance+draws*12*b*b*b*b)); math.Abs(z) > 6 {
					t.Errorf("variance off by %.1f standard errors", z)
				}
				if z := (beyond - n/10) / math.Sqrt(n*0.09); place == Central && math.Abs(z) > 6 {
					t.Errorf("%g of %g beyond one tenth's limit: %.1f standard errors", beyond, n, z)
				}
			})
		}
	}
}

func TestLaplaceRefusesBadUpdatesAndSums(t *testing.T) {
	if got := laplace(t, Local, 3, 1.25).Event(); got != (accountant.Laplace{Scale: 1.25}) {
		t.Errorf("%+v", got)
	}
	for _, place := range []Place{Central, Local} {
		l := laplace(t, place, 1, 1)
		for name, update := range map[string][]float32{
			"NaN": {1, float32(math.NaN())}, "infinity": {float32(math.Inf(-1)), 1}, "too short": {1}, "too long": {1, 2, 3}, "empty": {},
		} {
			sum := []int64{5, 6}
			if err := l.Contribute(sum, update, noise.Seeded(1).Stream()); err == nil || sum[0] != 5 || sum[1] != 6 {
				t.Errorf("%s, %s: error %v, sum %v", place, name, err, sum)
			}
		}
		if err := l.ContributeSum([]int64{0}, []float32{0}); !errors.Is(err, ErrOneByOne) {
			t.Errorf("%s: a sum of updates: %v", place, err)
		}
	}
	sum := make([]int64, 1000)
	laplace(t, Local, 1, 1).ServerNoise(sum, noise.Seeded(1).Stream())
	for _, v := range sum {
		if v != 0 {
			t.Fatal("the server adds noise that the clients have added")
		}
	}
}
