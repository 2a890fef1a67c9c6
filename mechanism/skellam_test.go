package mechanism

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hubbub/accountant"
	"hubbub/noise"
)

// paper is the setting of paper 002, Section 4, with m = 240 clients a round and L for epsilon 3 by its own bound; the bits
// are enough for any updates.
func paper() SkellamConfig {
	return SkellamConfig{
		Encoding: Encoding{Dimension: 63_610, Clip: 1, Granularity: 0.1, Bits: 13},
		Crowd:    Crowd{Shares: 240, Clients: 240}, Rate: 702.2,
	}
}

func skellam(t *testing.T, c SkellamConfig) *Skellam {
	t.Helper()
	s, err := NewSkellam(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSkellamCarriesTheEventOfItsRounding(t *testing.T) {
	rotated := paper()
	rotated.Rotate, rotated.RotationKey = true, noise.Seeded(1)
	conditional := paper()
	conditional.Rounding, conditional.K = Conditional, 5
	asPrinted := conditional
	asPrinted.Bound = accountant.SkellamDSM
	exact := paper()
	exact.Noise, exact.Shares = Exact, 7
	for _, c := range []struct {
		name   string
		config SkellamConfig
		want   accountant.Event
	}{
		{"stochastic rounding is priced together with the noise", paper(), accountant.RoundedSkellam{Rate: 702.2, L2: 10}},
		{"rotation changes no norm", rotated, accountant.RoundedSkellam{Rate: 702.2, L2: 10}},
		{"the rate is the total, not a share", exact, accountant.RoundedSkellam{Rate: 702.2, L2: 10}},
		{"conditional rounding is priced by the norm it keeps", conditional, accountant.Skellam{Rate: 702.2, L2: 50, Linf: 10}},
		{"the paper's bound knows no coordinate", asPrinted, accountant.Skellam{Rate: 702.2, L2: 50, Bound: accountant.SkellamDSM}},
	} {
		if got := skellam(t, c.config).Event(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The estimate against draws: 400 each, limits of 5 standard errors (false alarm 6e-7), on flat vectors.
func TestAcceptanceIsThatOfFlatVectors(t *testing.T) {
	for _, c := range []struct {
		dimension int
		l2, limit float64
	}{{1000, 10, 17.8}, {1000, 10, 17}, {5000, 10, 26.6}, {400, 9.5, 13.6}} {
		x := make([]float32, c.dimension)
		for i := range x {
			x[i] = float32(1 / math.Sqrt(float64(c.dimension)))
		}
		dst, random, accepted := make([]int64, c.dimension), noise.Seeded(uint64(c.dimension)).Stream(), 0.0
		const tries = 400
		for range tries {
			new(coins).roundStochastic(dst, x, nil, c.l2, random)
			if float64(squaredNorm(dst)) <= c.limit*c.limit {
				accepted++
			}
		}
		p := Acceptance(c.dimension, c.l2, c.limit)
		if z := (accepted - tries*p) / math.Sqrt(tries*p*(1-p)); math.Abs(z) > 5 {
			t.Errorf("%+v: %g of %d draws accepted, estimated %.3f", c, accepted, tries, p)
		}
	}
}

// The mean of the accepted counts is that of a binomial law cut at k²: 0.97866 of the flat vector at the paper's setting
// (THEORY). Here 300 draws in 2,000 dimensions, a limit of 6 standard errors (false alarm 2e-9).
func TestConditionalRoundingIsBiasedAsPredicted(t *testing.T) {
	const d, l2, limit, draws = 2000, 10.0, 21.0, 300
	x := make([]float32, d)
	for i := range x {
		x[i] = float32(1 / math.Sqrt(d))
	}
	law := distuv.Binomial{N: d, P: l2 / math.Sqrt(d)}
	mean, square, mass := 0.0, 0.0, 0.0
	for k := 0.0; k <= limit*limit; k++ {
		p := law.Prob(k)
		mass, mean, square = mass+p, mean+k*p, square+k*k*p
	}
	mean, square = mean/mass, square/mass
	if mean > 0.99*law.Mean() {
		t.Fatalf("this setting shows no bias: %g of %g", mean, law.Mean())
	}
	dst, random, sum := make([]int64, d), noise.Seeded(3).Stream(), 0.0
	for range draws {
		new(coins).roundConditional(dst, x, nil, l2, limit*limit, random)
		sum += float64(squaredNorm(dst))
	}
	if z := (sum - draws*mean) / math.Sqrt(draws*(square-mean*mean)); math.Abs(z) > 6 {
		t.Errorf("the mean count is %.2f, the cut law's %.2f", sum/draws, mean)
	}
}

// No draw can meet the limit, so every one falls back: what comes out is the update without its fractions.
func TestConditionalRoundingFallsBackTowardsZero(t *testing.T) {
	x := []float32{0.5, -1.5, 2.25, -0.75}
	dst := make([]int64, 4)
	new(coins).roundConditional(dst, x, nil, 1, 0, noise.Seeded(1).Stream())
	if fmt.Sprint(dst) != "[0 -1 2 0]" {
		t.Errorf("%v", dst)
	}
}

func TestBitsSufficeWithRotationWhereTheyDoNotWithout(t *testing.T) {
	c := paper()
	c.Rate, c.Noise, c.Bits = 22.4, Exact, 8 // our own calibration of epsilon 3
	_, err := NewSkellam(c)
	if err == nil || !strings.Contains(err.Error(), "8 bits are too few") || !strings.Contains(err.Error(), "13 bits would do") {
		t.Errorf("without rotation: %v", err)
	}
	c.Bits = 13
	skellam(t, c)
	c.Bits, c.Rotate, c.RotationKey = 8, true, noise.Seeded(5)
	skellam(t, c)
	c.Bits = 6
	if _, err := NewSkellam(c); err == nil || !strings.Contains(err.Error(), "8 bits would do") {
		t.Errorf("6 bits with rotation: %v", err)
	}
	c.AllowOverflow = true
	skellam(t, c)
}

// Updates that are as bad as they come: all clients send the same spike. The sum must survive its bits.
func TestWorstSumsFitTheBitsThatWereGranted(t *testing.T) {
	const clients, d = 60, 4000
	for _, rotate := range []bool{false, true} {
		c := SkellamConfig{
			Encoding: Encoding{Dimension: d, Clip: 1, Granularity: 0.1, Bits: 20, Rotate: rotate, RotationKey: noise.Seeded(3)},
			Crowd:    Crowd{Shares: 50, Clients: clients}, Rate: 30,
		}
		part := skellamPart(c.Rate * clients / 50)
		c.Bits = sumSpread(c.Encoding, shape{reach: c.l2()}, clients, part).bits()
		if rotate && c.Bits > 8 || !rotate && c.Bits != 11 {
			t.Errorf("rotation %v needs %d bits", rotate, c.Bits)
		}
		s := skellam(t, c)
		spike := make([]float32, d)
		spike[9] = 1
		sum, mean := make([]int64, s.Width()), make([]float32, d)
		for i := range clients {
			if err := s.Contribute(sum, spike, noise.Seeded(uint64(i)).Stream()); err != nil {
				t.Fatal(err)
			}
		}
		s.Decode(mean, sum, 1)
		// A wrapped coordinate would be off by 2^bits·0.1 before the rotation; noise and rounding have a deviation of 1.
		if math.Abs(float64(mean[9])-clients) > 10 {
			t.Errorf("rotation %v, %d bits: the spike of %d decodes to %g", rotate, c.Bits, clients, mean[9])
		}
	}
}

func TestGranularityFitsTheBudgetOfBits(t *testing.T) {
	last := math.Inf(1)
	for _, bits := range []int{7, 8, 10, 12} {
		c := paper()
		c.Rotate, c.RotationKey, c.Bits, c.Noise = true, noise.Seeded(1), bits, Exact
		g, rate, err := c.FitGranularity(0.6)
		if err != nil {
			t.Fatal(err)
		}
		if deviation := g * math.Sqrt(2*rate); math.Abs(deviation-0.6) > 1e-9 {
			t.Errorf("%d bits: noise of deviation %g, want 0.6", bits, deviation)
		}
		if g >= last {
			t.Errorf("%d bits are granted granularity %g, fewer bits got %g", bits, g, last)
		}
		last = g
		c.Granularity, c.Rate = g, rate*rateHeadroom
		if _, err := NewSkellam(c); err != nil {
			t.Errorf("%d bits: the granularity chosen is refused: %v", bits, err)
		}
		c.Granularity = g / 1.1
		c.Rate *= 1.21
		if _, err := NewSkellam(c); err == nil {
			t.Errorf("%d bits: granularity %g would have done, %g was chosen", bits, c.Granularity, g)
		}
	}
	c := paper()
	c.Rotate, c.RotationKey, c.Bits, c.Noise = true, noise.Seeded(1), 6, Exact
	if _, _, err := c.FitGranularity(0.6); err == nil || !strings.Contains(err.Error(), "7 would do") {
		t.Errorf("6 bits for 240 clients: %v", err)
	}
	c.Bits = 30
	if g, rate, err := c.FitGranularity(0.6); err != nil || rate != maxFitRate || g <= 0 {
		t.Errorf("30 bits are more than is useful: granularity %g, rate %g, %v", g, rate, err)
	}
	for _, z := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, _, err := paper().FitGranularity(z); err == nil {
			t.Errorf("noise multiplier %g was accepted", z)
		}
	}
}

// The shares of n clients, drawn one by one and drawn at once, have the same variance, as have those of a committee; 2e5
// numbers, limits of 6 standard errors: a Skellam number's fourth moment is 3V² + V.
func TestSharesAddUpToTheTotal(t *testing.T) {
	const d, contributors = 200_000, 8
	base := SkellamConfig{
		Encoding: Encoding{Dimension: d, Clip: 1, Granularity: 0.5, Bits: 16}, Crowd: Crowd{Shares: 5, Clients: 10}, Rate: 3,
	}
	zeros := make([]float32, d)
	variance := func(name string, sum []int64, want float64) {
		square := 0.0
		for _, v := range sum {
			square += float64(v) * float64(v)
		}
		if z := (square - d*want) / math.Sqrt(d*(2*want*want+want)); math.Abs(z) > 6 {
			t.Errorf("%s: variance %.4f, want %.4f", name, square/d, want)
		}
	}
	s := skellam(t, base)
	one, once := make([]int64, d), make([]int64, d)
	for i := range contributors {
		random := noise.Seeded(uint64(i)).Stream()
		if err := s.Contribute(one, zeros, random); err != nil {
			t.Fatal(err)
		}
		if err := s.ContributeWithoutNoise(once, zeros, random); err != nil {
			t.Fatal(err)
		}
	}
	s.ServerNoise(one, noise.Seeded(9).Stream())
	if err := s.SharesNoise(once, contributors, noise.Seeded(10).Stream()); err != nil {
		t.Fatal(err)
	}
	variance("8 contributors with shares for 5", one, 2*3*8.0/5)
	variance("the same, drawn at once", once, 2*3*8.0/5)
	if got := s.NoiseVariance(contributors); math.Abs(got-2*3*8.0/5/4) > 1e-12 {
		t.Errorf("predicted %g", got)
	}
	base.Noise = Exact
	e, sum := skellam(t, base), make([]int64, d)
	for i := range contributors {
		if err := e.Contribute(sum, zeros, noise.Seeded(uint64(i)).Stream()); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range sum {
		if v != 0 {
			t.Fatal("a contribution carries noise of its own though the committee adds it")
		}
	}
	e.ServerNoise(sum, noise.Seeded(11).Stream())
	variance("the committee's", sum, 6)
	if got := e.NoiseVariance(contributors); math.Abs(got-6.0/4) > 1e-12 {
		t.Errorf("predicted %g", got)
	}
}

func TestImpossibleSkellamsAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		change func(*SkellamConfig)
		says   string
	}{
		"no rate":                       {func(c *SkellamConfig) { c.Rate = 0 }, "rate 0"},
		"a negative rate":               {func(c *SkellamConfig) { c.Rate = -1 }, "rate -1"},
		"a rate that is no number":      {func(c *SkellamConfig) { c.Rate = nan }, "rate NaN"},
		"endless noise":                 {func(c *SkellamConfig) { c.Rate = inf }, "rate +Inf"},
		"no clip":                       {func(c *SkellamConfig) { c.Clip = 0 }, "clip 0"},
		"a clip that is no number":      {func(c *SkellamConfig) { c.Clip = nan }, "clip NaN"},
		"no granularity":                {func(c *SkellamConfig) { c.Granularity = 0 }, "granularity 0"},
		"a granularity too fine":        {func(c *SkellamConfig) { c.Granularity = 1e-10 }, "exceeds 2^30"},
		"an empty vector":               {func(c *SkellamConfig) { c.Dimension = 0 }, "dimension 0"},
		"one bit":                       {func(c *SkellamConfig) { c.Bits = 1 }, "1 bits outside"},
		"bits beyond an int64":          {func(c *SkellamConfig) { c.Bits = 41 }, "41 bits outside"},
		"too few bits":                  {func(c *SkellamConfig) { c.Bits = 8 }, "13 bits would do"},
		"no shares":                     {func(c *SkellamConfig) { c.Shares = 0 }, "0 shares"},
		"shares of nobody":              {func(c *SkellamConfig) { c.Shares = -3 }, "-3 shares"},
		"more shares than clients":      {func(c *SkellamConfig) { c.Shares = 241 }, "241 shares exceed"},
		"no clients":                    {func(c *SkellamConfig) { c.Clients = 0 }, "0 clients"},
		"noise from elsewhere":          {func(c *SkellamConfig) { c.Noise = "cloud" }, `"cloud"`},
		"rotation without a key":        {func(c *SkellamConfig) { c.Rotate = true }, "rotation key"},
		"unknown rounding":              {func(c *SkellamConfig) { c.Rounding = "up" }, `"up"`},
		"k without conditional":         {func(c *SkellamConfig) { c.K = 5 }, "k 5"},
		"k below one":                   {func(c *SkellamConfig) { c.Rounding, c.K = Conditional, 0.9 }, "k 0.9"},
		"conditional without k":         {func(c *SkellamConfig) { c.Rounding = Conditional }, "k 0"},
		"an unknown bound":              {func(c *SkellamConfig) { c.Rounding, c.K, c.Bound = Conditional, 5, "best" }, `"best"`},
		"hopeless granularity":          {func(c *SkellamConfig) { c.Rounding, c.K, c.Granularity = Conditional, 5, 0.5 }, "raise k to 11.2"},
		"nothing but zeros can be sent": {func(c *SkellamConfig) { c.Dimension, c.Rounding, c.K, c.Granularity = 1, Conditional, 1.5, 2 }, "below 1"},
	} {
		t.Run(name, func(t *testing.T) {
			config := paper()
			c.change(&config)
			if _, err := NewSkellam(config); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("want an error that says %q, got %v", c.says, err)
			}
		})
	}
}

func BenchmarkSkellam(b *testing.B) {
	const d = 1_000_000
	update := randomUpdate(rand.New(rand.NewPCG(1, 1)), d, 2)
	for _, c := range []struct {
		bits   int
		rotate bool
	}{{8, false}, {12, false}, {16, false}, {8, true}, {12, true}, {16, true}} {
		b.Run(fmt.Sprintf("bits=%d/rotate=%v", c.bits, c.rotate), func(b *testing.B) {
			config := SkellamConfig{
				Encoding: Encoding{Dimension: d, Clip: 1, Granularity: 0.1, Bits: c.bits, Rotate: c.rotate, RotationKey: noise.Seeded(1), AllowOverflow: !c.rotate},
				Crowd:    Crowd{Shares: 100, Clients: 120},
			}
			if c.rotate {
				config.Granularity, config.Rate, _ = config.FitGranularity(0.6)
			} else {
				config.Rate = math.Ldexp(1, 2*c.bits-8) // noise of a sixteenth of the range
			}
			s, err := NewSkellam(config)
			if err != nil {
				b.Fatal(err)
			}
			sum, mean, random := make([]int64, s.Width()), make([]float32, d), noise.Seeded(1).Stream()
			for b.Loop() {
				if err := s.Contribute(sum, update, random); err != nil {
					b.Fatal(err)
				}
				s.Decode(mean, sum, 100)
			}
			b.ReportMetric(d*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcoordinates/s")
		})
	}
}
