package accountant

import (
	"fmt"
	"math"
	"testing"
)

// bruteMix is the law of a rounded coordinate with noise, from its definition.
func bruteMix(n *skellamNoise, x float64, z int) float64 {
	k := int(math.Floor(x))
	p := x - float64(k)
	return (1-p)*math.Exp(n.logP[abs(z-k)]) + p*math.Exp(n.logP[abs(z-k-1)])
}

// bruteRounded is D_a(M_x||Q) or, in reverse, D_a(Q||M_x), summed over a wide window.
func bruteRounded(n *skellamNoise, x, a float64, reverse bool) float64 {
	sum := 0.0
	for z := -200; z <= 200; z++ {
		q, m := math.Exp(n.logP[abs(z)]), bruteMix(n, x, z)
		if q == 0 || m == 0 {
			continue
		}
		if reverse {
			q, m = m, q
		}
		sum += math.Exp(a*math.Log(m) - (a-1)*math.Log(q))
	}
	return math.Log(sum) / (a - 1)
}

func TestBruteForceSupremumNeverExceedsTheCertificate(t *testing.T) {
	for _, rate := range []float64{0.5, 2, 20, 47.5} {
		for _, l2 := range []float64{0.3, 2.7, 6} {
			for _, a := range []float64{2, 3, 5, 16} {
				t.Run(fmt.Sprintf("rate %g, l2 %g, order %g", rate, l2, a), func(t *testing.T) {
					certificate := newRoundedNoise(rate, l2).certify(a)
					n := newSkellamNoise(rate)
					n.grow(220)
					supremum, where := 0.0, 0.0
					for i := 1; i <= 150; i++ {
						x := l2 * float64(i*i) / (150 * 150) // denser near 0, where the supremum lies
						for _, reverse := range []bool{false, true} {
							if r := bruteRounded(n, x, a, reverse) / (x * x); r > supremum {
								supremum, where = r, x
							}
						}
					}
					// The brute force itself errs by some 1e-14 in the moment, which matters for small x.
					if supremum > certificate*(1+1e-9)+1e-14/(where*where) {
						t.Errorf("at x = %g brute force finds %.12g, above the certificate %.12g", where, supremum, certificate)
					}
					// It should not be much above either, or it would be useless.
					if certificate > supremum*(1+2e-3) {
						t.Errorf("certificate %.9g is more than 0.2%% above the supremum %.9g (at x = %g)", certificate, supremum, where)
					}
				})
			}
		}
	}
}

// Ratio of the certified supremum to a/(4L). Source: an independent computation on a grid (so the certificate may lie
// above by its tolerance).
func TestRoundedSkellamGoldenRatios(t *testing.T) {
	for _, c := range []struct{ rate, order, ratio float64 }{
		{600, 2, 1.000417}, {600, 5, 1.000951}, {600, 16, 1.00323},
		{20, 2, 1.0124}, {20, 5, 1.0281}, {20, 16, 1.0941},
	} {
		got := newRoundedNoise(c.rate, 10).certify(c.order) / (c.order / (4 * c.rate))
		if got < c.ratio-5e-5 || got > c.ratio+3e-4 {
			t.Errorf("rate %g, order %g: ratio %.6f, want %.6f", c.rate, c.order, got, c.ratio)
		}
	}
}

// Source: an independent computation of the needed rates at batch 240, about three digits; the paper needs 1405, 702 and 549.
func TestRoundedSkellamNeedsThirtyTimesLessNoiseThanThePaper(t *testing.T) {
	for _, c := range []struct{ epsilon, rate, paper float64 }{{1, 47.54, 1404.9416}, {3, 22.38, 702.1995}, {5, 16.64, 549.2477}} {
		x, bound, err := Calibrate(Target{Epsilon: c.epsilon, Delta: 1e-5}, func(x float64) (About, error) {
			return paper002Event(240, RoundedSkellam{Rate: x, L2: 10}), nil
		}, 1, 1e4)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x/c.rate-1) > 1e-3 || bound.Epsilon > c.epsilon {
			t.Errorf("epsilon %g: rate %.6g with epsilon %.9g, want %g", c.epsilon, x, bound.Epsilon, c.rate)
		}
		if c.epsilon == 3 && c.paper/x < 30 {
			t.Errorf("epsilon 3: only %.1f times less noise than the paper", c.paper/x)
		}
	}
}

// The lemma for sampling P and Q that are no mirror images, against sums over all outcomes, in one to three dimensions
// and both directions.
func TestSamplingLemmaHoldsAgainstBruteForce(t *testing.T) {
	vectors := [][]float64{{0.3}, {1}, {1.6}, {0.5, 0.5}, {1.2, 0.4}, {0.7, 0.2, 0.4}}
	for _, rate := range []float64{1, 4} {
		n := newSkellamNoise(rate)
		n.grow(60)
		reach := int(6*math.Sqrt(2*rate)) + 3
		for _, x := range vectors {
			if len(x) == 3 && rate > 1 {
				continue // 35^3 outcomes add nothing new
			}
			norm := 0.0
			for _, v := range x {
				norm = math.Hypot(norm, v)
			}
			for _, q := range []float64{0.004, 0.1, 0.4} {
				event := Poisson{q, RoundedSkellam{Rate: rate, L2: norm}}
				for _, a := range []float64{2, 3, 5, 8} {
					bound := event.rdp([]float64{a})[0]
					var logQ, ratio []float64
					outcomes(x, reach, func(z []int) {
						lq, w := 0.0, 1.0
						for i, zi := range z {
							lq += n.logP[abs(zi)]
							w *= bruteMix(n, x[i], zi) / math.Exp(n.logP[abs(zi)])
						}
						logQ, ratio = append(logQ, lq), append(ratio, w)
					})
					forward, reverse := 0.0, 0.0
					for i, lq := range logQ {
						s := 1 - q + q*ratio[i]
						forward += math.Exp(lq) * math.Pow(s, a)
						reverse += math.Exp(lq) * math.Pow(s, 1-a)
					}
					for name, sum := range map[string]float64{"forward": forward, "reverse": reverse} {
						if d := math.Log(sum) / (a - 1); d > bound*(1+1e-9)+1e-12 {
							t.Errorf("%v, rate %g, q %g, order %g, %s: %.12g above the bound %.12g", x, rate, q, a, name, d, bound)
						}
					}
				}
			}
		}
	}
}

// outcomes visits every integer vector within reach of 0 or x.
func outcomes(x []float64, reach int, visit func(z []int)) {
	z := make([]int, len(x))
	var walk func(i int)
	walk = func(i int) {
		if i == len(x) {
			visit(z)
			return
		}
		for z[i] = -reach; z[i] <= reach+int(x[i])+1; z[i]++ {
			walk(i + 1)
		}
	}
	walk(0)
}
