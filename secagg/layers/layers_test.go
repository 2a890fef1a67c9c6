package layers

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"hubbub/noise"
)

// Exact arithmetic for every cohort up to 60, every number of tolerated dropouts and every number that happens: in fractions the survivors hold
// one, and with the rounded rates the total or a little more.
func TestSurvivorsHoldTheTotalWhoeverDropsOut(t *testing.T) {
	const hidden = 22.38
	for clients := 1; clients <= 60; clients++ {
		for tolerated := 0; tolerated < clients; tolerated++ {
			colluders := (clients - tolerated) / 3
			law, err := New(Config{Skellam, hidden, clients - tolerated, colluders})
			if err != nil {
				t.Fatal(err)
			}
			layers, err := law.Cohort(clients)
			if err != nil {
				t.Fatal(err)
			}
			if layers.Tolerated() != tolerated {
				t.Fatalf("U=%d: %d dropouts tolerated, want %d", clients, layers.Tolerated(), tolerated)
			}
			for dropped := 0; dropped <= tolerated; dropped++ {
				kept, err := layers.Kept(dropped)
				if err != nil {
					t.Fatal(err)
				}
				parts, rates := new(big.Rat), new(big.Rat)
				for k := range kept {
					parts.Add(parts, fraction(clients, k))
					rates.Add(rates, new(big.Rat).SetFloat64(layers.Rate(k)))
				}
				survivors := big.NewRat(int64(clients-dropped), 1)
				if parts.Mul(parts, survivors).Cmp(big.NewRat(1, 1)) != 0 {
					t.Fatalf("U=%d T=%d D=%d: survivors hold %s of the total", clients, tolerated, dropped, parts)
				}
				rates.Mul(rates, survivors)
				most := new(big.Rat).Mul(law.total, new(big.Rat).SetFloat64(1+0x1p-52))
				if rates.Cmp(law.total) < 0 || rates.Cmp(most) > 0 {
					t.Fatalf("U=%d T=%d D=%d: total %s outside [%s, (1 + 2^-52) of it]", clients, tolerated, dropped, rates.FloatString(20), law.total.FloatString(20))
				}
				// Colluders survive and give their noise away: what is left is at least what had to stay hidden.
				left := new(big.Rat).Mul(rates, big.NewRat(int64(clients-dropped-colluders), int64(clients-dropped)))
				if left.Cmp(new(big.Rat).SetFloat64(hidden)) < 0 {
					t.Fatalf("U=%d T=%d D=%d c=%d: only %s unknown", clients, tolerated, dropped, colluders, left.FloatString(20))
				}
				unknown, err := layers.Unknown(dropped)
				if err != nil || new(big.Rat).SetFloat64(unknown).Cmp(left) > 0 || unknown < hidden {
					t.Fatalf("U=%d T=%d D=%d c=%d: Unknown %g, %v", clients, tolerated, dropped, colluders, unknown, err)
				}
			}
		}
	}
}

// The total must be fixed before the cohort is known: it is the same for all cohorts, and tight where the fewest survive.
func TestTheTotalDoesNotDependOnTheCohort(t *testing.T) {
	law, err := New(Config{Skellam, 100, 40, 8})
	if err != nil {
		t.Fatal(err)
	}
	if law.Total() != 125 { // 100·40/32
		t.Errorf("total %g, want 125", law.Total())
	}
	for clients := 40; clients < 80; clients++ {
		layers, err := law.Cohort(clients)
		if err != nil {
			t.Fatal(err)
		}
		all := 0.0
		for k := range layers.Count() {
			all += layers.Rate(k)
		}
		if got := all * 40; math.Abs(got-125) > 1e-10 {
			t.Errorf("U=%d: the fewest survivors hold %g", clients, got)
		}
		if unknown, err := layers.Unknown(layers.Tolerated()); err != nil || unknown != 100 {
			t.Errorf("U=%d: %g unknown at the minimum of survivors, want 100: %v", clients, unknown, err)
		}
	}
}

// The rates of Dordis, by hand: U = 4, two dropouts tolerated, total 24.
func TestRatesOfASmallCohort(t *testing.T) {
	law, err := New(Config{Binomial, 24, 2, 0})
	if err != nil {
		t.Fatal(err)
	}
	layers, err := law.Cohort(4)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{6, 2, 4} { // 24/4, 24/(4·3), 24/(3·2): a client holds 6, 8 or 12
		if layers.Rate(k) != want {
			t.Errorf("layer %d has %g, want %g", k, layers.Rate(k), want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		cohort int
		drops  int
		want   error
		why    string
	}{
		{"discrete gaussian does not add up", Config{"discrete-gaussian", 1, 2, 0}, 3, 0, ErrFamily, "skellam"},
		{"laplace does not add up", Config{"laplace", 1, 2, 0}, 3, 0, ErrFamily, "laplace"},
		{"no family", Config{"", 1, 2, 0}, 3, 0, ErrFamily, ""},
		{"no noise", Config{Skellam, 0, 2, 0}, 3, 0, ErrSetting, "above 0"},
		{"negative noise", Config{Skellam, -1, 2, 0}, 3, 0, ErrSetting, "above 0"},
		{"noise of NaN", Config{Skellam, math.NaN(), 2, 0}, 3, 0, ErrSetting, "above 0"},
		{"infinite noise", Config{Skellam, math.Inf(1), 2, 0}, 3, 0, ErrSetting, "finite"},
		{"no survivors", Config{Skellam, 1, 0, 0}, 3, 0, ErrSetting, "minimum of survivors"},
		{"everybody colludes", Config{Skellam, 1, 2, 2}, 3, 0, ErrSetting, "honest"},
		{"negative colluders", Config{Skellam, 1, 2, -1}, 3, 0, ErrSetting, "colluders"},
		{"a cohort below the minimum", Config{Skellam, 1, 4, 0}, 3, 0, ErrCohort, "minimum"},
		{"a cohort beyond reason", Config{Skellam, 1, 4, 0}, MaxCohort + 1, 0, ErrCohort, "most"},
		{"more dropouts than are made up for", Config{Skellam, 1, 4, 0}, 6, 3, ErrDropped, "at most 2"},
		{"negative dropouts", Config{Skellam, 1, 4, 0}, 6, -1, ErrDropped, ""},
		{"binomial trials that are not whole", Config{Binomial, 25, 2, 0}, 4, 0, ErrSetting, "whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			law, err := New(c.config)
			if err == nil {
				var layers *Layers
				if layers, err = law.Cohort(c.cohort); err == nil {
					_, err = layers.Kept(c.drops)
					if _, err2 := layers.Unknown(c.drops); !errors.Is(err2, c.want) {
						t.Errorf("Unknown: %v", err2)
					}
				}
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.why)
			}
		})
	}
}

// chiSquare compares draws with the law of Skellam(rate); cells with fewer than 20 expected draws are joined at each end.
func chiSquare(draws []int64, rate float64) (statistic float64, degrees int) {
	var pmf = func(k int) float64 { // sum over the two Poisson variables
		p := 0.0
		for i := 0; i < 400; i++ {
			lg1, _ := math.Lgamma(float64(i + 1))
			lg2, _ := math.Lgamma(float64(i + k + 1))
			p += math.Exp(float64(2*i+k)*math.Log(rate) - 2*rate - lg1 - lg2)
		}
		return p
	}
	n := float64(len(draws))
	edge := 0
	for tail := 1 - pmf(0); n*tail/2 > 20; edge++ {
		tail -= 2 * pmf(edge+1)
	}
	edge-- // cells -edge ... edge, the outer ones with their tails
	counts := map[int]int{}
	for _, x := range draws {
		counts[int(max(-int64(edge), min(int64(edge), x)))]++
	}
	inner := 0.0
	for k := -edge + 1; k < edge; k++ {
		inner += pmf(max(k, -k))
	}
	for k := -edge; k <= edge; k++ {
		expected := n * pmf(max(k, -k))
		if max(k, -k) == edge {
			expected = n * (1 - inner) / 2
		}
		d := float64(counts[k]) - expected
		statistic += d * d / expected
	}
	return statistic, 2 * edge
}

// Real draws: sample size 60,000 coordinates for each number of dropouts. A chi-square statistic with k degrees of freedom exceeds
// k + 2·sqrt(kx) + 2x with probability e^-x at most (Laurent, Massart 2000); x = 11.6 makes a false alarm over the eight cases 8e-5. The
// same statistic must notice one layer too many and one too few, or the test would show nothing.
func TestTheSumFollowsTheLawAfterEveryNumberOfDropouts(t *testing.T) {
	for _, c := range []struct {
		seed             uint64
		clients, minimum int
		colluders        int
	}{{1, 5, 2, 0}, {2, 6, 4, 1}, {3, 4, 4, 0}} {
		const coordinates, hidden = 60000, 6
		law, err := New(Config{Skellam, hidden, c.minimum, c.colluders})
		if err != nil {
			t.Fatal(err)
		}
		layers, err := law.Cohort(c.clients)
		if err != nil {
			t.Fatal(err)
		}
		sum := func(survivors, kept int) []int64 {
			total := make([]int64, coordinates)
			for k := range kept {
				sampler, err := noise.NewSkellam(layers.Rate(k))
				if err != nil {
					t.Fatal(err)
				}
				for i := range survivors {
					sampler.Add(total, noise.Seeded(c.seed).Derive("layer", uint64(i), uint64(k), uint64(survivors)).Stream())
				}
			}
			return total
		}
		for dropped := 0; dropped <= layers.Tolerated(); dropped++ {
			kept, err := layers.Kept(dropped)
			if err != nil {
				t.Fatal(err)
			}
			fits := func(kept int) bool {
				statistic, degrees := chiSquare(sum(c.clients-dropped, kept), law.Total())
				const x = 11.6
				return statistic < float64(degrees)+2*math.Sqrt(x*float64(degrees))+2*x
			}
			if !fits(kept) {
				t.Errorf("%+v: after %d dropouts the sum does not follow the law", c, dropped)
			}
			if kept < layers.Count() && fits(kept+1) {
				t.Errorf("%+v: after %d dropouts one layer too many went unnoticed", c, dropped)
			}
			if kept > 1 && fits(kept-1) {
				t.Errorf("%+v: after %d dropouts one layer too few went unnoticed", c, dropped)
			}
		}
	}
}
