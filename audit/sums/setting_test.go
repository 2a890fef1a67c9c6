package sums

import (
	"fmt"
	"math"
	"testing"

	"hubbub/accountant/pld"
)

// Figure 1 of paper 001: values of an independent computation by convolution, delta at epsilon 1 and 4, with those of the Gaussian.
func TestFigureOne(t *testing.T) {
	for _, c := range []struct {
		updates      Updates
		clients, dim int
		epsilon      float64
		delta, gauss float64
	}{
		{Gamma, 10, 1, 1, .3326235525, math.NaN()},
		{Gamma, 10, 1, .5, .4046698852, math.NaN()},
		{Gamma, 10, 1, 2, .2262903859, math.NaN()},
		{Gamma, 100, 1, 1, .00432559154, math.NaN()},
		{Gamma, 10, 10, 1, .9602976, .9267113},
		{Gamma, 10, 10, 4, .9004338, .7676428},
		{Gamma, 100, 10, 1, .240102, .226885},
		{Gamma, 100, 10, 4, .00392876, .00167115},
		{Gamma, 100, 100, 1, .930683, .926711},
		{Gamma, 100, 100, 4, .783562, .767643},
		{Gamma, 1000, 1000, 1, .927113, .926711},
		{Gamma, 1000, 1000, 4, .769254, .767643},
		{Uniform, 10, 1, 1, .1613275, .161611},
		{Uniform, 10, 1, 4, .00208964, .000224176},
		{Uniform, 10, 10, 1, .8672559, .8666808},
		{Uniform, 10, 10, 4, .6161311, .6118892},
		{Uniform, 100, 10, 1, .161612, .161611},
		{Uniform, 100, 10, 4, .000231041, .000224176},
		{Uniform, 100, 100, 1, .866687, .866681},
		{Uniform, 100, 100, 4, .611927, .611889},
	} {
		t.Run(fmt.Sprintf("%s, %d clients, %d entries, epsilon %g", c.updates, c.clients, c.dim, c.epsilon), func(t *testing.T) {
			s, err := New(c.updates, c.clients, c.dim)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Delta(c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("[%.9g, %.9g], width %.1e", b.Lower, b.Upper, b.Upper-b.Lower)
			if b.Lower > b.Upper || b.Upper-b.Lower > 5e-5 {
				t.Errorf("bracket [%g, %g]", b.Lower, b.Upper)
			}
			if math.Abs(b.Upper-c.delta) > 1e-4*min(1, max(c.delta*10, 1e-3)) {
				t.Errorf("delta %.9g, want %.9g", b.Upper, c.delta)
			}
			if g := s.GaussianDelta(c.epsilon); !math.IsNaN(c.gauss) && math.Abs(g/c.gauss-1) > 1e-5 {
				t.Errorf("Gaussian delta %.9g, want %.9g", g, c.gauss)
			}
		})
	}
}

// Gamma noise is not symmetric, and it is not proved that entries which all point one way are the worst pattern. At these points they are.
func TestNoMixedPatternIsWorse(t *testing.T) {
	for _, c := range []struct {
		clients, dim int
		epsilon      float64
	}{{10, 2, 1}, {10, 10, 4}, {100, 10, 1}, {100, 100, 4}} {
		s, err := New(Gamma, c.clients, c.dim)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Delta(c.epsilon)
		if err != nil {
			t.Fatal(err)
		}
		for _, turned := range []int{1, c.dim / 2, c.dim - 1} {
			b, err := s.Mixed(turned, c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			if b.Lower > all.Upper || b.Upper <= 0 {
				t.Errorf("%+v, %d turned: delta %v, all one way %v", c, turned, b, all)
			}
			// Turning the others instead gives the same pair the other way round, and the worse direction is taken of either.
			mirror, err := s.Mixed(c.dim-turned, c.epsilon)
			if err != nil || mirror.Lower > b.Upper || b.Lower > mirror.Upper {
				t.Errorf("%+v: %d turned %v, %d turned %v (%v)", c, turned, b, c.dim-turned, mirror, err)
			}
		}
		if _, err := s.Mixed(c.dim+1, 1); err == nil {
			t.Error("more entries turned than there are")
		}
	}
}

// All entries turned are the same two updates with their roles exchanged, of which the worse direction is taken anyway.
func TestTurnedPairsHaveTheOtherDirectionsLoss(t *testing.T) {
	straight, err := gammaPair(10, false)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := gammaPair(10, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{0, 1, 3} {
		a, err := pld.Delta([]pld.Term{{Pair: straight, Count: 3}}, epsilon, pld.Options{Tolerance: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		b, err := pld.Delta([]pld.Term{{Pair: turned, Count: 3}}, epsilon, pld.Options{Tolerance: 1e-5})
		if err != nil || a.Lower > b.Upper || b.Lower > a.Upper {
			t.Errorf("epsilon %g: straight %v, turned %v (%v): the worse direction is the same", epsilon, a, b, err)
		}
	}
}
