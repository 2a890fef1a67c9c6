package sums

import (
	"fmt"
	"math"
	"testing"
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
