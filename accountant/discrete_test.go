package accountant

import (
	"math"
	"testing"
)

func TestDiscreteGaussianBoundHoldsAgainstBruteForce(t *testing.T) {
	for _, sigma2 := range []float64{0.4, 1, 4} {
		for _, s := range []int{1, 2, 3} {
			for _, a := range []float64{1.3, 2, 6} {
				total, sum := 0.0, 0.0
				for z := -60; z <= 60; z++ {
					total += math.Exp(-float64(z*z) / (2 * sigma2))
				}
				for z := -60; z <= 90; z++ {
					x, y := float64(z-s), float64(z)
					sum += math.Exp(-(a*x*x-(a-1)*y*y)/(2*sigma2)) / total
				}
				exact := math.Log(sum) / (a - 1)
				bound := DiscreteGaussian{sigma2, float64(s)}.rdp([]float64{a})[0]
				if exact > bound*(1+1e-9) {
					t.Errorf("sigma2 %g, shift %d, order %g: exact %g above %g", sigma2, s, a, exact, bound)
				}
			}
		}
	}
}

// Two clients' discrete Gaussians added up, by convolution, against the bound.
func TestDiscreteGaussianSumHoldsAgainstBruteForce(t *testing.T) {
	for _, sigma2 := range []float64{0.3, 0.6, 1.5} {
		const reach = 40
		var one, two [2*reach + 1]float64
		total := 0.0
		for z := -reach; z <= reach; z++ {
			one[z+reach] = math.Exp(-float64(z*z) / (2 * sigma2))
			total += one[z+reach]
		}
		for x := -reach; x <= reach; x++ {
			for y := -reach; y <= reach; y++ {
				if z := x + y; z >= -reach && z <= reach {
					two[z+reach] += one[x+reach] / total * one[y+reach] / total
				}
			}
		}
		for _, a := range []float64{2, 5} {
			sum := 0.0
			for z := -reach + 1; z <= reach; z++ {
				if p, q := two[z-1+reach], two[z+reach]; p > 1e-290 && q > 1e-290 {
					sum += math.Exp(a*math.Log(p) - (a-1)*math.Log(q))
				}
			}
			exact := math.Log(sum) / (a - 1)
			bound := DiscreteGaussianSum{2, sigma2, 1, 1}.rdp([]float64{a})[0]
			if exact > bound*(1+1e-9) {
				t.Errorf("sigma2 %g, order %g: exact %g above %g", sigma2, a, exact, bound)
			}
		}
	}
}

func TestSumDistanceGolden(t *testing.T) { // rho at sigma2 = 2 and 4, computed independently
	for _, c := range []struct{ sigma2, rho, tolerance float64 }{{2, 2.68e-8, 2e-3}, {4, 7e-17, 0.05}} {
		if got := sumDistance(2, c.sigma2); math.Abs(got/c.rho-1) > c.tolerance {
			t.Errorf("sigma2 %g: %g, want %g", c.sigma2, got, c.rho)
		}
	}
	if a, b := sumDistance(1<<16, 1), sumDistance(1<<16+10, 1); !(b > a && b < a*1.001) {
		t.Errorf("past the exact terms the sum goes from %g to %g", a, b)
	}
	if got := (DiscreteGaussianSum{2, 0.2, 1, 1}).rdp([]float64{2})[0]; !math.IsInf(got, 1) {
		t.Errorf("sigma below 1/2 has bound %g, want none", got)
	}
}

func TestSMMOrdersOutsideItsRangeHaveNoBound(t *testing.T) {
	e := SMM{Rate: 100, C: 4, Linf: 2}
	// 4L/(10.9a^2 - 1.8a - 9.1) >= Linf^2 up to a = 3 here.
	if got, want := e.rdp([]float64{2})[0], (1.2*2+1)/400*4.; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("order 2: %g, want %g", got, want)
	}
	if got := e.rdp([]float64{4})[0]; !math.IsInf(got, 1) {
		t.Errorf("order 4: %g, want no bound", got)
	}
}

func TestLaplaceAgreesWithNumericalIntegration(t *testing.T) {
	for _, scale := range []float64{0.5, 1, 4} {
		for _, a := range []float64{1.05, 2, 7.5} {
			const step = 1e-3
			sum := 0.0
			for x := -60 * scale; x < 60*scale; x += step * scale {
				mid := x + step*scale/2
				p, q := -math.Abs(mid-1)/scale, -math.Abs(mid)/scale
				sum += math.Exp(a*p-(a-1)*q) / (2 * scale) * step * scale
			}
			want := math.Log(sum) / (a - 1)
			got := Laplace{Scale: scale}.rdp([]float64{a})[0]
			if math.Abs(got/want-1) > 1e-4 { // the integration's own error at its kinks
				t.Errorf("scale %g, order %g: %g, integration gives %g", scale, a, got, want)
			}
		}
	}
	b, err := Epsilon(About{Event: Laplace{Scale: 2}}, 1e-9, ByRDP)
	if err != nil || math.Abs(b.Epsilon-0.5) > 1e-9 || !math.IsInf(b.Order, 1) {
		t.Errorf("scale 2 at tiny delta: epsilon %g by order %g, %v; want 0.5 by infinity", b.Epsilon, b.Order, err)
	}
}

func TestBinomialDeltaAgreesWithSumOverAllOutcomes(t *testing.T) {
	for _, e := range []Binomial{{10, .5, 1}, {40, .5, 3}, {30, .2, 2}, {25, .9, 1}} {
		pmf := func(k int) float64 {
			if k < 0 || k > e.Trials {
				return 0
			}
			choose, _ := logBinomial(float64(e.Trials), float64(k))
			return math.Exp(choose + float64(k)*math.Log(e.P) + float64(e.Trials-k)*math.Log1p(-e.P))
		}
		for _, epsilon := range []float64{0, .3, 1, 2.5} {
			forward, back := 0.0, 0.0
			for s := range e.Shift + 1 { // a smaller shift must not be worse, so all are tried
				f, b := 0.0, 0.0
				for z := -e.Shift; z <= e.Trials+e.Shift; z++ {
					f += max(0, pmf(z-s)-math.Exp(epsilon)*pmf(z))
					b += max(0, pmf(z)-math.Exp(epsilon)*pmf(z-s))
				}
				forward, back = max(forward, f), max(back, b)
			}
			got, want := e.delta(epsilon), max(forward, back)
			if got < want*(1-1e-12) || got > want*(1+1e-9)+1e-15 {
				t.Errorf("%+v at epsilon %g: delta %.15g, want %.15g", e, epsilon, got, want)
			}
		}
	}
}

func TestBinomialEpsilon(t *testing.T) {
	b, err := Epsilon(About{Event: Binomial{1000, .5, 1}}, 1e-5, Best)
	if err != nil {
		t.Fatal(err)
	}
	// Nearly Gaussian: sigma = sqrt(1000)/2, so mu = 0.0632.
	if gauss := GaussianEpsilon(2/math.Sqrt(1000), 1e-5); math.Abs(b.Epsilon/gauss-1) > 0.02 {
		t.Errorf("epsilon %g by %s, a Gaussian of the same variance has %g", b.Epsilon, b.Accountant, gauss)
	}
	if _, err := Epsilon(About{Event: Binomial{1000, .5, 1}}, 1e-5, ByRDP); err == nil {
		t.Error("rdp accepted an event whose divergence is infinite")
	}
	d, err := Delta(About{Event: Binomial{1000, .5, 1}}, b.Epsilon, Best)
	if err != nil || d.Delta > 1e-5 || d.Delta < 0.999e-5 {
		t.Errorf("delta at that epsilon is %g, %v; want 1e-5", d.Delta, err)
	}
	// 2^-10 of the mass has no counterpart, so below that delta nothing protects.
	none, err := Epsilon(About{Event: Binomial{10, .5, 1}}, 1e-4, Best)
	if err != nil || !math.IsInf(none.Epsilon, 1) || none.Why == "" {
		t.Errorf("10 trials at delta 1e-4: %+v, %v; want no guarantee, with a reason", none, err)
	}
}

func TestCPSGDIsAboveTheExactBinomial(t *testing.T) {
	for _, trials := range []int{2000, 20000, 1000000} {
		closed := CPSGD{trials, .5, 1, 1, 1, 1}.epsilon(1e-5)
		exact := epsilonOf(1e-5, Binomial{trials, .5, 1}.deltas())
		if closed < exact {
			t.Errorf("%d trials: closed form %g below the exact %g", trials, closed, exact)
		}
	}
	if got := (CPSGD{1000, .5, 1, 1, 1, 1000}).epsilon(1e-5); !math.IsInf(got, 1) { // 250 < 23 log(1e9)
		t.Errorf("outside its range the closed form gives %g, want no bound", got)
	}
}

func TestBinomialTreesCompose(t *testing.T) {
	one := Binomial{10000, .5, 1}
	epsilon := func(e Event) float64 {
		b, err := Epsilon(About{Event: e}, 1e-5, Best)
		if err != nil {
			t.Fatal(err)
		}
		return b.Epsilon
	}
	single := epsilon(one)
	if many := epsilon(Repeat{400, one}); many > 400*single || many < single {
		t.Errorf("400 times: %g, once: %g", many, single)
	}
	if sampled := epsilon(Poisson{.01, one}); sampled >= single {
		t.Errorf("sampled %g, unsampled %g", sampled, single)
	}
	if mixed := epsilon(Compose{one, Gaussian{5}}); mixed < single || mixed < epsilon(Gaussian{5}) {
		t.Errorf("with a Gaussian %g is less than a part alone", mixed)
	}
}
