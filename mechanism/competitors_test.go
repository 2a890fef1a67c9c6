package mechanism

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hubbub/accountant"
	"hubbub/noise"
)

func TestDiscreteGaussianCarriesItsEvent(t *testing.T) {
	c := DiscreteGaussianConfig{Encoding: paper().Encoding, Crowd: Crowd{Shares: 200, Clients: 240}, Sigma2: 4}
	for _, v := range []struct {
		name   string
		change func(*DiscreteGaussianConfig)
		norm   float64
		width  int
		shares int
	}{
		{"held to the paper's bound (127.03781, computed independently)", func(*DiscreteGaussianConfig) {}, 127.03781, 63_610, 200},
		{"rotation counts the padding too", func(c *DiscreteGaussianConfig) { c.Rotate, c.RotationKey = true, noise.Seeded(1) }, RoundedNorm(65_536, 10, math.Exp(-0.5)), 65_536, 200},
		{"without a condition a rounding can add sqrt(d)", func(c *DiscreteGaussianConfig) { c.Rounding = Stochastic }, 10 + math.Sqrt(63_610), 63_610, 200},
		{"a committee's shares are its members'", func(c *DiscreteGaussianConfig) { c.Noise, c.Shares = Exact, 20 }, 127.03781, 63_610, 20},
	} {
		config := c
		v.change(&config)
		m, err := NewDiscreteGaussian(config)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Event().(accountant.DiscreteGaussianSum)
		if got.Clients != v.shares || got.Sigma2 != 4 || got.Dim != v.width || math.Abs(got.L2-v.norm) > 1e-4 {
			t.Errorf("%s: %+v", v.name, got)
		}
	}
}

func TestSMMAndBinomialCarryTheirEvents(t *testing.T) {
	e := paper().Encoding
	e.Clip = 0
	m, err := NewSMM(SMMConfig{Encoding: e, Crowd: Crowd{Shares: 200, Clients: 240}, Rate: 50, C: 64, Linf: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Event(); got != (accountant.SMM{Rate: 50, C: 64, Linf: 3}) {
		t.Errorf("%+v", got)
	}
	if got := m.ClipNorm(); math.Abs(got-0.8) > 1e-12 {
		t.Errorf("c 64 in steps of 0.1 bounds the norm by 0.8, not %g", got)
	}
	e = Encoding{Dimension: 100, Clip: 2, Bits: 24}
	b, err := NewBinomial(BinomialConfig{Encoding: e, Crowd: Crowd{Shares: 10, Clients: 12}, Levels: 17, Trials: 1000})
	if err != nil {
		t.Fatal(err)
	}
	// In steps the clip is 8: 8² + 100/4 + 1·(8 + 10/2) = 102.
	norm := math.Sqrt(102)
	got := b.Event().(accountant.CPSGD)
	if math.Abs(got.L2-norm) > 1e-9 || math.Abs(got.L1-10*norm) > 1e-9 || got.Linf != 8 || got.Trials != 10_000 || got.P != 0.5 || got.Dim != 100 {
		t.Errorf("%+v", got)
	}
	e.Dimension = 1
	b, err = NewBinomial(BinomialConfig{Encoding: e, Crowd: Crowd{Shares: 10, Clients: 12}, Levels: 17, Trials: 1000, P: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Event(); got != (accountant.Binomial{Trials: 10_000, P: 0.25, Shift: 8}) {
		t.Errorf("in one dimension: %+v", got)
	}
}

// Every event is one that the accountant prices: finite at delta 1e-5, and less with twice the noise.
func TestAccountantPricesEveryMechanism(t *testing.T) {
	const d = 1000
	events := map[string]func(more float64) (interface{ Event() accountant.Event }, error){
		"skellam": func(more float64) (interface{ Event() accountant.Event }, error) {
			return NewSkellam(SkellamConfig{Encoding: encoding(d, true, 0.1), Crowd: crowd(Exact), Rate: 100 * more})
		},
		"skellam, conditional": func(more float64) (interface{ Event() accountant.Event }, error) {
			return NewSkellam(SkellamConfig{Encoding: encoding(d, false, 0.1), Crowd: crowd(Exact), Rate: 300 * more, Rounding: Conditional, K: 3})
		},
		"ddgauss": func(more float64) (interface{ Event() accountant.Event }, error) {
			return NewDiscreteGaussian(DiscreteGaussianConfig{Encoding: encoding(d, false, 0.1), Crowd: crowd(ByShares), Sigma2: 100 * more})
		},
		"smm": func(more float64) (interface{ Event() accountant.Event }, error) {
			e := encoding(d, false, 0.1)
			e.Clip = 0
			return NewSMM(SMMConfig{Encoding: e, Crowd: crowd(ByShares), Rate: 200 * more, C: 100, Linf: 2})
		},
		"binomial": func(more float64) (interface{ Event() accountant.Event }, error) {
			e := encoding(d, false, 0)
			e.Bits = 32
			return NewBinomial(BinomialConfig{Encoding: e, Crowd: crowd(ByShares), Levels: 21, Trials: int(100_000 * more)})
		},
		"laplace": func(more float64) (interface{ Event() accountant.Event }, error) {
			return NewLaplace(Central, 1, more)
		},
	}
	for name, make := range events {
		var epsilon [2]float64
		for i := range epsilon {
			m, err := make(float64(1 + i))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			bound, err := accountant.Epsilon(accountant.About{Event: m.Event(), Adjacency: accountant.ZeroOut}, 1e-5, accountant.Best)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			epsilon[i] = bound.Epsilon
		}
		if !(epsilon[0] > epsilon[1] && epsilon[1] > 0 && epsilon[0] < 50) {
			t.Errorf("%s: epsilon %g, with twice the noise %g", name, epsilon[0], epsilon[1])
		}
	}
}

// The quick search for the factor against halving: on random vectors of all sizes.
func TestMixtureFactorIsTheLargestThatFits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for trial := range 300 {
		x := randomUpdate(r, 1+r.IntN(200), math.Exp(6*r.NormFloat64()))
		clampTo(x, 1e6)
		steps, c := math.Exp(r.NormFloat64()), math.Exp(3*r.NormFloat64())
		got := mixtureFactor(x, steps, c)
		lo, hi := 0.0, 1.0
		for range 120 {
			if mid := (lo + hi) / 2; mixtureNorm(x, steps*mid) <= c {
				lo = mid
			} else {
				hi = mid
			}
		}
		if mixtureNorm(x, steps) <= c {
			lo = 1
		}
		if got > lo*(1+1e-12) || got < lo*(1-2e-6) {
			t.Errorf("trial %d: factor %.9g, halving finds %.9g", trial, got, lo)
		}
	}
}

// x² + p - p² is the mean square of what x is rounded to, for negative numbers too.
func TestMixtureNormIsTheMeanSquareAfterRounding(t *testing.T) {
	for _, x := range []float32{0, 0.25, -0.25, 1, -1, 2.5, -3.75} {
		low := math.Floor(float64(x))
		p := float64(x) - low
		want := (1-p)*low*low + p*(low+1)*(low+1)
		if got := mixtureNorm([]float32{x}, 1); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g: %g, the mean square is %g", x, got, want)
		}
		if other := float64(x)*float64(x) + p - p*p; math.Abs(other-want) > 1e-12 {
			t.Errorf("%g: x² + p - p² is %g, the mean square %g", x, other, want)
		}
	}
}

// SMM clips a spike down to linf before it scales the rest, so a single outlier does not silence the others.
func TestSMMClampsBeforeItScales(t *testing.T) {
	m, err := NewSMM(SMMConfig{
		Encoding: Encoding{Dimension: 3, Granularity: 1, Bits: 20}, Crowd: Crowd{Shares: 1, Clients: 1}, Rate: 1, C: 100, Linf: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]int64, 3)
	if err := m.ContributeWithoutNoise(sum, []float32{1e30, -3, 2}, noise.Seeded(1).Stream()); err != nil {
		t.Fatal(err)
	}
	if sum[0] < 3 || sum[0] > 4 || sum[1] != -3 || sum[2] != 2 {
		t.Errorf("%v", sum)
	}
}

func TestImpossibleCompetitorsAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	grid, levels := encoding(100, false, 0.1), encoding(100, false, 0)
	own := grid
	own.Clip = 0
	ddgauss := func(change func(*DiscreteGaussianConfig)) error {
		c := DiscreteGaussianConfig{Encoding: grid, Crowd: crowd(ByShares), Sigma2: 1}
		change(&c)
		_, err := NewDiscreteGaussian(c)
		return err
	}
	smm := func(change func(*SMMConfig)) error {
		c := SMMConfig{Encoding: own, Crowd: crowd(ByShares), Rate: 10, C: 100, Linf: 3}
		change(&c)
		_, err := NewSMM(c)
		return err
	}
	binomial := func(change func(*BinomialConfig)) error {
		c := BinomialConfig{Encoding: levels, Crowd: crowd(ByShares), Levels: 21, Trials: 100}
		change(&c)
		_, err := NewBinomial(c)
		return err
	}
	laplace := func(place Place, clip, scale float64) error { _, err := NewLaplace(place, clip, scale); return err }
	for _, c := range []struct {
		name string
		err  error
		says string
	}{
		{"ddgauss without noise", ddgauss(func(c *DiscreteGaussianConfig) { c.Sigma2 = 0 }), "sigma2 0"},
		{"ddgauss with less noise than its proof needs", ddgauss(func(c *DiscreteGaussianConfig) { c.Sigma2 = 0.2 }), "at least 0.25"},
		{"ddgauss with NaN", ddgauss(func(c *DiscreteGaussianConfig) { c.Sigma2 = nan }), "sigma2 NaN"},
		{"ddgauss with infinite noise", ddgauss(func(c *DiscreteGaussianConfig) { c.Sigma2 = inf }), "sigma2 +Inf"},
		{"ddgauss that never accepts", ddgauss(func(c *DiscreteGaussianConfig) { c.Beta = 0.99 }), "beta 0.99"},
		{"ddgauss with an impossible beta", ddgauss(func(c *DiscreteGaussianConfig) { c.Beta = -1 }), "beta -1"},
		{"ddgauss with a useless beta", ddgauss(func(c *DiscreteGaussianConfig) { c.Rounding, c.Beta = Stochastic, 0.5 }), "leave it out"},
		{"ddgauss with unknown rounding", ddgauss(func(c *DiscreteGaussianConfig) { c.Rounding = "down" }), `"down"`},
		{"ddgauss without shares", ddgauss(func(c *DiscreteGaussianConfig) { c.Shares = 0 }), "0 shares"},
		{"ddgauss without dimension", ddgauss(func(c *DiscreteGaussianConfig) { c.Dimension = 0 }), "dimension 0"},
		{"ddgauss with few bits", ddgauss(func(c *DiscreteGaussianConfig) { c.Bits = 6 }), "9 bits would do"},
		{"smm with a clip", smm(func(c *SMMConfig) { c.Clip = 1 }), "leave clip out"},
		{"smm without c", smm(func(c *SMMConfig) { c.C = 0 }), "c 0"},
		{"smm without linf", smm(func(c *SMMConfig) { c.Linf = 0 }), "linf 0"},
		{"smm with half a step", smm(func(c *SMMConfig) { c.Linf = 2.5 }), "linf 2.5"},
		{"smm without noise", smm(func(c *SMMConfig) { c.Rate = 0 }), "rate 0"},
		{"smm without granularity", smm(func(c *SMMConfig) { c.Granularity = 0 }), "0"},
		{"smm without shares", smm(func(c *SMMConfig) { c.Shares = 0 }), "0 shares"},
		{"smm with few bits", smm(func(c *SMMConfig) { c.Bits = 4 }), "8 bits would do"},
		{"binomial with a granularity", binomial(func(c *BinomialConfig) { c.Granularity = 0.1 }), "leave granularity out"},
		{"binomial with even levels", binomial(func(c *BinomialConfig) { c.Levels = 16 }), "16 levels"},
		{"binomial with one level", binomial(func(c *BinomialConfig) { c.Levels = 1 }), "1 levels"},
		{"binomial without trials", binomial(func(c *BinomialConfig) { c.Trials = 0 }), "0 trials"},
		{"binomial with half a mean", binomial(func(c *BinomialConfig) { c.Trials = 101 }), "mean 50.5"},
		{"binomial with too many trials", binomial(func(c *BinomialConfig) { c.Trials = 1 << 50 }), "exceed 2^50"},
		{"binomial with a certain coin", binomial(func(c *BinomialConfig) { c.P = 1 }), "p 1 "},
		{"binomial with NaN", binomial(func(c *BinomialConfig) { c.P = nan }), "p NaN"},
		{"binomial with few bits", binomial(func(c *BinomialConfig) { c.Bits = 8 }), "bits would do"},
		{"binomial with beta in one dimension", binomial(func(c *BinomialConfig) { c.Dimension, c.Beta = 1, 0.5 }), "one dimension"},
		{"binomial without shares", binomial(func(c *BinomialConfig) { c.Shares = 0 }), "0 shares"},
		{"laplace nowhere", laplace("both", 1, 1), `"both"`},
		{"laplace without clip", laplace(Central, 0, 1), "clip 0"},
		{"laplace with NaN clip", laplace(Central, nan, 1), "clip NaN"},
		{"laplace without noise", laplace(Local, 1, 0), "scale 0"},
		{"laplace with NaN noise", laplace(Local, 1, nan), "scale NaN"},
		{"laplace with endless noise", laplace(Local, 1, inf), "scale +Inf"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: want an error that says %q, got %v", c.name, c.says, c.err)
		}
	}
}

// In one dimension and on a coarse grid the likely norm after rounding is below 1. Its square, rounded down to zero, once meant that no
// norm was kept at all.
func TestACoarseGridStillKeepsItsNorm(t *testing.T) {
	m, err := NewDiscreteGaussian(DiscreteGaussianConfig{
		Encoding: Encoding{Dimension: 1, Clip: 1, Granularity: 5, Bits: 16}, Crowd: Crowd{Shares: 1, Clients: 1}, Sigma2: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.codec.limit < 1 || m.event.L2 < 1 {
		t.Errorf("limit %d and norm %g: nothing is kept", m.codec.limit, m.event.L2)
	}
}
