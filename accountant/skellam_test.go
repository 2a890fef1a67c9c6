package accountant

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// bruteSkellam is the law summed from its definition: a difference of two Poisson variables.
func bruteSkellam(rate float64, k int) float64 {
	sum := 0.0
	for j := range 400 {
		x, _ := math.Lgamma(float64(j + 1))
		y, _ := math.Lgamma(float64(j + abs(k) + 1))
		sum += math.Exp(-2*rate + float64(2*j+abs(k))*math.Log(rate) - x - y)
	}
	return sum
}

func TestSkellamLawAgreesWithItsDefinition(t *testing.T) {
	for _, rate := range []float64{0.02, 0.35, 1, 5, 40} {
		n := newSkellamNoise(rate)
		for k := 0; k <= n.edge && k < 60; k++ {
			got, want := n.logP[k], math.Log(bruteSkellam(rate, k))
			if math.Abs(got-want) > 1e-11*(1+math.Abs(want)) {
				t.Errorf("rate %g: log p(%d) = %.14g, definition gives %.14g", rate, k, got, want)
			}
		}
	}
}

func TestSkellamDivergenceAgreesWithBruteForce(t *testing.T) {
	for _, rate := range []float64{0.35, 1, 5, 40} {
		var law [126]float64
		for k := range law {
			law[k] = bruteSkellam(rate, k)
		}
		for _, s := range []int{1, 2, 5} {
			for _, a := range []float64{1.05, 1.5, 2, 4.9, 9} {
				sum := 0.0
				for z := -120; z <= 120; z++ {
					q, p := law[abs(z)], law[abs(z-s)]
					if q > 0 && p > 0 {
						sum += math.Exp(a*math.Log(p) - (a-1)*math.Log(q))
					}
				}
				want := math.Log(sum) / (a - 1)
				got := newSkellamNoise(rate).shifted(s).divergence(a)
				if math.Abs(got-want) > 1e-8*want {
					t.Errorf("rate %g, shift %d, order %g: %.12g, brute force %.12g", rate, s, a, got, want)
				}
			}
		}
	}
}

// Golden values: computed independently of this package.
func TestSkellamGoldenDivergences(t *testing.T) {
	t.Run("near order 1 the Gaussian formula is too small", func(t *testing.T) {
		ratio := newSkellamNoise(0.35).shifted(1).divergence(1.0005) / (1.0005 / (4 * 0.35))
		if math.Abs(ratio-1.05599) > 5e-6 {
			t.Errorf("exact over Gaussian is %.6f, want 1.05599", ratio)
		}
	})
	t.Run("the sampling lemma of paper 002 with its sign corrected", func(t *testing.T) {
		shifted := newSkellamNoise(5).shifted(2)
		got := sampledForward(0.1, 4, shifted.logMoment) / 3
		if math.Abs(got/0.0104764704158805-1) > 1e-9 {
			t.Errorf("got %.16g, want 0.0104764704158805", got)
		}
	})
	t.Run("the gap to the Gaussian at rate 625", func(t *testing.T) {
		for a, gap := range map[float64]float64{2: 3e-7, 8: 9e-6, 32: 1.6e-4} {
			got := 1 - newSkellamNoise(625).shifted(1).divergence(a)/(a/(4*625))
			if math.Abs(got/gap-1) > 0.2 { // one digit is given
				t.Errorf("order %g: gap %g, want %g", a, got, gap)
			}
		}
	})
	t.Run("the reverse direction is smaller", func(t *testing.T) {
		sum := 0.0
		for z := -80; z <= 80; z++ {
			q, p := bruteSkellam(5, z), bruteSkellam(5, z-2)
			sum += q * math.Pow(0.9+0.1*p/q, -3)
		}
		if got := math.Log(sum) / 3; math.Abs(got/0.0080015495-1) > 1e-8 {
			t.Errorf("got %.10g, want 0.0080015495", got)
		}
	})
}

// paper002 is the total rate that paper 002's setting needs (60,000 records, one epoch, L2 = Linf = 50, delta 1e-5), for
// epsilon 1 to 5. Source: an independent computation, before this package was written.
var paper002 = []struct {
	bound SkellamBound
	batch int
	rates [5]float64
}{
	{SkellamDSM, 120, [5]float64{1213.7783, 761.5074, 621.3991, 513.4693, 490.4753}},
	{SkellamDSM, 240, [5]float64{1404.9416, 873.3458, 702.1995, 580.2428, 549.2477}},
	{SkellamDSM, 480, [5]float64{1696.9652, 1040.0943, 810.4061, 668.7356, 624.7222}},
	{SkellamDSM, 960, [5]float64{2113.9569, 1295.2763, 963.0219, 790.595, 724.2813}},
	{SkellamExact, 120, [5]float64{1019.846, 606.8754, 485.2688, 386.0685, 348.7463}},
	{SkellamExact, 240, [5]float64{1161.1497, 689.7508, 546.3198, 434.6313, 408.7237}},
	{SkellamExact, 480, [5]float64{1381.1572, 805.7928, 626.7323, 498.2824, 469.1521}},
	{SkellamExact, 960, [5]float64{1708.3123, 987.3077, 737.9113, 585.0066, 541.8926}},
}

func paper002Event(batch int, inner Event) About {
	return About{Event: Repeat{60000 / batch, Poisson{float64(batch) / 60000, inner}}}
}

func TestPaper002CalibrationsBracketTheTarget(t *testing.T) {
	orders := []float64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	for _, row := range paper002 {
		for i, rate := range row.rates {
			if testing.Short() && row.bound == SkellamExact && i%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s, batch %d, epsilon %d", row.bound, row.batch, i+1), func(t *testing.T) {
				epsilon := func(rate float64) float64 {
					b, err := epsilonOver(paper002Event(row.batch, Skellam{rate, 50, 50, row.bound}), 1e-5, ByRDP, orders)
					if err != nil {
						t.Fatal(err)
					}
					return b.Epsilon
				}
				// 1e-6 relative: far inside the 1e-3 that is asked of calibrations.
				if e := epsilon(rate * (1 + 1e-6)); e > float64(i+1) {
					t.Errorf("epsilon %.9g at the golden rate %g and a little", e, rate)
				}
				if e := epsilon(rate * (1 - 1e-6)); e < float64(i+1) {
					t.Errorf("epsilon %.9g just below the golden rate %g", e, rate)
				}
			})
		}
	}
}

func TestCalibrationFindsThePaper002Rate(t *testing.T) {
	x, bound, err := Calibrate(Target{Epsilon: 3, Delta: 1e-5}, func(x float64) (About, error) {
		return paper002Event(240, Skellam{Rate: x, L2: 50, Linf: 50}), nil
	}, 1, 1e5)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(x/546.3198-1) > 1e-5 || bound.Epsilon > 3 {
		t.Errorf("rate %.8g with epsilon %.9g, want 546.3198 and at most 3", x, bound.Epsilon)
	}
}

func TestDSMNeeds19To41PercentMoreThanExact(t *testing.T) {
	least, most := math.Inf(1), 0.0
	for i := range 4 {
		for j, dsm := range paper002[i].rates {
			more := dsm/paper002[i+4].rates[j] - 1
			least, most = min(least, more), max(most, more)
		}
	}
	if math.Round(least*100) != 19 || math.Round(most*100) != 41 {
		t.Errorf("between %.3f and %.3f more", least, most)
	}
}

// Corollary 4.1 of Agarwal, Kairouz and Liu and Theorem 1 of paper 002 are bounds: the exact value never exceeds them.
func TestPublishedSkellamBoundsHold(t *testing.T) {
	for _, rate := range []float64{0.5, 3, 12, 100, 625} {
		n := newSkellamNoise(rate)
		for s := 1; s <= 30; s += 3 {
			shifted := n.shifted(s)
			square := float64(s * s)
			for _, a := range []float64{2, 3, 5, 8, 16} {
				exact := shifted.divergence(a)
				if akl := aklPerSquare(rate, float64(s), a) * square; exact > akl*(1+1e-9) {
					t.Errorf("rate %g, shift %d, order %g: exact %g above akl %g", rate, s, a, exact, akl)
				}
				if dsm := dsmPerSquare(rate, float64(s), a) * square; exact > dsm*(1+1e-9) {
					t.Errorf("rate %g, shift %d, order %g: exact %g above dsm %g", rate, s, a, exact, dsm)
				}
			}
		}
	}
}

// Vectors of integers have any direction; the bound rho * L2^2 must hold for each.
func TestSkellamBoundHoldsForEveryDirection(t *testing.T) {
	for _, rate := range []float64{1, 20} {
		n := newSkellamNoise(rate)
		for _, a := range []float64{1.5, 2, 6} {
			bound, err := RDP(About{Event: Skellam{Rate: rate, L2: 5}}, a)
			if err != nil {
				t.Fatal(err)
			}
			for _, vector := range [][]int{{5}, {3, 4}, {4, 3}, {1, 2, 2, 4}, {1, 1, 1, 1, 1}, {2, 2, 2, 2, 3}, {4, 2, 2, 1}} {
				sum := 0.0
				for _, s := range vector {
					sum += n.shifted(s).divergence(a)
				}
				if sum > bound*(1+1e-9) {
					t.Errorf("rate %g, order %g, vector %v: %g above %g", rate, a, vector, sum, bound)
				}
			}
		}
	}
}

func TestDSMRefusesOrdersOutsideItsRange(t *testing.T) {
	about := About{Event: Skellam{Rate: 100, L2: 50, Linf: 50, Bound: SkellamDSM}}
	inside, err := RDP(about, 4.99)
	if err != nil || math.IsInf(inside, 1) {
		t.Errorf("order 4.99: %g, %v; want finite", inside, err)
	}
	outside, err := RDP(about, 5) // 2*100/50 + 1
	if err == nil || !math.IsInf(outside, 1) || !strings.Contains(err.Error(), "order 5 is outside the range") {
		t.Errorf("order 5: %g, %v; want a refusal", outside, err)
	}
	if v, err := RDP(About{Event: None{}}, 5); err != nil || !math.IsInf(v, 1) {
		t.Errorf("none: %g, %v; want infinite, which is the answer", v, err)
	}
}
