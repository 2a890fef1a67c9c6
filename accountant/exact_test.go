package accountant

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"hubbub/accountant/pld"
)

// Gaussian: PLD = f-DP = closed form to 1e-6.
func TestGaussianIsTheSameByEveryExactRoute(t *testing.T) {
	for _, z := range []float64{0.5, 1, 3, 20} {
		for _, count := range []int{1, 17, 1000} {
			event := Repeat{count, Gaussian{z}}
			want := GaussianEpsilon(math.Sqrt(float64(count))/z, 1e-5)
			b, err := Epsilon(About{Event: event}, 1e-5, ByFDP)
			if err != nil || math.Abs(b.Epsilon/want-1) > 1e-9 || b.Lower > want || b.Mu == 0 {
				t.Errorf("fdp: %d of %g: %+v, %v; want %g", count, z, b, err, want)
			}
			list, err := terms(event)
			if err != nil {
				t.Fatal(err)
			}
			bracket, err := pld.Epsilon(list, 1e-5, pld.Options{Tolerance: 1e-6})
			if err != nil || bracket.Lower > want*(1+1e-9) || bracket.Upper < want*(1-1e-9) || bracket.Upper-bracket.Lower > 1.1e-6*want {
				t.Errorf("pld: %d of %g: %+v, %v; want %g", count, z, bracket, err, want)
			}
		}
	}
}

// THEORY 004: s=1, N=3534, q=16/600, delta=1e-5. The central limit underestimates Poisson sampling, and the exact value of fixed-size
// sampling lies below its own limit.
func TestTheCentralLimitIsNoBound(t *testing.T) {
	const n, q = 3534, 16.0 / 600
	b, err := Epsilon(About{Event: Repeat{n, Poisson{q, Gaussian{1}}}}, 1e-5, ByPLD)
	if err != nil || math.Abs(b.Epsilon/10.82366-1) > 1e-3 {
		t.Errorf("poisson: %+v, %v; want 10.82366", b, err)
	}
	if limit := GaussianEpsilon(b.MuLimit, 1e-5); !(limit < b.Lower) || math.Abs(limit/10.480824-1) > 1e-6 {
		t.Errorf("the limit says %g, want 10.480824, below the truth", limit)
	}
	b, err = Epsilon(About{Event: Repeat{n, WithoutReplacement{q, Gaussian{1}}}}, 1e-5, Best)
	if err != nil || math.Abs(b.Epsilon/13.87723-1) > 1e-3 || b.Accountant != "pld" {
		t.Errorf("fixed size: %+v, %v; want 13.87723", b, err)
	}
	if limit := GaussianEpsilon(b.MuLimit, 1e-5); math.Abs(limit/14.639294-1) > 1e-6 {
		t.Errorf("the limit says %g, want 14.639294", limit)
	}
}

func TestNoRouteIsBelowTheTruthAndBestIsTheSmallest(t *testing.T) {
	for _, event := range []Event{
		Repeat{250, Poisson{.004, Gaussian{1.1}}}, Repeat{30, Poisson{.1, Laplace{Scale: 3}}}, Repeat{10, Laplace{Scale: 4}},
		Repeat{40, WithoutReplacement{.05, Gaussian{2}}}, Repeat{20, DiscreteGaussian{9, 1}}, Repeat{20, Poisson{.2, DiscreteGaussian{4, 1}}},
		Compose{Repeat{10, Gaussian{5}}, Repeat{100, Poisson{.01, Gaussian{1}}}, Laplace{Scale: 5}},
		Repeat{5, Poisson{.3, Poisson{.5, Gaussian{1}}}}, Poisson{.1, Repeat{4, Gaussian{3}}},
	} {
		about := About{Event: event}
		exact, err := Epsilon(about, 1e-5, ByPLD)
		if err != nil {
			t.Errorf("%+v: %v", event, err)
			continue
		}
		renyi, err := Epsilon(about, 1e-5, ByRDP)
		if err != nil || renyi.Epsilon < exact.Lower {
			t.Errorf("%+v: rdp %g below the truth, %g (%v)", event, renyi.Epsilon, exact.Lower, err)
		}
		best, err := Epsilon(about, 1e-5, Best)
		if err != nil || best.Epsilon > min(renyi.Epsilon, exact.Epsilon)*(1+2e-3) || best.Epsilon < exact.Lower {
			t.Errorf("%+v: best %g, rdp %g, pld %g to %g (%v)", event, best.Epsilon, renyi.Epsilon, exact.Lower, exact.Epsilon, err)
		}
		back, err := Delta(about, exact.Epsilon, ByPLD)
		if err != nil || back.Lower > 1e-5*(1+1e-6) || back.Delta < 0.98e-5 {
			t.Errorf("%+v: delta %g to %g at the epsilon of 1e-5 (%v)", event, back.Lower, back.Delta, err)
		}
	}
}

func TestPLDRefusesWhatIsNotProved(t *testing.T) {
	for name, event := range map[string]Event{
		"vector Skellam":             Skellam{Rate: 10, L2: 5},
		"rounded Skellam":            Repeat{3, Poisson{.1, RoundedSkellam{10, 2}}},
		"vector discrete Gaussian":   DiscreteGaussian{4, 2},
		"sampling of a composition":  Poisson{.1, Compose{Gaussian{1}, Laplace{Scale: 1}}},
		"repeated lopsided binomial": Repeat{2, Binomial{1000, .3, 1}},
		"no noise":                   None{},
	} {
		_, err := Epsilon(About{Event: event}, 1e-5, ByPLD)
		if !errors.Is(err, ErrNotApplicable) || !strings.Contains(err.Error(), "use rdp or best") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := Epsilon(About{Event: Binomial{1000, .3, 1}}, 1e-5, ByPLD); err != nil || !(b.Epsilon < 1) {
		t.Errorf("one lopsided binomial: %+v, %v", b, err)
	}
}

// Vectors made by an independent implementation, dp-accounting. By PLD we are never below its optimistic value and at most 0.5%
// above its pessimistic one; by RDP we are at most 0.5% above its own RDP epsilon and never below its optimistic PLD value.
func TestEventsAgreeWithAnIndependentImplementation(t *testing.T) {
	text, err := os.ReadFile("testdata/dp_accounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Source  json.RawMessage `json:"source"`
		Vectors []struct {
			Terms []struct {
				Mechanism   string
				Scale, Rate float64
				Shift       float64
				Count       int
			}
			Delta       float64
			Pessimistic float64  `json:"pld_pessimistic"`
			Optimistic  float64  `json:"pld_optimistic"`
			RDP         *float64 `json:"rdp"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Vectors) < 200 || len(file.Source) == 0 {
		t.Fatalf("%d vectors, %v", len(file.Vectors), err)
	}
	exact, renyi := 0, 0
	for i, v := range file.Vectors {
		if testing.Short() && i%5 != 0 {
			continue
		}
		var all Compose
		for _, term := range v.Terms {
			var e Event
			switch term.Mechanism {
			case "gaussian":
				e = Gaussian{term.Scale / term.Shift}
			case "laplace":
				e = Laplace{Scale: term.Scale / term.Shift}
			case "discrete_gaussian":
				e = DiscreteGaussian{term.Scale * term.Scale, term.Shift}
			default:
				t.Fatalf("mechanism %q", term.Mechanism)
			}
			if term.Rate < 1 {
				e = Poisson{term.Rate, e}
			}
			all = append(all, Repeat{term.Count, e})
		}
		about := About{Event: all}
		if b, err := Epsilon(about, v.Delta, ByPLD); err == nil {
			exact++
			if b.Epsilon < v.Optimistic*(1-1e-9) || b.Epsilon > v.Pessimistic*1.005 {
				t.Errorf("vector %d: pld %g, the other has %g to %g", i, b.Epsilon, v.Optimistic, v.Pessimistic)
			}
		} else if !errors.Is(err, ErrNotApplicable) {
			t.Errorf("vector %d: %v", i, err)
		}
		if v.RDP == nil {
			continue
		}
		if b, err := Epsilon(about, v.Delta, ByRDP); err != nil || b.Epsilon < v.Optimistic || b.Epsilon > *v.RDP*1.005 {
			t.Errorf("vector %d: rdp %g, the other has %g (%v)", i, b.Epsilon, *v.RDP, err)
		}
		renyi++
	}
	if !testing.Short() && (exact < 200 || renyi < 150) {
		t.Errorf("only %d by pld and %d by rdp were compared", exact, renyi)
	}
}
