package nn

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// numbers is the formula of testdata/make.py.
func numbers(count, seed int, scale float32) []float32 {
	x := make([]float32, count)
	for i := range x {
		x[i] = float32((i*i*3+i*7919+seed*104729)%2039-1019) / 1024 * scale
	}
	return x
}

// The vectors were made by PyTorch's autograd in float64; testdata/make.py makes them anew.
func TestClippedSumsEqualThoseOfAutomaticDifferentiation(t *testing.T) {
	text, err := os.ReadFile("testdata/autodiff.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Source   string
		Examples int
		Clip     float64
		Cases    []struct {
			Name         string
			Shape        []int
			Classes      int
			Layers       []Layer
			Loss         float64
			SquaredNorms []float64 `json:"squared_norms"`
			Clipped      []float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 || file.Source == "" {
		t.Fatal("no vectors")
	}
	for seed, c := range file.Cases {
		n, err := New(c.Shape, c.Layers, c.Classes)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		params, inputs := numbers(n.Size(), seed, 0.5), numbers(file.Examples*n.Inputs(), 50+seed, 1)
		labels := make([]uint8, file.Examples)
		for e := range labels {
			labels[e] = uint8((3*e + seed) % c.Classes)
		}
		for _, p := range n.parts { // make.py keeps scales around one
			for i := range count(p.Shape) {
				params[p.Offset+i] += p.fill
			}
		}
		pass, sum := NewPass(n, nil), make([]float32, n.Size())
		loss := pass.Clipped(sum, params, inputs, labels, func(_ int, square float64) float64 { return min(1, file.Clip/math.Sqrt(square)) })
		if math.Abs(loss-c.Loss) > 1e-6*c.Loss {
			t.Errorf("%s: loss %.9g, want %.9g", c.Name, loss, c.Loss)
		}
		for e, want := range c.SquaredNorms {
			if got := pass.SquaredNorms[e]; math.Abs(got-want) > 2e-6*want { // 1e-6 of the norm
				t.Errorf("%s: squared norm of example %d is %.9g, want %.9g", c.Name, e, got, want)
			}
		}
		if len(c.Clipped) != n.Size() {
			t.Fatalf("%s: vectors for %d weights, the network has %d", c.Name, len(c.Clipped), n.Size())
		}
		difference, norm := 0.0, 0.0
		for i, want := range c.Clipped {
			difference += (float64(sum[i]) - want) * (float64(sum[i]) - want)
			norm += want * want
		}
		if relative := math.Sqrt(difference / norm); relative > 1e-6 {
			t.Errorf("%s: the clipped sum is off by %g of its norm", c.Name, relative)
		} else {
			t.Logf("%s: off by %.2g of its norm", c.Name, relative)
		}
	}
}
