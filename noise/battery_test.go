package noise

import (
	"fmt"
	"math"
	"testing"
)

// sampler is what the integer samplers have in common.
type sampler interface {
	Add(dst []int64, random *Stream)
	Distance() float64
	Variance() float64
}

// law under test: how to make it, and its definition in float64, written without any of the code that it checks.
type subject struct {
	name     string
	seed     uint64
	make     func() (sampler, error)
	mean     float64
	variance float64
	logP     func(x float64) float64
}

func skellamSubject(seed uint64, rate float64) subject {
	return subject{fmt.Sprintf("skellam of rate %g", rate), seed, func() (sampler, error) { return NewSkellam(rate) },
		0, 2 * rate, func(x float64) float64 { return skellamLogP(rate, x) }}
}

func gaussianSubject(seed uint64, sigma2 float64) subject {
	sum, square := 0.0, 0.0
	for x := math.Ceil(-40*math.Sqrt(sigma2) - 2); x <= 40*math.Sqrt(sigma2)+2; x++ {
		p := math.Exp(-x * x / (2 * sigma2))
		sum += p
		square += x * x * p
	}
	return subject{fmt.Sprintf("discrete gaussian of sigma2 %g", sigma2), seed, func() (sampler, error) { return NewDiscreteGaussian(sigma2) },
		0, square / sum, func(x float64) float64 { return -x*x/(2*sigma2) - math.Log(sum) }}
}

func poissonSubject(seed uint64, rate float64) subject {
	return subject{fmt.Sprintf("poisson of rate %g", rate), seed, func() (sampler, error) { return NewPoisson(rate) },
		rate, rate, func(x float64) float64 { return poissonLogP(rate, x) }}
}

func binomialSubject(seed uint64, trials int, p float64) subject {
	n := float64(trials)
	return subject{fmt.Sprintf("binomial of %d trials at %g", trials, p), seed, func() (sampler, error) { return NewBinomial(trials, p) },
		n * p, n * p * (1 - p), func(x float64) float64 {
			if x < 0 || x > n {
				return math.Inf(-1)
			}
			return binomialLogP(n, p, x)
		}}
}

// battery lists small variances, where a law is far from a normal one, and the largest of narrow and of wide tables.
var battery = []subject{
	skellamSubject(101, 0.0005), skellamSubject(102, 0.5), skellamSubject(103, 11.19), skellamSubject(104, 50), skellamSubject(105, 5e3), skellamSubject(106, 5e5),
	gaussianSubject(111, 0.05), gaussianSubject(112, 1), gaussianSubject(113, 100), gaussianSubject(114, 1e4), gaussianSubject(115, 1e6), gaussianSubject(116, 1e7),
	poissonSubject(121, 0.001), poissonSubject(122, 1), poissonSubject(123, 99.5), poissonSubject(124, 1e4), poissonSubject(125, 1e6),
	binomialSubject(131, 1, 0.3), binomialSubject(132, 10, 0.5), binomialSubject(133, 400, 0.5), binomialSubject(134, 100_000, 0.001), binomialSubject(135, 40_000, 0.5),
}

// TestBattery puts half a million draws of every law through the same statistics.
//
// Each statistic is turned into a number z that is standard normal, or nearly so, if the sampler is right; |z| > 6 fails. That
// happens by chance with probability 2e-9 for each of some 300 statistics (a few times as often where a count is small and
// its law skewed): below 1e-5 for the whole battery. The seeds are fixed, so a failure is a change of code.
func TestBattery(t *testing.T) {
	const n = 1 << 19
	for _, s := range battery {
		t.Run(s.name, func(t *testing.T) { runBattery(t, s, n) })
	}
}

func runBattery(t *testing.T, s subject, n int) {
	made, err := s.make()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(made.Variance()/s.variance-1) > 1e-9 {
		t.Errorf("variance %v, the definition's is %v", made.Variance(), s.variance)
	}
	x := make([]int64, n)
	made.Add(x, Seeded(s.seed).Stream())

	statistics(s, x, func(what string, z float64) {
		if !(math.Abs(z) < alarm) {
			t.Errorf("%s is off by %.1f standard errors", what, z)
		}
	})
}

// statistics hands every z of the draws to check.
func statistics(s subject, x []int64, check func(what string, z float64)) {
	d := tabulate(s)
	checkMoments(check, s, d, x)
	checkCounts(check, d, x)
	checkNeighbours(check, s, x)
}

func TestBatteryNoticesAWrongSampler(t *testing.T) {
	const n = 1 << 19
	for _, c := range []struct {
		name  string
		right subject
		draw  func(x []int64, random *Stream)
	}{
		{"a variance 2 percent too large", skellamSubject(161, 50), drawFrom(skellamSubject(161, 51))},
		{"a discrete gaussian for a skellam", skellamSubject(162, 0.5), drawFrom(gaussianSubject(162, 1))},
		{"a mean shifted by a fiftieth of a deviation", poissonSubject(163, 1e4), drawFrom(poissonSubject(163, 1e4+2))},
		{"every sixteenth draw repeated", skellamSubject(164, 50), func(x []int64, random *Stream) {
			drawFrom(skellamSubject(164, 50))(x, random)
			for i := 16; i < len(x); i += 16 {
				x[i] = x[i-1]
			}
		}},
		{"one block in eight that repeats the one before", gaussianSubject(165, 100), func(x []int64, random *Stream) {
			drawFrom(gaussianSubject(165, 100))(x, random)
			for at := 0; at < n; at += 8 * blockSize {
				copy(x[at+blockSize:at+2*blockSize], x[at:])
			}
		}},
		{"a tail cut at 4 deviations", gaussianSubject(166, 100), func(x []int64, random *Stream) {
			drawFrom(gaussianSubject(166, 100))(x, random)
			for i := range x {
				x[i] = max(-40, min(40, x[i]))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := make([]int64, n)
			c.draw(x, Seeded(c.right.seed).Stream())
			alarms := 0
			statistics(c.right, x, func(_ string, z float64) {
				if !(math.Abs(z) < alarm) {
					alarms++
				}
			})
			if alarms == 0 {
				t.Error("no statistic noticed")
			}
		})
	}
}

func drawFrom(s subject) func([]int64, *Stream) {
	return func(x []int64, random *Stream) {
		made, err := s.make()
		if err != nil {
			panic(err)
		}
		made.Add(x, random)
	}
}

// definition holds the probabilities of the values within 9 standard deviations and a little.
type definition struct {
	lowest int64
	p      []float64
}

func tabulate(s subject) definition {
	reach := math.Ceil(9*math.Sqrt(s.variance)) + 12
	d := definition{lowest: int64(math.Floor(s.mean) - reach)}
	for k := range 2*int64(reach) + 1 {
		d.p = append(d.p, math.Exp(s.logP(float64(d.lowest+k))))
	}
	return d
}

// checkMoments compares the means of powers of (x - mean)/deviation with those of the definition.
func checkMoments(check func(string, float64), s subject, d definition, x []int64) {
	scale := 1 / math.Sqrt(s.variance)
	power := func(x int64, k int) float64 { return math.Pow((float64(x)-s.mean)*scale, float64(k)) }
	for k := 1; k <= 4; k++ {
		if s.variance < 0.1 && k > 2 {
			break // so rare that half a million draws are too few for a normal law of their fourth powers
		}
		var mean, square, sum float64
		for i, p := range d.p {
			y := power(d.lowest+int64(i), k)
			mean += p * y
			square += p * y * y
		}
		for _, v := range x {
			y := (float64(v) - s.mean) * scale
			switch k {
			case 1:
				sum += y
			case 2:
				sum += y * y
			case 3:
				sum += y * y * y
			case 4:
				sum += y * y * y * y
			}
		}
		n := float64(len(x))
		if spread := square - mean*mean; spread > 1e-9 { // the square of a fair coin around its mean is a constant
			check(fmt.Sprintf("moment %d", k), (sum/n-mean)/math.Sqrt(spread/n))
		}
	}
}

// checkCounts is a chi-square test over cells that expect at least 50 draws, and a test of each tail beyond 2, 3, 4 and 5
// deviations.
func checkCounts(check func(string, float64), d definition, x []int64) {
	n := float64(len(x))
	counts := make([]float64, len(d.p))
	outside := 0
	for _, v := range x {
		if i := v - d.lowest; i >= 0 && i < int64(len(counts)) {
			counts[i]++
		} else {
			outside++
		}
	}
	check("draws beyond 9 deviations", 7*float64(outside)) // none is expected in 1e12
	total := 0.0
	for _, p := range d.p {
		total += p
	}
	check("definition's sum", (total-1)*1e9) // of the test itself

	chi, cells, expected, seen, left := 0.0, 0.0, 0.0, 0.0, n
	for i, p := range d.p {
		expected += n * p
		seen += counts[i]
		// A cell is closed when it expects enough, and so does what lies beyond: the last cell takes all the rest.
		if last := i == len(d.p)-1; last || expected >= 50 && left-expected >= 50 {
			chi += (seen - expected) * (seen - expected) / expected
			cells++
			left -= expected
			expected, seen = 0, 0
		}
	}
	if free := cells - 1; free > 0 { // Wilson and Hilferty 1931: the cube root is nearly normal
		check("chi-square", (math.Cbrt(chi/free)-(1-2/(9*free)))/math.Sqrt(2/(9*free)))
	}

	centre, deviation := float64(len(d.p)-1)/2, float64(len(d.p)-25)/18
	for _, at := range []float64{2, 3, 4, 5} {
		for _, side := range []float64{-1, 1} {
			expected, seen := 0.0, 0.0
			for i, p := range d.p {
				if side*(float64(i)-centre) > at*deviation {
					expected += n * p
					seen += counts[i]
				}
			}
			if expected > 0.5 { // 2(sqrt(seen + 3/8) - sqrt(expected + 3/8)) is nearly normal (Anscombe 1948)
				check(fmt.Sprintf("tail beyond %g", side*at), 2*(math.Sqrt(seen+0.375)-math.Sqrt(expected+0.375)))
			}
		}
	}
}

// checkNeighbours looks for correlation, of values and of squares, at lags that the blocks and registers might leave.
func checkNeighbours(check func(string, float64), s subject, x []int64) {
	if s.variance < 0.1 {
		return // products of two rare events: too few
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (float64(v) - s.mean) / math.Sqrt(s.variance)
	}
	fourth := 0.0
	for _, v := range y {
		fourth += v * v * v * v / float64(len(y))
	}
	for _, lag := range []int{1, 2, 8, 16, 64, blockSize} {
		product, squares := 0.0, 0.0
		for i := lag; i < len(y); i++ {
			a, b := y[i], y[i-lag]
			product += a * b
			squares += (a*a - 1) * (b*b - 1)
		}
		n := float64(len(y) - lag)
		check(fmt.Sprintf("correlation at lag %d", lag), product/math.Sqrt(n))
		if fourth > 1.01 {
			check(fmt.Sprintf("correlation of squares at lag %d", lag), squares/(math.Sqrt(n)*(fourth-1)))
		}
	}
}

// TestSkellamSharesAddUp: n clients' shares of rate L/n are one draw of rate L. The same statistics and limits as above.
func TestSkellamSharesAddUp(t *testing.T) {
	for _, c := range []struct {
		seed   uint64
		total  float64
		shares int
	}{{141, 50, 10}, {142, 22.38, 240}, {143, 0.5, 1000}} {
		t.Run(fmt.Sprintf("%d shares of rate %g", c.shares, c.total), func(t *testing.T) {
			n := min(1<<19, 40_000_000/c.shares) // at most forty million draws in all
			share, err := NewSkellam(c.total / float64(c.shares))
			if err != nil {
				t.Fatal(err)
			}
			whole := skellamSubject(c.seed, c.total)
			x := make([]int64, n)
			random := Seeded(c.seed).Stream()
			for range c.shares {
				share.Add(x, random)
			}
			statistics(whole, x, func(what string, z float64) {
				if !(math.Abs(z) < alarm) {
					t.Errorf("%s is off by %.1f standard errors", what, z)
				}
			})
		})
	}
}

// The normal samplers, as float64.
var normals = []struct {
	name string
	draw func(s *Stream, dst []float64)
}{
	{"float64", (*Stream).Gaussian},
	{"float32", func(s *Stream, dst []float64) {
		x := make([]float32, len(dst))
		s.Gaussian32(x)
		for i, v := range x {
			dst[i] = float64(v)
		}
	}},
}

func TestNormalMomentsTailsAndNeighbours(t *testing.T) {
	for _, normal := range normals {
		for _, seed := range []uint64{151, 152} {
			x := make([]float64, 1<<20)
			normal.draw(Seeded(seed).Stream(), x)
			normalStatistics(x, func(what string, z float64) {
				if !(math.Abs(z) < alarm) {
					t.Errorf("%s, seed %d: %s is off by %.1f standard errors", normal.name, seed, what, z)
				}
			})
		}
	}
}

// normalStatistics hands over statistics that are asymptotically standard normal if x is.
func normalStatistics(x []float64, check func(what string, z float64)) {
	n := float64(len(x))
	var sum, square, cube, fourth float64
	cells := make([]float64, 1000) // of equal probability
	for _, v := range x {
		sum += v
		square += v * v
		cube += v * v * v
		fourth += v * v * v * v
		cells[min(999, int(500*math.Erfc(-v/math.Sqrt2)))]++
	}
	check("mean", sum/math.Sqrt(n))
	check("variance", (square-n)/math.Sqrt(2*n))
	check("third moment", cube/math.Sqrt(15*n))
	check("fourth moment", (fourth-3*n)/math.Sqrt(96*n))
	chi := 0.0
	for _, c := range cells {
		chi += (c - n/1000) * (c - n/1000) / (n / 1000)
	}
	check("chi-square", (math.Cbrt(chi/999)-(1-2/(9*999.0)))/math.Sqrt(2/(9*999.0)))
	for _, at := range []float64{1, 2, 3, 4, 4.5, 5} {
		for _, side := range []float64{-1, 1} {
			p := math.Erfc(at/math.Sqrt2) / 2
			seen, expected := 0.0, n*p
			if expected < 3 {
				continue
			}
			for _, v := range x {
				if side*v > at {
					seen++
				}
			}
			check(fmt.Sprintf("tail beyond %g", side*at), 2*(math.Sqrt(seen+0.375)-math.Sqrt(expected+0.375))/math.Sqrt(1-p))
		}
	}
	for _, lag := range []int{1, 2, 8, 16, 32, blockSize / 4, blockSize} { // 8 apart (16 in float32) are sine and cosine of one radius
		product, squares := 0.0, 0.0
		for i := lag; i < len(x); i++ {
			a, b := x[i], x[i-lag]
			product += a * b
			squares += (a*a - 1) * (b*b - 1)
		}
		check(fmt.Sprintf("correlation at lag %d", lag), product/math.Sqrt(n))
		check(fmt.Sprintf("correlation of squares at lag %d", lag), squares/(2*math.Sqrt(n)))
	}
}
