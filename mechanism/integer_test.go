package mechanism

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"hubbub/accountant"
	"hubbub/internal/kernel"
	"hubbub/noise"
)

// integers makes one of each integer mechanism, all with room for 12 clients at clip 1.
var integers = []struct {
	name string
	make func(d int, rotate bool, source Source) (*Integer, error)
}{
	{"skellam", func(d int, rotate bool, source Source) (*Integer, error) {
		m, err := NewSkellam(SkellamConfig{Encoding: encoding(d, rotate, 0.1), Crowd: crowd(source), Rate: 15})
		if err != nil {
			return nil, err
		}
		return m.Integer, nil
	}},
	{"skellam, conditional", func(d int, rotate bool, source Source) (*Integer, error) {
		// k leaves room for any draw, so that there is no bias to predict: 2·sqrt(d) is more than sqrt(d) + clip/granularity.
		k := 1 + 2*math.Sqrt(float64(2*d))
		m, err := NewSkellam(SkellamConfig{Encoding: encoding(d, rotate, 0.1), Crowd: crowd(source), Rate: 15, Rounding: Conditional, K: k})
		if err != nil {
			return nil, err
		}
		return m.Integer, nil
	}},
	{"ddgauss", func(d int, rotate bool, source Source) (*Integer, error) {
		m, err := NewDiscreteGaussian(DiscreteGaussianConfig{Encoding: encoding(d, rotate, 0.1), Crowd: crowd(source), Sigma2: 2.5})
		if err != nil {
			return nil, err
		}
		return m.Integer, nil
	}},
	{"ddgauss, stochastic", func(d int, rotate bool, source Source) (*Integer, error) {
		m, err := NewDiscreteGaussian(DiscreteGaussianConfig{Encoding: encoding(d, rotate, 0.1), Crowd: crowd(source), Sigma2: 0.3, Rounding: Stochastic})
		if err != nil {
			return nil, err
		}
		return m.Integer, nil
	}},
	{"smm", func(d int, rotate bool, source Source) (*Integer, error) {
		e := encoding(d, rotate, 0.1)
		e.Clip = 0
		m, err := NewSMM(SMMConfig{Encoding: e, Crowd: crowd(source), Rate: 15, C: 100 + float64(2*d)/4, Linf: 10})
		if err != nil {
			return nil, err
		}
		return m.Integer, nil
	}},
	{"binomial", func(d int, rotate bool, source Source) (*Integer, error) {
		m, err := NewBinomial(BinomialConfig{Encoding: encoding(d, rotate, 0), Crowd: crowd(source), Levels: 21, Trials: 20})
		if err != nil {
			return nil, err
		}
		return m.Integer, nil
	}},
}

func encoding(d int, rotate bool, granularity float64) Encoding {
	return Encoding{Dimension: d, Clip: 1, Granularity: granularity, Bits: 16, Rotate: rotate, RotationKey: noise.Seeded(77)}
}

func crowd(source Source) Crowd { return Crowd{Noise: source, Shares: 4, Clients: 12} }

// The error of the decoded sum against its predicted mean, 0, and its predicted variance: noise, and rounding's f(1-f) for the
// fractions f of what was rounded. Small dimensions are repeated up to 3,000 numbers. Limits of 6 standard errors; a false
// alarm has probability 2e-9 for each statistic. An error's fourth cumulant is at most its variance, in steps of the grid.
func TestProtectedUpdatesDecodeToTheirSumWithPredictedBiasAndVariance(t *testing.T) {
	for _, mechanism := range integers {
		for _, d := range []int{1, 2, 3, 100, 5000, 1_000_000} {
			for _, rotate := range []bool{false, true} {
				for _, source := range []Source{ByShares, Exact} {
					if d == 1_000_000 && (!rotate || source == Exact) {
						continue // the hardest is enough at this size
					}
					t.Run(fmt.Sprintf("%s %d %v %s", mechanism.name, d, rotate, source), func(t *testing.T) {
						m, err := mechanism.make(d, rotate, source)
						if err != nil {
							t.Fatal(err)
						}
						checkSums(t, m, d)
					})
				}
			}
		}
	}
}

func checkSums(t *testing.T, m *Integer, d int) {
	clients, norm := 6, 0.9
	if d > 100_000 {
		clients = 2
	}
	r := rand.New(rand.NewPCG(5, uint64(d)))
	random := noise.Seeded(uint64(d)).Stream()
	g := m.codec.Granularity
	var bias, square, predicted, count float64
	for range max(1, 3000/d) {
		sum, want := make([]int64, m.Width()), make([]float64, d)
		rounding := 0.0
		for range clients {
			update := randomUpdate(r, d, norm) // below the clip: passes unchanged
			if err := m.Contribute(sum, update, random); err != nil {
				t.Fatal(err)
			}
			for i, v := range update {
				want[i] += float64(v)
			}
			x, _, scale := m.codec.prepare(&scratch{}, update, nil, kernel.SumSquares(update))
			for _, v := range x {
				_, f := math.Modf(math.Abs(float64(v) * scale))
				rounding += f * (1 - f)
			}
		}
		m.ServerNoise(sum, random)
		mean := make([]float32, d)
		m.Decode(mean, sum, float64(clients))
		// The rotation spreads the rounding error of all coordinates evenly.
		predicted += float64(d) * (m.NoiseVariance(clients) + rounding/float64(m.Width())*g*g)
		for i := range mean {
			off := float64(mean[i])*float64(clients) - want[i]
			bias += off
			square += off * off
			count++
		}
	}
	variance := predicted / count
	if z := bias / math.Sqrt(predicted); math.Abs(z) > 6 {
		t.Errorf("bias of %.1f standard errors", z)
	}
	if z := (square - predicted) / math.Sqrt(count*(2*variance*variance+variance*g*g)); math.Abs(z) > 6 {
		t.Errorf("variance %.5g, predicted %.5g: off by %.1f standard errors", square/count, variance, z)
	}
}

// anyUpdate is short, so that rapid can shrink it, and has coordinates of all sizes.
func anyUpdate(t *rapid.T, d int) []float32 {
	x := make([]float32, d)
	for i := range x {
		x[i] = rapid.OneOf(rapid.Float32Range(-2, 2), rapid.Float32Range(-0.05, 0.05), rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32),
			rapid.SampledFrom([]float32{0, 0.1, -0.1, 0.05, math.SmallestNonzeroFloat32, math.MaxFloat32})).Draw(t, "x")
	}
	return x
}

// What the event promises holds for the integers, and before them for the numbers that are rounded, whatever the update.
func TestEveryContributionObeysTheBoundsOfItsEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 40).Draw(t, "dimension")
		e := Encoding{
			Dimension: d, Clip: rapid.Float64Range(0.01, 50).Draw(t, "clip"), Bits: 40,
			Rotate: rapid.Bool().Draw(t, "rotate"), RotationKey: noise.Seeded(uint64(d)), AllowOverflow: true,
		}
		update, random := anyUpdate(t, d), noise.Seeded(rapid.Uint64().Draw(t, "seed")).Stream()
		crowd := Crowd{Shares: 1, Clients: 1}
		ints := func(m *Integer) []int64 {
			sum := make([]int64, m.Width())
			if err := m.ContributeWithoutNoise(sum, update, random); err != nil {
				t.Fatal(err)
			}
			return sum
		}
		norms := func(x []int64) (l1, l2, linf float64) {
			for _, v := range x {
				a := math.Abs(float64(v))
				l1, l2, linf = l1+a, l2+a*a, max(linf, a)
			}
			return l1, math.Sqrt(l2), linf
		}
		over := func(what string, got, bound float64) {
			if got > bound*(1+1e-15) {
				t.Fatalf("%s: %.17g exceeds %.17g", what, got, bound)
			}
		}
		withGrid := e
		withGrid.Granularity = e.Clip / rapid.Float64Range(0.1, 1000).Draw(t, "clip/granularity")

		s, err := NewSkellam(SkellamConfig{Encoding: withGrid, Crowd: crowd, Rate: 5})
		if err != nil {
			t.Fatal(err)
		}
		x, _, scale := s.codec.prepare(&scratch{}, update, nil, kernel.SumSquares(update))
		square := 0.0
		for _, v := range x {
			cut := math.Trunc(float64(v)*scale*(1<<32)) / (1 << 32) // what the rounding is unbiased for
			square += cut * cut
		}
		over("skellam before rounding", math.Sqrt(square), s.event.(accountant.RoundedSkellam).L2)
		for i, v := range ints(s.Integer) {
			if off := float64(v) - float64(x[i])*scale; math.Abs(off) >= 1 {
				t.Fatalf("coordinate %d was rounded by %g", i, off)
			}
		}

		k := rapid.Float64Range(1.3, 4).Draw(t, "k")
		if s, err := NewSkellam(SkellamConfig{Encoding: withGrid, Crowd: crowd, Rate: 5, Rounding: Conditional, K: k}); err == nil {
			event := s.event.(accountant.Skellam)
			_, l2, linf := norms(ints(s.Integer))
			over("conditional skellam, L2", l2, event.L2)
			over("conditional skellam, Linf", linf, event.Linf)
		}
		for _, rounding := range []Rounding{Conditional, Stochastic} {
			m, err := NewDiscreteGaussian(DiscreteGaussianConfig{Encoding: withGrid, Crowd: crowd, Sigma2: 1, Rounding: rounding})
			if err != nil {
				t.Fatal(err)
			}
			_, l2, _ := norms(ints(m.Integer))
			over("ddgauss, L2", l2, m.event.L2)
		}

		own := withGrid
		own.Clip = 0
		m, err := NewSMM(SMMConfig{
			Encoding: own, Crowd: crowd, Rate: 5, C: rapid.Float64Range(0.01, 1000).Draw(t, "c"), Linf: float64(rapid.IntRange(1, 20).Draw(t, "linf")),
		})
		if err != nil {
			t.Fatal(err)
		}
		x, _, scale = m.codec.prepare(&scratch{}, update, nil, kernel.SumSquares(update))
		over("smm, c", mixtureNorm(x, scale), m.event.C)
		_, _, linf := norms(ints(m.Integer))
		over("smm, Linf", linf, m.event.Linf)

		b, err := NewBinomial(BinomialConfig{Encoding: e, Crowd: crowd, Levels: 1 + 2*rapid.IntRange(1, 300).Draw(t, "levels"), Trials: 4})
		if err != nil {
			t.Fatal(err)
		}
		l1, l2, linf := norms(ints(b.Integer))
		switch event := b.event.(type) {
		case accountant.CPSGD:
			over("binomial, L1", l1, event.L1)
			over("binomial, L2", l2, event.L2)
			over("binomial, Linf", linf, event.Linf)
		case accountant.Binomial:
			over("binomial, shift", linf, float64(event.Shift))
		}
	})
}

// Rounding up has the probability of the fraction: 50,000 draws each, limits of 6 standard errors (false alarm 2e-9).
func TestStochasticRoundingIsUnbiasedAtEveryFraction(t *testing.T) {
	const n = 50_000
	for i, value := range []float32{0, 0.001, 0.25, 0.5, 0.999, 1, 3.75, -0.001, -0.25, -0.999, -1, -7.5} {
		x := make([]float32, n)
		for i := range x {
			x[i] = value
		}
		dst := make([]int64, n)
		new(coins).roundStochastic(dst, x, nil, 1, noise.Seeded(uint64(i)).Stream())
		low := math.Floor(float64(value))
		p := float64(value) - low
		up := 0.0
		for _, v := range dst {
			if float64(v) == low+1 {
				up++
			} else if float64(v) != low {
				t.Fatalf("%g became %d", value, v)
			}
		}
		if p == 0 && up > 0 || math.Abs(up-n*p) > 6*math.Sqrt(n*p*(1-p)) {
			t.Errorf("%g was rounded up %g times of %d", value, up, n)
		}
	}
}

func TestBadUpdatesAreRefusedByEveryIntegerMechanism(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, mechanism := range integers {
		m, err := mechanism.make(2, false, ByShares)
		if err != nil {
			t.Fatal(err)
		}
		random := noise.Seeded(1).Stream()
		for name, update := range map[string][]float32{
			"NaN": {1, float32(math.NaN())}, "infinity": {-inf, 1}, "too short": {1}, "too long": {1, 2, 3}, "empty": {}, "nil": nil,
		} {
			sum := []int64{5, 6}
			for _, contribute := range []func([]int64, []float32, *noise.Stream) error{m.Contribute, m.ContributeWithoutNoise, m.ContributeClipped} {
				err := contribute(sum, update, random)
				if err == nil || sum[0] != 5 || sum[1] != 6 {
					t.Errorf("%s, %s: error %v, sum %v", mechanism.name, name, err, sum)
				}
				if len(update) == 2 && !errors.Is(err, ErrNotFinite) {
					t.Errorf("%s, %s: %v is not ErrNotFinite", mechanism.name, name, err)
				}
			}
		}
		if err := m.Contribute(make([]int64, 3), []float32{0, 0}, random); err == nil {
			t.Errorf("%s: a sum of another length was accepted", mechanism.name)
		}
		sum := []int64{5, 6}
		big := []float32{float32(m.ClipNorm()), float32(m.ClipNorm())}
		if err := m.ContributeClipped(sum, big, random); err == nil || sum[0] != 5 || sum[1] != 6 {
			t.Errorf("%s: an update beyond the clip passed as clipped: %v", mechanism.name, err)
		}
		if err := m.ContributeClipped(sum, []float32{0.5, -0.5}, random); err != nil {
			t.Errorf("%s: a clipped update was refused: %v", mechanism.name, err)
		}
		if err := m.ContributeSum(sum, []float32{0, 0}); !errors.Is(err, ErrOneByOne) {
			t.Errorf("%s: a sum of updates: %v", mechanism.name, err)
		}
		for _, n := range []int{-1, 13} {
			if m.SharesNoise(sum, n, random) == nil {
				t.Errorf("%s: the shares of %d of 12 clients were drawn", mechanism.name, n)
			}
		}
		if d := m.Distance(); !(d > 0 && d < 1e-15) {
			t.Errorf("%s: a statistical distance of %g", mechanism.name, d)
		}
	}
}

// The shares of 7 clients at once have the law of 7 shares: mean and variance over 60,000 numbers, limits of 6 standard errors.
func TestSharesDrawnAtOnceHaveTheLawOfTheirSum(t *testing.T) {
	const d = 60_000
	for _, mechanism := range integers {
		m, err := mechanism.make(d, false, ByShares)
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]int64, d)
		if err := m.SharesNoise(sum, 7, noise.Seeded(4).Stream()); err != nil {
			t.Fatal(err)
		}
		total, square := 0.0, 0.0
		for _, v := range sum {
			total += float64(v)
			square += float64(v) * float64(v)
		}
		want := m.NoiseVariance(7) / m.codec.Granularity / m.codec.Granularity
		if z := total / math.Sqrt(d*want); math.Abs(z) > 6 {
			t.Errorf("%s: a mean of %.1f standard errors", mechanism.name, z)
		}
		if z := (square - d*want) / math.Sqrt(d*(2*want*want+want)); math.Abs(z) > 6 {
			t.Errorf("%s: variance %.4f, want %.4f", mechanism.name, square/d, want)
		}
		if err := m.SharesNoise(sum, 0, nil); err != nil {
			t.Errorf("%s: nobody's noise: %v", mechanism.name, err)
		}
	}
}

// A retry must be byte-identical: the same key gives the same contribution, another one another.
func TestTheSameKeyGivesTheSameContribution(t *testing.T) {
	update := randomUpdate(rand.New(rand.NewPCG(1, 1)), 300, 2)
	for _, mechanism := range integers {
		m, err := mechanism.make(300, true, ByShares)
		if err != nil {
			t.Fatal(err)
		}
		var sent [3]string
		for i, seed := range []uint64{1, 1, 2} {
			sum := make([]int64, m.Width())
			if err := m.Contribute(sum, update, noise.Seeded(seed).Stream()); err != nil {
				t.Fatal(err)
			}
			for _, v := range sum {
				if v < -1<<15 || v >= 1<<15 {
					t.Fatalf("%s: %d does not fit 16 bits", mechanism.name, v)
				}
			}
			sent[i] = fmt.Sprint(sum)
		}
		if sent[0] != sent[1] || sent[0] == sent[2] {
			t.Errorf("%s: contributions do not follow their key", mechanism.name)
		}
	}
}

// One mechanism serves all workers of a simulation at once.
func TestContributionsAtTheSameTimeEqualThoseOneByOne(t *testing.T) {
	const d, clients = 9000, 8
	update := randomUpdate(rand.New(rand.NewPCG(1, 1)), d, 2)
	for _, mechanism := range integers {
		m, err := mechanism.make(d, true, ByShares)
		if err != nil {
			t.Fatal(err)
		}
		var together, alone [clients][]int64
		var group sync.WaitGroup
		for i := range clients {
			together[i], alone[i] = make([]int64, m.Width()), make([]int64, m.Width())
			group.Go(func() {
				if m.Contribute(together[i], update, noise.Seeded(uint64(i)).Stream()) != nil {
					t.Error("refused")
				}
			})
		}
		group.Wait()
		for i := range clients {
			if m.Contribute(alone[i], update, noise.Seeded(uint64(i)).Stream()) != nil || !slices.Equal(alone[i], together[i]) {
				t.Errorf("%s: client %d sends something else when others are at work", mechanism.name, i)
			}
		}
	}
}

func TestContributingAndDecodingAllocateNothing(t *testing.T) {
	const d = 3000
	update := randomUpdate(rand.New(rand.NewPCG(1, 1)), d, 2)
	for _, mechanism := range integers {
		for _, rotate := range []bool{false, true} {
			m, err := mechanism.make(d, rotate, ByShares)
			if err != nil {
				t.Fatal(err)
			}
			sum, mean, random := make([]int64, m.Width()), make([]float32, d), noise.Seeded(1).Stream()
			if got := testing.AllocsPerRun(20, func() {
				if m.Contribute(sum, update, random) != nil {
					t.Fatal("refused")
				}
				m.Decode(mean, sum, 3)
			}); got >= 1 && !raceEnabled {
				t.Errorf("%s, rotation %v: %g allocations", mechanism.name, rotate, got)
			}
		}
	}
}

// What was wrapped comes back as long as it fits, and adding 2^bits anywhere changes nothing.
func FuzzUnwrapping(f *testing.F) {
	f.Add(int64(0), uint8(8), int64(0))
	f.Add(int64(127), uint8(8), int64(-3))
	f.Add(int64(-128), uint8(8), int64(1<<20))
	f.Add(int64(128), uint8(8), int64(7))
	f.Add(int64(1<<39-1), uint8(40), int64(-1))
	f.Fuzz(func(t *testing.T, v int64, bits uint8, turns int64) {
		b := 2 + int(bits)%(maxBits-1)
		v %= 1 << 42
		turns %= 1 << 20
		c := newCodec(Encoding{Dimension: 1, Clip: 1, Granularity: 1, Bits: b})
		once, more := []int64{0}, []int64{0}
		kernel.AddWrapped(once, []int64{v}, c.half, c.mask)
		kernel.AddWrapped(more, []int64{v + turns<<b}, c.half, c.mask)
		half := int64(1) << (b - 1)
		if once[0] != more[0] || once[0] < -half || once[0] >= half || (once[0]-v)%(1<<b) != 0 {
			t.Fatalf("%d modulo 2^%d: %d, and %d after %d turns", v, b, once[0], more[0], turns)
		}
		mean := []float32{0}
		c.decode(mean, []int64{once[0] + turns<<b}, 1)
		if mean[0] != float32(once[0]) {
			t.Fatalf("%d came back as %g", once[0], mean[0])
		}
		if v >= -half && v < half && once[0] != v {
			t.Fatalf("%d fits %d bits and became %d", v, b, once[0])
		}
	})
}

// Any bytes are an update: it is refused, or what is sent fits the bits and obeys the norm.
func FuzzContribution(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 128, 191}, uint64(1))
	f.Add([]byte{0, 0, 128, 127, 1, 2, 3, 4}, uint64(2)) // an infinity
	f.Add([]byte{255, 255, 127, 127, 255, 255, 127, 255, 1, 0, 0, 0}, uint64(3))
	f.Fuzz(func(t *testing.T, bytes []byte, seed uint64) {
		d := len(bytes) / 4
		if d == 0 || d > 64 {
			return // empty updates have a test of their own, and longer ones only slow the fuzzer down
		}
		update, finite := make([]float32, d), true
		for i := range update {
			update[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
			finite = finite && !math.IsNaN(float64(update[i])) && !math.IsInf(float64(update[i]), 0)
		}
		for _, rotate := range []bool{false, true} {
			c := SkellamConfig{Encoding: encoding(d, rotate, 0.1), Crowd: crowd(ByShares), Rate: 5, Rounding: Conditional, K: 3}
			m, err := NewSkellam(c)
			if err != nil {
				t.Fatal(err)
			}
			sum := make([]int64, m.Width())
			if err := m.Contribute(sum, update, noise.Seeded(seed).Stream()); (err == nil) != finite {
				t.Fatalf("finite %v, error %v", finite, err)
			}
			for _, v := range sum {
				if v < -1<<15 || v >= 1<<15 || !finite && v != 0 {
					t.Fatalf("%d was sent, finite %v", v, finite)
				}
			}
			clear(sum)
			if m.ContributeWithoutNoise(sum, update, noise.Seeded(seed).Stream()) == nil && squaredNorm(sum) > 900 {
				t.Fatalf("squared norm %d, the bound is 30²", squaredNorm(sum))
			}
		}
	})
}
