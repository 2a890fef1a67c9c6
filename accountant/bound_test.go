package accountant

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestBadNumbersAreRefused(t *testing.T) {
	good := About{Event: Gaussian{1}}
	for _, delta := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if b, err := Epsilon(good, delta, Best); err == nil || !strings.Contains(err.Error(), "(0, 1)") {
			t.Errorf("delta %g: %+v, %v", delta, b, err)
		}
	}
	for _, epsilon := range []float64{-1, math.NaN(), math.Inf(1)} {
		if b, err := Delta(good, epsilon, Best); err == nil {
			t.Errorf("epsilon %g: %+v", epsilon, b)
		}
	}
	for _, order := range []float64{1, 0.5, 0, -3, math.NaN()} {
		if v, err := RDP(good, order); err == nil || !strings.Contains(err.Error(), "greater than 1") {
			t.Errorf("order %g: %g, %v", order, v, err)
		}
	}
	for _, e := range []Event{
		Gaussian{math.NaN()}, Gaussian{math.Inf(1)}, Laplace{Scale: math.NaN()}, GDP{math.Inf(1)}, Poisson{math.NaN(), GDP{1}},
		Skellam{Rate: math.NaN(), L2: 1}, Skellam{Rate: 1, L2: math.NaN()}, Skellam{Rate: 1, L2: 2, Linf: math.NaN()},
		RoundedSkellam{1, math.Inf(1)}, SMM{1, math.NaN(), 1}, DiscreteGaussian{math.NaN(), 1}, DiscreteGaussianSum{1, 1, 1, 0},
		Binomial{1 << 40, .5, 1}, CPSGD{1, math.NaN(), 1, 1, 1, 1}, Waterfill{1, 1, math.NaN(), 1, 1}, Subspace{1, 1, 1, 1, -1},
	} {
		if err := Validate(About{Event: e}); err == nil {
			t.Errorf("accepted %+v", e)
		}
	}
	if _, err := Epsilon(good, 1e-5, "rdpp"); err == nil || !strings.Contains(err.Error(), "did you mean rdp") {
		t.Errorf("method rdpp: %v", err)
	}
}

// Extreme but legal values: a number or +Inf, never NaN, never less than for milder ones.
func TestExtremesNeverGiveNaN(t *testing.T) {
	for _, e := range []Event{
		Gaussian{1e-300}, Gaussian{1e300}, Laplace{Scale: 1e-300}, Laplace{Scale: 1e300}, GDP{1e300}, GDP{1e-300},
		Poisson{1e-300, Gaussian{1}}, Poisson{.5, Gaussian{1e-200}}, Poisson{1 - 1e-16, Gaussian{1}}, Poisson{1e-9, Laplace{Scale: 1e-3}},
		WithoutReplacement{1e-300, Laplace{Scale: 1}}, WithoutReplacement{.5, Gaussian{1e-100}},
		Repeat{math.MaxInt, Gaussian{1e-200}}, Repeat{math.MaxInt, Gaussian{1e5}}, Repeat{math.MaxInt, Repeat{math.MaxInt, GDP{1}}},
		Skellam{Rate: 1e-300, L2: 1}, Skellam{Rate: 1e300, L2: 1}, Skellam{Rate: 1e7, L2: 1e9},
		RoundedSkellam{1e-300, 1}, RoundedSkellam{1e300, 1}, RoundedSkellam{1, 1e-12}, RoundedSkellam{1, 1e9},
		SMM{1e300, 1, 1}, DiscreteGaussian{1e-300, 1}, DiscreteGaussianSum{math.MaxInt, 1, 1, 1}, CPSGD{math.MaxInt, .5, 1, 1, 1, math.MaxInt},
		Waterfill{math.MaxInt, math.MaxInt, 1e-300, 1e300, 1e-300}, Binomial{1, 1e-300, 1}, Binomial{1000, .5, math.MaxInt / 2},
	} {
		deltas := []float64{1e-300, 1e-5, 1 - 1e-16}
		if e.kind() == "rounded_skellam" || e.kind() == "skellam" {
			deltas = deltas[:1] // these compute for a while, and the conversion is the same
		}
		for _, delta := range deltas {
			b, err := Epsilon(About{Event: e}, delta, Best)
			if err != nil {
				t.Errorf("%+v: %v", e, err)
			} else if math.IsNaN(b.Epsilon) || b.Epsilon < 0 {
				t.Errorf("%+v at delta %g: epsilon %g", e, delta, b.Epsilon)
			} else if math.IsInf(b.Epsilon, 1) && b.Why == "" {
				t.Errorf("%+v at delta %g: no guarantee and no reason", e, delta)
			}
		}
		if b, err := Delta(About{Event: e}, 1, Best); err != nil || math.IsNaN(b.Delta) || b.Delta < 0 || b.Delta > 1 {
			t.Errorf("%+v at epsilon 1: delta %g, %v", e, b.Delta, err)
		}
	}
}

func TestNoGuaranteeSaysWhy(t *testing.T) {
	about := About{Event: Compose{Gaussian{1}, Unsound{"the scale depends on the data", "epsilon 0.5"}}}
	b, err := Epsilon(about, 1e-5, Best)
	if err != nil || !math.IsInf(b.Epsilon, 1) || b.Why != "the scale depends on the data" || b.Claimed != "epsilon 0.5" {
		t.Errorf("%+v, %v", b, err)
	}
	text, err := json.Marshal(b)
	if want := `{"epsilon":null,"guarantee":"none","why":"the scale depends on the data","claimed_by_paper":"epsilon 0.5","delta":0.00001,"accountant":"rdp"}`; err != nil || string(text) != want {
		t.Errorf("JSON %s, %v", text, err)
	}
	if b, err := Epsilon(About{Event: None{}}, 1e-5, Best); err != nil || !math.IsInf(b.Epsilon, 1) || b.Why == "" {
		t.Errorf("none: %+v, %v", b, err)
	}
	if b, err := Delta(About{Event: None{}}, 1, Best); err != nil || b.Delta != 1 || b.Why == "" {
		t.Errorf("none: %+v, %v", b, err)
	}
}

func TestNothingReleasedCostsNothing(t *testing.T) {
	for _, e := range []Event{Compose{}, Repeat{0, None{}}, Poisson{0, None{}}, Repeat{5, Compose{}}, WithoutReplacement{.5, Compose{}}, Poisson{.5, Compose{}}} {
		if b, err := Epsilon(About{Event: e}, 1e-5, Best); err != nil || b.Epsilon != 0 {
			t.Errorf("%+v: %+v, %v", e, b, err)
		}
	}
	var none Curve
	if epsilon, _ := none.Times(5).Plus(Curve{}).Epsilon(1e-5); epsilon != 0 {
		t.Errorf("the zero curve costs %g", epsilon)
	}
}

func TestMethodsThatDoNotApplySaySo(t *testing.T) {
	_, err := Epsilon(About{Event: Laplace{Scale: 1}}, 1e-5, ByFDP)
	if !errors.Is(err, ErrNotApplicable) {
		t.Errorf("fdp of laplace: %v", err)
	}
}

// Between whole orders, [WBK19] and the sampling bounds interpolate; at whole orders their formulas stand. Here against
// numerical integration over every arrangement of three normals on a line whose centres are at most 1 apart.
func TestWithoutReplacementHoldsAgainstIntegration(t *testing.T) {
	density := func(z, centre, sigma float64) float64 {
		return math.Exp(-(z-centre)*(z-centre)/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi))
	}
	for _, sigma := range []float64{0.6, 1, 3} {
		for _, q := range []float64{.02, .3, .8} {
			for _, a := range []float64{1.5, 2, 3, 6} {
				bound := WithoutReplacement{q, Gaussian{sigma}}.rdp([]float64{a})[0]
				for _, c := range [][3]float64{{0, 0, 1}, {0, 1, 0}, {0, .5, -.5}, {0, 1, .5}, {0, 1, 1}, {0, -.3, .7}} {
					sum := 0.0
					const step = 4e-3
					for z := -12*sigma - a; z < 12*sigma+a; z += step {
						p := (1-q)*density(z, c[0], sigma) + q*density(z, c[1], sigma)
						r := (1-q)*density(z, c[0], sigma) + q*density(z, c[2], sigma)
						sum += math.Exp(a*math.Log(p)-(a-1)*math.Log(r)) * step
					}
					if exact := math.Log(sum) / (a - 1); exact > bound+1e-9 {
						t.Errorf("sigma %g, rate %g, order %g, centres %v: %g above %g", sigma, q, a, c, exact, bound)
					}
				}
			}
		}
	}
}

// Known values of the sampled Gaussian with this conversion: z = 1.1, 256 of 60,000, 14,062 steps, delta 1e-5.
func TestDPSGDTutorialEpsilon(t *testing.T) {
	b, err := Epsilon(About{Event: Repeat{14062, Poisson{256. / 60000, Gaussian{1.1}}}}, 1e-5, ByRDP)
	if err != nil || b.Epsilon < 2.59 || b.Epsilon > 2.605 {
		t.Errorf("epsilon %g, %v; want about 2.597", b.Epsilon, err)
	}
}

func TestRepeatedAgreesWithEpsilon(t *testing.T) {
	for _, e := range []Event{
		Gaussian{2}, Poisson{.01, Gaussian{1}}, Poisson{.01, RoundedSkellam{30, 5}}, Skellam{Rate: 50, L2: 5, Linf: 5}, SMM{500, 4, 1},
		Compose{}, None{}, Binomial{1000, .5, 1}, CPSGD{1 << 30, .5, 10, 5, 3, 100}, Poisson{.1, Compose{Gaussian{3}, Laplace{Scale: 3}}},
	} {
		r, err := NewRepeated(About{Event: e})
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{1, 7, 300} {
			got, err := r.Epsilon(count, 1e-5)
			want, wantErr := Epsilon(About{Event: Repeat{count, e}}, 1e-5, Best)
			if err != nil || wantErr != nil || got.Epsilon != want.Epsilon && math.Abs(got.Epsilon/want.Epsilon-1) > 1e-9 || got.Why != want.Why {
				t.Errorf("%d times %+v: %+v (%v), want %+v (%v)", count, e, got, err, want, wantErr)
			}
		}
	}
}
