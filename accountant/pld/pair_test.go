package pld

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// gammaFrom is a Gamma distribution that begins at a point.
type gammaFrom struct {
	distuv.Gamma
	start float64
}

func (g gammaFrom) CDF(x float64) float64 {
	switch {
	case x <= g.start:
		return 0
	case math.IsInf(x, 1):
		return 1
	}
	return g.Gamma.CDF(x - g.start)
}

func (g gammaFrom) Survival(x float64) float64 {
	switch {
	case x <= g.start:
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return g.Gamma.Survival(x - g.start)
}

// gammaPair compares the sum of n exponential clients to the same sum moved by 4:
// L = (n-1)·ln(x/(x-4)) - 4, infinite for x <= 4.
func gammaPair(t *testing.T, n float64) Pair {
	gamma := distuv.Gamma{Alpha: n, Beta: 1}
	p, err := Continuous{
		P: gammaFrom{gamma, 0}, Q: gammaFrom{gamma, 4},
		Falling: true,
		Threshold: func(loss float64) float64 {
			if loss <= -4 {
				return math.Inf(1)
			}
			return 4 / -math.Expm1(-(loss+4)/(n-1))
		},
	}.Pair()
	return must(t, p, err)
}

func TestContinuousPairMatchesTheClosedFormOfGammaNoise(t *testing.T) {
	// One coordinate has the closed form F(z) - e^eps·F(z-4), z = 4u/(u-1), u = e^((eps+4)/(n-1)); several were computed
	// independently by convolution. The direction of gammaPair is the larger one at every one of these points.
	for _, c := range []struct {
		name    string
		n       float64
		d       int
		eps     float64
		want    float64
		printed float64
	}{
		{"10 clients, 1 coordinate, epsilon 0.5", 10, 1, 0.5, 0.4046698852, 1e-10},
		{"10 clients, 1 coordinate, epsilon 1", 10, 1, 1, 0.3326235525, 1e-10},
		{"10 clients, 1 coordinate, epsilon 2", 10, 1, 2, 0.2262903859, 1e-10},
		{"100 clients, 1 coordinate, epsilon 1", 100, 1, 1, 0.00432559154, 1e-11},
		{"10 clients, 10 coordinates, epsilon 4", 10, 10, 4, 0.9004338, 1e-7},
		{"100 clients, 10 coordinates, epsilon 1", 100, 10, 1, 0.240102, 1e-6},
		{"100 clients, 10 coordinates, epsilon 4", 100, 10, 4, 0.00392876, 1e-8},
		{"100 clients, 100 coordinates, epsilon 4", 100, 100, 4, 0.783562, 1e-6},
		{"1000 clients, 1000 coordinates, epsilon 1", 1000, 1000, 1, 0.927113, 1e-6},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := delta(t, []Term{{gammaPair(t, c.n), c.d}}, c.eps, Options{Tolerance: 1e-4})
			if b.Lower > c.want+c.printed || b.Upper < c.want-c.printed {
				t.Errorf("bracket [%.12g, %.12g] misses %.12g", b.Lower, b.Upper, c.want)
			}
			if b.Upper-b.Lower > 1e-3*b.Upper {
				t.Errorf("bracket [%g, %g] is wider than 1e-3", b.Lower, b.Upper)
			}
		})
	}
}

func TestImpossibleOutputsAreAnInfiniteLoss(t *testing.T) {
	// P takes 2 with probability 0.1, Q never does: no epsilon gives a delta below 1 - 0.9^count.
	p, err := Integers(
		PMF{0, []float64{math.Log(0.5), math.Log(0.4), math.Log(0.1)}},
		PMF{0, []float64{math.Log(0.5), math.Log(0.5)}})
	p = must(t, p, err)
	for _, count := range []int{1, 3} {
		mass := 1 - math.Pow(0.9, float64(count))
		if b := epsilon(t, []Term{{p, count}}, mass*0.99, Options{}); !math.IsInf(b.Lower, 1) || !math.IsInf(b.Upper, 1) {
			t.Errorf("%d times: epsilon %v below the mass of infinite loss, want no finite one", count, b)
		}
		if b := epsilon(t, []Term{{p, count}}, mass*1.01, Options{}); math.IsInf(b.Upper, 1) {
			t.Errorf("%d times: no finite epsilon above the mass of infinite loss", count)
		}
		if b := delta(t, []Term{{p, count}}, 50, Options{}); math.Abs(b.Lower-mass) > 1e-9 || math.Abs(b.Upper-mass) > 1e-9 {
			t.Errorf("%d times: delta(50) = %v, want %g", count, b, mass)
		}
	}
}

func TestLaplaceIsPurelyPrivate(t *testing.T) {
	p, err := Laplace(2)
	p = must(t, p, err)
	b := epsilon(t, []Term{{p, 4}}, 1e-300, Options{})
	if b.Upper < 2-1e-9 || b.Upper > 2+1e-6 {
		t.Errorf("four steps of epsilon 1/2 give %v, want 2", b)
	}
	// One step at epsilon < 1/scale: delta = 1 - e^((eps-1/scale)/2).
	for _, eps := range []float64{0, 0.1, 0.4} {
		want := -math.Expm1((eps - 0.5) / 2)
		if b := delta(t, []Term{{p, 1}}, eps, Options{}); b.Lower > want+1e-14 || b.Upper < want-1e-14 || b.Upper-b.Lower > 1e-3*want {
			t.Errorf("delta(%g) = %v, want %g", eps, b, want)
		}
	}
}

func TestDiscreteGaussianMatchesItsSum(t *testing.T) {
	// Delta of one step, summed up directly.
	for _, c := range []struct {
		sigma2 float64
		shift  int64
		eps    float64
	}{{4, 1, 0.5}, {4, -1, 0.5}, {100, 7, 1}, {0.3, 1, 2}, {2500, 50, 1}} {
		p, err := DiscreteGaussian(c.sigma2, c.shift)
		p = must(t, p, err)
		var z, want float64
		for k := -1000.; k <= 1000; k++ {
			z += math.Exp(-k * k / (2 * c.sigma2))
		}
		for k := -1000.; k <= 1000; k++ {
			moved := k - float64(c.shift)
			want += max(0, math.Exp(-moved*moved/(2*c.sigma2))-math.Exp(c.eps-k*k/(2*c.sigma2))) / z
		}
		b := delta(t, []Term{{p, 1}}, c.eps, Options{})
		if b.Lower > want*(1+1e-12) || b.Upper < want*(1-1e-12) || b.Upper-b.Lower > 1e-3*want {
			t.Errorf("%+v: bracket [%.15g, %.15g], want %.15g", c, b.Lower, b.Upper, want)
		}
	}
}

// responseDelta is delta of count randomized responses that tell the truth e^loss times as often as not: the number of
// true answers is binomial.
func responseDelta(loss float64, count int, eps float64) float64 {
	n := float64(count)
	whole, _ := math.Lgamma(n + 1)
	logTrue, logFalse := -math.Log1p(math.Exp(-loss)), -math.Log1p(math.Exp(loss))
	var sum float64
	for k := n; k >= 0; k-- {
		total := (2*k - n) * loss
		if total <= eps {
			break
		}
		a, _ := math.Lgamma(k + 1)
		b, _ := math.Lgamma(n - k + 1)
		sum += math.Exp(whole-a-b+k*logTrue+(n-k)*logFalse) * -math.Expm1(eps-total)
	}
	return sum
}

func TestManyRandomizedResponsesAreBinomial(t *testing.T) {
	for _, c := range []struct {
		name  string
		loss  float64
		count int
		eps   float64
	}{
		{"one", 0.5, 1, 0.2},
		{"a few, middle", 0.3, 9, 1},
		{"a thousand, delta of about 0.03", 0.05, 1000, 4},
		{"a thousand, delta of about 1e-9", 0.05, 1000, 9},
		{"a thousand, delta of about 1e-60", 0.05, 1000, 25},
		{"all answers true", 0.05, 1000, 49.99},
		{"more than all answers true", 0.05, 1000, 50.01},
		{"a hundred thousand", 0.005, 100_000, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			yes, no := -math.Log1p(math.Exp(-c.loss)), -math.Log1p(math.Exp(c.loss))
			p, err := Integers(PMF{0, []float64{yes, no}}, PMF{0, []float64{no, yes}})
			p = must(t, p, err)
			want := responseDelta(c.loss, c.count, c.eps)
			b := delta(t, []Term{{p, c.count}}, c.eps, Options{})
			if b.Lower > want*(1+1e-8) || b.Upper < want*(1-1e-8) { // Lgamma is good to about 1e-10 here
				t.Errorf("bracket [%.12g, %.12g] misses %.12g", b.Lower, b.Upper, want)
			}
			if b.Upper-b.Lower > 0.05*b.Upper+1e-250 {
				t.Errorf("bracket [%g, %g] around %g says little", b.Lower, b.Upper, want)
			}
		})
	}
}

func TestExtremePairs(t *testing.T) {
	half := PMF{0, []float64{-math.Ln2, -math.Ln2}}
	same, err := Integers(half, half)
	same = must(t, same, err)
	if b := epsilon(t, []Term{{same, 1000}}, 1e-9, Options{}); b.Lower != 0 || b.Upper > 1e-8 {
		t.Errorf("a mechanism that ignores the data has epsilon %v, want 0", b)
	}
	if b := delta(t, []Term{{same, 1000}}, 0.1, Options{}); b.Upper > 1e-12 {
		t.Errorf("a mechanism that ignores the data has delta %v, want 0", b)
	}
	disjoint, err := Integers(half, PMF{2, half.LogMass})
	disjoint = must(t, disjoint, err)
	if b := epsilon(t, []Term{{disjoint, 3}}, 0.5, Options{}); !math.IsInf(b.Upper, 1) {
		t.Errorf("a mechanism that tells everything has epsilon %v, want none", b)
	}
	if b := delta(t, []Term{{disjoint, 3}}, 1, Options{}); b.Upper != 1 {
		t.Errorf("a mechanism that tells everything has delta %v, want 1", b)
	}
	// Sampled, it tells everything with the rate's probability.
	rare, err := Poisson(disjoint, 0.01)
	rare = must(t, rare, err)
	if b := delta(t, []Term{{rare, 1}}, 1, Options{}); math.Abs(b.Upper-0.01) > 1e-9 || math.Abs(b.Lower-0.01) > 1e-9 {
		t.Errorf("a mechanism that tells everything once in a hundred has delta %v, want 0.01", b)
	}
}
