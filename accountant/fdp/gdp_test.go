package fdp

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

func TestDeltaMatchesPublishedValues(t *testing.T) {
	// [DRS22, Corollary 2.13], computed independently to ten digits.
	for _, c := range []struct{ mu, eps, want, printed float64 }{
		{1, 0, 0.3829249225, 1e-10},
		{1, 1, 0.1269367375, 1e-10},
		{1, 2, 0.0209236358, 1e-10},
		{1, 4, 4.712241e-5, 1e-11},
		{4, 1, 0.9267112813, 1e-10},
		{4, 4, 0.7676428108, 1e-10},
		{4, 8, 0.4055893587, 1e-10},
	} {
		got, err := Delta(c.mu, c.eps)
		if err != nil || math.Abs(got-c.want) > c.printed {
			t.Errorf("delta(mu %g, epsilon %g) = %.12g (%v), want %g", c.mu, c.eps, got, err, c.want)
		}
	}
}

func TestEpsilonMatchesPublishedValues(t *testing.T) {
	// [DRS22, Corollary 2.13] solved for epsilon at delta = 1e-5, computed independently to nine digits.
	for _, c := range []struct{ mu, want float64 }{
		{0.5, 1.993091404}, {1, 4.377178096}, {2, 9.997256146}, {2.71, 14.632190804},
	} {
		got, err := Epsilon(c.mu, 1e-5)
		if err != nil || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("epsilon(mu %g) = %.12g (%v), want %g", c.mu, got, err, c.want)
		}
	}
}

// logDeltaByIntegral is ln E[(1 - e^(eps-L))+] for L ~ N(mu²/2, mu²) by Simpson's rule, with the density where L = eps
// taken out, since it may underflow.
func logDeltaByIntegral(mu, eps float64) float64 {
	const panels = 4000
	start := (eps - mu*mu/2) / mu // where L = eps, in standard deviations
	width := 45/max(1, start) + 1
	var sum float64
	for i := range panels + 1 {
		u := width * float64(i) / panels
		v := math.Exp(-u*(u+2*start)/2) * -math.Expm1(-mu*u)
		switch {
		case i == 0 || i == panels:
			sum += v
		case i%2 == 1:
			sum += 4 * v
		default:
			sum += 2 * v
		}
	}
	return math.Log(sum*width/panels/3) - start*start/2 - logSqrt2Pi
}

func TestDeltaHoldsInTheFarTail(t *testing.T) {
	for _, c := range []struct{ mu, eps float64 }{
		{1, 10}, {1, 20}, {1, 36}, {0.1, 2}, {0.1, 3.6}, {0.001, 0.02}, {1e-6, 3e-5}, {5, 150}, {30, 1400},
	} {
		got := logDelta(c.mu, c.eps)
		want := logDeltaByIntegral(c.mu, c.eps)
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("ln delta(mu %g, epsilon %g) = %.15g, want %.15g", c.mu, c.eps, got, want)
		}
	}
	if d, err := Delta(1, 1000); err != nil || d <= 0 {
		t.Errorf("delta(1, 1000) = %g (%v): it underflows, but is not zero", d, err)
	}
}

func TestBothFormsOfDeltaAgreeWhereTheyMeet(t *testing.T) {
	// The integral takes over from the difference at mu = 0.5, the branch near one at a = -5.
	for _, eps := range []float64{0, 0.1, 1, 5, 15} {
		below, above := logDelta(0.5, eps), logDelta(math.Nextafter(0.5, 1), eps)
		if math.Abs(below-above) > 1e-12*math.Max(1, math.Abs(below)) {
			t.Errorf("ln delta jumps from %.16g to %.16g at mu 0.5, epsilon %g", below, above, eps)
		}
	}
	mu := 20.
	eps := mu * (mu/2 - 5)
	below, above := logDelta(mu, eps*(1-1e-15)), logDelta(mu, eps*(1+1e-15))
	if math.Abs(below-above) > 1e-12 {
		t.Errorf("ln delta jumps from %.16g to %.16g at a = -5", below, above)
	}
}

func TestEpsilonDeltaAndMuInvertEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Pow(10, rapid.Float64Range(-3, 1.5).Draw(t, "log mu"))
		delta := math.Pow(10, rapid.Float64Range(-300, -0.5).Draw(t, "log delta"))
		eps, err := Epsilon(mu, delta)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Delta(mu, eps)
		if err != nil || back > delta {
			t.Fatalf("epsilon %g of mu %g at delta %g is too small: delta there is %g (%v)", eps, mu, delta, back, err)
		}
		if eps == 0 {
			return
		}
		if lower, _ := Delta(mu, eps*(1-1e-9)); lower <= delta*(1-1e-6) {
			t.Fatalf("epsilon %g of mu %g at delta %g is too large", eps, mu, delta)
		}
		allowed, err := Mu(eps, delta)
		if err != nil || !near(allowed, mu, 1e-9) {
			t.Fatalf("mu for (%g, %g) is %.15g (%v), want %.15g", eps, delta, allowed, err, mu)
		}
		if d, _ := Delta(allowed, eps); d > delta {
			t.Fatalf("mu %g is too large for (%g, %g)", allowed, eps, delta)
		}
	})
}

func TestBadInputIsRefused(t *testing.T) {
	only := func(_ float64, err error) error { return err }
	function := func(_ Function, err error) error { return err }
	nan := math.NaN()
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"mu zero", only(Delta(0, 1)), "mu 0"},
		{"mu negative", only(Epsilon(-1, 1e-5)), "mu -1"},
		{"mu NaN", only(Delta(nan, 1)), "mu NaN"},
		{"mu infinite", only(Delta(math.Inf(1), 1)), "mu +Inf"},
		{"epsilon negative", only(Delta(1, -1)), "epsilon -1"},
		{"epsilon NaN", only(Mu(nan, 1e-5)), "epsilon NaN"},
		{"delta zero", only(Epsilon(1, 0)), "delta 0"},
		{"delta one", only(Mu(1, 1)), "delta 1"},
		{"rate above one", only(Sampled{1, 1.1}.LimitMu(5)), "rate 1.1"},
		{"count zero", only(Sampled{1, 0.1}.LimitMu(0)), "count 0"},
		{"Poisson count negative", only(PoissonLimitMu(1, 0.1, -1)), "count -1"},
		{"Gaussian of negative mu", function(Gaussian(-1)), "mu -1"},
		{"privacy parameters with a negative epsilon", function(EpsilonDelta(-1, 0.1)), "epsilon -1"},
		{"privacy parameters with a delta above one", function(EpsilonDelta(1, 1.1)), "delta 1.1"},
		{"sampled function with rate zero", function(Sampled{1, 0}.Tradeoff()), "rate 0"},
		{"alpha above one", only(Beta(gaussian{1}, 1.5)), "type I error 1.5"},
		{"alpha NaN", only(Beta(gaussian{1}, nan)), "type I error NaN"},
		{"epsilon of a function at delta zero", only(EpsilonOf(gaussian{1}, 0)), "delta 0"},
		{"delta of a function at NaN", only(DeltaOf(gaussian{1}, nan)), "epsilon NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", c.err, c.want)
			}
		})
	}
}
