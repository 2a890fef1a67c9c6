package mechanism

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hubbub/noise"
)

// sparse draws an update that is zero but for some runs, and the same with nonsense for the zeros.
func sparse(r *rand.Rand, d int) (dense, marked []float32, runs Runs) {
	dense, marked, runs = make([]float32, d), make([]float32, d), Runs{}
	for i := range marked {
		marked[i] = float32(math.NaN())
	}
	for at := 32 * r.IntN(3); at < d; {
		to := min(d, at+32*(1+r.IntN(1<<r.IntN(9))))
		for i := at; i < to; i++ {
			dense[i] = float32(r.NormFloat64() / math.Sqrt(float64(d)))
			marked[i] = dense[i]
		}
		runs = append(runs, [2]int{at, to})
		at = to + 32*r.IntN(1<<r.IntN(9))
	}
	return dense, marked, runs
}

func TestRunsGiveTheSameSumsAsTheWholeUpdate(t *testing.T) {
	for _, kind := range integers {
		for _, d := range []int{1, 9, 64, 5000, 20_001} {
			for _, rotate := range []bool{false, true} {
				for _, source := range []Source{ByShares, Exact} {
					name := fmt.Sprintf("%s %d %v %s", kind.name, d, rotate, source)
					m, err := kind.make(d, rotate, source)
					if err != nil {
						t.Fatal(err)
					}
					r := rand.New(rand.NewPCG(uint64(d), 1))
					whole, byRuns := noise.Seeded(3).Stream(), noise.Seeded(3).Stream()
					want, got := make([]int64, m.Width()), make([]int64, m.Width())
					for range 4 {
						dense, marked, runs := sparse(r, d)
						if err := m.Contribute(want, dense, whole); err != nil {
							t.Fatal(err)
						}
						if err := m.ContributeRuns(got, marked, runs, byRuns); err != nil {
							t.Fatal(err)
						}
					}
					a, b := make([]float32, d), make([]float32, d)
					m.Decode(a, want, 4)
					m.Decode(b, got, 4)
					for i := range want {
						if (want[i]-got[i])&m.codec.mask != 0 {
							t.Fatalf("%s: sum %d is %d, want %d", name, i, got[i], want[i])
						}
					}
					if !slices.Equal(a, b) {
						t.Errorf("%s: another mean", name)
					}
					if whole.Uint64() != byRuns.Uint64() {
						t.Errorf("%s: the streams are not where they should be", name)
					}
				}
			}
		}
	}
}

func TestHopelessRoundingOfRunsStaysWithinThem(t *testing.T) {
	dense, marked, runs := sparse(rand.New(rand.NewPCG(2, 2)), 10_000)
	want, got := make([]int64, 10_000), make([]int64, 10_000)
	new(coins).roundConditional(want, dense, nil, 100, 0, noise.Seeded(1).Stream())
	new(coins).roundConditional(got, marked, runs, 100, 0, noise.Seeded(1).Stream())
	if !slices.Equal(got, want) { // what is outside the runs is left as it was: zero
		t.Error("other integers")
	}
}

func TestBadRunsAreRefused(t *testing.T) {
	m, err := integers[0].make(100, false, Exact)
	if err != nil {
		t.Fatal(err)
	}
	for name, runs := range map[string]Runs{
		"backwards": {{64, 32}}, "empty": {{32, 32}}, "overlapping": {{0, 64}, {32, 96}}, "beyond": {{96, 128}}, "odd start": {{8, 32}}, "odd end": {{32, 48}}, "negative": {{-32, 32}},
	} {
		if err := m.ContributeRuns(make([]int64, 100), make([]float32, 100), runs, noise.Seeded(1).Stream()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := m.ContributeRuns(make([]int64, 100), make([]float32, 100), Runs{{0, 32}, {64, 100}}, noise.Seeded(1).Stream()); err != nil {
		t.Error(err)
	}
}

// BenchmarkClient is one client of paper 002: 63,610 weights, a fifth of them other than zero, with the noise of the sum or its own.
func BenchmarkClient(b *testing.B) {
	const d = 63610
	update, runs := make([]float32, d), Runs{}
	r := rand.New(rand.NewPCG(1, 1))
	for at := 0; at+416 < d-890; at += 2016 {
		runs = append(runs, [2]int{at, at + 416})
	}
	runs = append(runs, [2]int{62720, d})
	for _, run := range runs {
		for i := run[0]; i < run[1]; i++ {
			update[i] = float32(r.NormFloat64()) * 0.02
		}
	}
	for _, source := range []Source{Exact, ByShares} {
		for _, rotate := range []bool{false, true} {
			m, err := NewSkellam(SkellamConfig{
				Encoding: Encoding{Dimension: d, Clip: 1, Granularity: 0.1, Bits: 16, Rotate: rotate, RotationKey: noise.Seeded(1)},
				Crowd:    Crowd{Noise: source, Shares: 200, Clients: 300}, Rate: 25,
			})
			if err != nil {
				b.Fatal(err)
			}
			sum, random := make([]int64, m.Width()), noise.Seeded(1).Stream()
			for _, runs := range []Runs{nil, runs} {
				b.Run(fmt.Sprintf("%s/rotate=%v/runs=%v", source, rotate, runs != nil), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if err := m.ContributeRuns(sum, update, runs, random); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
