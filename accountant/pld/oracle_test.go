package pld

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// oracleVectors are made by oracle/compare.py. The source says with which tool.
type oracleVectors struct {
	Source  struct{ Tool, Version, Command, Date string }
	Vectors []struct {
		Terms []struct {
			Mechanism string
			Scale     float64
			Shift     int64
			Rate      float64
			Count     int
		}
		Delta       float64
		Pessimistic float64 `json:"pld_pessimistic"`
		Optimistic  float64 `json:"pld_optimistic"`
	}
}

func loadOracle(t testing.TB) oracleVectors {
	t.Helper()
	data, err := os.ReadFile("../testdata/dp_accounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var v oracleVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if v.Source.Tool == "" || v.Source.Version == "" || len(v.Vectors) < 200 {
		t.Fatalf("%d vectors from %q %q: want at least 200, with their source", len(v.Vectors), v.Source.Tool, v.Source.Version)
	}
	return v
}

func TestEpsilonAgreesWithAnIndependentImplementation(t *testing.T) {
	v := loadOracle(t)
	t.Logf("%d vectors by %s %s", len(v.Vectors), v.Source.Tool, v.Source.Version)
	kinds := map[string]int{}
	for i, c := range v.Vectors {
		var terms []Term
		for _, m := range c.Terms {
			var p Pair
			var err error
			switch m.Mechanism {
			case "gaussian":
				p, err = Gaussian(m.Scale)
			case "laplace":
				p, err = Laplace(m.Scale)
			case "discrete_gaussian":
				p, err = DiscreteGaussian(m.Scale*m.Scale, m.Shift)
			default:
				err = fmt.Errorf("vector %d has unknown mechanism %q", i, m.Mechanism)
			}
			if err == nil {
				p, err = Poisson(p, m.Rate)
			}
			terms = append(terms, Term{must(t, p, err), m.Count})
			kinds[m.Mechanism]++
		}
		b := epsilon(t, terms, c.Delta, Options{Tolerance: 2e-3, MaxPoints: 1 << 15})
		if b.Upper < c.Optimistic || b.Upper > 1.005*c.Pessimistic {
			t.Errorf("vector %d, %+v at delta %g: epsilon %.9g outside [%.9g, 1.005·%.9g]", i, c.Terms, c.Delta, b.Upper, c.Optimistic, c.Pessimistic)
		}
		// Both brackets hold the same value.
		if b.Lower > c.Pessimistic*(1+1e-9) || math.IsNaN(b.Lower) {
			t.Errorf("vector %d, %+v at delta %g: epsilon is at least %.9g, but the oracle says at most %.9g", i, c.Terms, c.Delta, b.Lower, c.Pessimistic)
		}
	}
	for _, kind := range []string{"gaussian", "laplace", "discrete_gaussian"} {
		if kinds[kind] < 30 {
			t.Errorf("only %d terms of kind %s", kinds[kind], kind)
		}
	}
}
