package accountant

import (
	"fmt"
	"math"
	"testing"
)

// Golden values from an independent computation for papers 004 and 001.
func TestGaussianDeltaGolden(t *testing.T) {
	for _, c := range []struct{ mu, epsilon, delta float64 }{
		{1, 0, .3829249225}, {1, 1, .1269367375}, {1, 2, .0209236358}, {1, 4, 4.712241e-5},
		{4, 1, .9267112813}, {4, 4, .7676428108}, {4, 8, .4055893587},
	} {
		if got := GaussianDelta(c.mu, c.epsilon); math.Abs(got/c.delta-1) > 2e-7 {
			t.Errorf("mu %g, epsilon %g: delta %.11g, want %.11g", c.mu, c.epsilon, got, c.delta)
		}
	}
	for _, c := range []struct{ mu, epsilon float64 }{
		{.5, 1.993091404}, {1, 4.377178096}, {2, 9.997256146}, {2.71, 14.632190804},
	} {
		if got := GaussianEpsilon(c.mu, 1e-5); math.Abs(got/c.epsilon-1) > 1e-9 {
			t.Errorf("mu %g: epsilon %.11g, want %.11g", c.mu, got, c.epsilon)
		}
	}
}

func TestGaussianEpsilonInvertsDelta(t *testing.T) {
	for _, mu := range []float64{1e-3, .05, .5, 1, 3, 12, 60} {
		for _, delta := range []float64{1e-12, 1e-8, 1e-5, 1e-2, .3} {
			epsilon := GaussianEpsilon(mu, delta)
			if got := GaussianDelta(mu, epsilon); got > delta {
				t.Errorf("mu %g, delta %g: epsilon %g has delta %g", mu, delta, epsilon, got)
			}
			if epsilon > 0 {
				if got := GaussianDelta(mu, epsilon*(1-1e-6)); got < delta {
					t.Errorf("mu %g, delta %g: epsilon %g is not the smallest", mu, delta, epsilon)
				}
			}
		}
	}
}

// Paper 004 trains with batches of a fixed size; mu_max in its Tables 1 to 3 is sqrt(2) c sqrt(e^(1/s^2) Phi(1.5/s) +
// 3 Phi(-.5/s) - 2), c = B/n sqrt(KR). Unrounded values: an independent computation.
func TestPaper004MuMax(t *testing.T) {
	for _, c := range []struct {
		table          int
		sigma          float64
		batch, k, r, n int
		printed        float64
		unrounded      float64 // 0: not listed
	}{
		{1, 1.0, 16, 38, 93, 600, 2.71, 2.711030}, {1, .9, 16, 38, 83, 600, 3.10, 3.098586}, {1, .75, 16, 38, 64, 600, 3.96, 3.962531},
		{1, 1.0, 16, 38, 194, 600, 3.92, 3.915558}, {1, .9, 16, 38, 176, 600, 4.51, 4.512122}, {1, .75, 16, 38, 127, 600, 5.58, 5.581932},
		{1, 1.0, 16, 38, 386, 600, 5.52, 5.523145}, {1, .9, 16, 38, 325, 600, 6.13, 6.131492}, {1, .75, 16, 38, 245, 600, 7.75, 7.752927},
		{2, 1.0, 8, 76, 266, 600, 3.24, 3.242042}, {2, 1.0, 16, 38, 194, 600, 3.92, 0}, {2, .9, 8, 76, 229, 600, 3.64, 3.639379},
		{2, .9, 16, 38, 176, 600, 4.51, 0}, {2, .75, 8, 76, 191, 600, 4.84, 4.840435}, {2, .75, 16, 38, 127, 600, 5.58, 0},
		{3, 1.0, 16, 32, 468, 500, 6.70, 6.696998}, {3, .75, 16, 32, 321, 500, 9.77, 9.772364}, {3, .5, 16, 32, 207, 500, 26.81, 26.814195},
		{3, 1.0, 16, 32, 904, 500, 9.31, 9.307681}, {3, .75, 16, 32, 671, 500, 14.13, 14.128901}, {3, .5, 16, 32, 405, 500, 37.51, 37.506549},
	} {
		t.Run(fmt.Sprintf("table %d, sigma %g, batch %d, %d rounds", c.table, c.sigma, c.batch, c.r), func(t *testing.T) {
			event := Repeat{c.k * c.r, WithoutReplacement{float64(c.batch) / float64(c.n), Gaussian{c.sigma}}}
			exact, limit, _ := mu(event)
			if exact != 0 {
				t.Errorf("mu %g is called exact, but it is the central limit's", exact)
			}
			if math.Abs(limit-c.printed) > 0.00501 {
				t.Errorf("mu %.6f, the paper prints %.2f", limit, c.printed)
			}
			if c.unrounded != 0 && math.Abs(limit/c.unrounded-1) > 1e-6 {
				t.Errorf("mu %.7f, want %.6f", limit, c.unrounded)
			}
		})
	}
}

// The Poisson limit underestimates: at sigma 1, rate 16/600, 3,534 steps it suggests mu 2.078018 and thus epsilon 10.480824
// at delta 1e-5, below the true 10.82366 (computed independently). It must not be used as a bound.
func TestCentralLimitIsInformationOnly(t *testing.T) {
	about := About{Event: Repeat{3534, Poisson{16. / 600, Gaussian{1}}}}
	b, err := Epsilon(about, 1e-5, Best)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(b.MuLimit/2.078018-1) > 1e-6 || b.Mu != 0 {
		t.Errorf("mu %g, limit %g; want limit 2.078018 and no exact mu", b.Mu, b.MuLimit)
	}
	if math.Abs(GaussianEpsilon(b.MuLimit, 1e-5)/10.480824-1) > 1e-6 {
		t.Errorf("the limit's epsilon is %g, want 10.480824", GaussianEpsilon(b.MuLimit, 1e-5))
	}
	if b.Epsilon < 10.82366 {
		t.Errorf("epsilon %g is below the truth 10.82366", b.Epsilon)
	}
}

func TestGaussiansComposeToOneGaussian(t *testing.T) {
	b, err := Epsilon(About{Event: Compose{Repeat{3, Gaussian{2}}, GDP{.5}}}, 1e-5, Best)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(b.Mu-1) > 1e-12 || math.Abs(b.Epsilon/4.377178096-1) > 1e-9 || b.Accountant != "fdp" {
		t.Errorf("got mu %g, epsilon %.10g by %s; want 1, 4.377178096 by fdp", b.Mu, b.Epsilon, b.Accountant)
	}
	rdp, err := Epsilon(About{Event: GDP{1}}, 1e-5, ByRDP)
	if err != nil || rdp.Epsilon < b.Epsilon {
		t.Errorf("rdp gives %g, %v: below the exact %g", rdp.Epsilon, err, b.Epsilon)
	}
}
