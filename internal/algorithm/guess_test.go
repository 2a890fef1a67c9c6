package algorithm

import (
	"math"
	"testing"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// A dumb version of each rule: the sum and the sizes from single gradients. All records are in the batch, so that only the noise is random. Its
// mean and variance in every tensor, over 400 steps: limits of 6 standard errors, false alarm 2e-9 each.
func TestGuessedStepsAreTheSumAndNoiseOfTheGuessedSize(t *testing.T) {
	const records, trials, clip, multiplier = 40, 400, 0.5, 0.7
	net, set := task(t, records)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	rows := make([]float32, records*net.Size())
	if err := w.PerExample(rows, model, upTo(records)); err != nil {
		t.Fatal(err)
	}
	tensors := net.Tensors()
	end := func(i int) int {
		if i+1 < len(tensors) {
			return tensors[i+1].Offset
		}
		return net.Size()
	}
	meanNorm, meanSquare := 0.0, 0.0
	for r := range records {
		square := kernel.SumSquares(rows[r*net.Size() : (r+1)*net.Size()])
		meanNorm, meanSquare = meanNorm+math.Sqrt(square)/records, meanSquare+square/records
	}
	for _, c := range []struct {
		name  string
		rule  GuessRule
		steps int // the last of which is looked at; the model stays where it is
		clip  func(norm float64) float64
		size  func(tensor int) float64
	}{
		{"the first step of a round takes the clip", History, 1, func(n float64) float64 { return min(1, clip/n) }, func(int) float64 { return clip }},
		{"later ones take the mean norm of the step before", History, 2, func(n float64) float64 { return min(1, meanNorm/n) }, func(int) float64 { return meanNorm }},
		{"three standard deviations clip nothing", Spread, 1, func(float64) float64 { return 1 },
			func(int) float64 { return meanNorm + 3*math.Sqrt(meanSquare-meanNorm*meanNorm) }},
		{"every tensor has its largest norm", Layers, 1, func(n float64) float64 { return min(1, clip/n) }, func(tensor int) float64 {
			largest := 0.0
			for r := range records {
				g := rows[r*net.Size() : (r+1)*net.Size()]
				part := math.Sqrt(kernel.SumSquares(g[tensors[tensor].Offset:end(tensor)]))
				largest = max(largest, part*min(1, clip/math.Sqrt(kernel.SumSquares(g))))
			}
			return largest
		}},
	} {
		want := make([]float64, net.Size())
		for r := range records {
			g := rows[r*net.Size() : (r+1)*net.Size()]
			factor := c.clip(math.Sqrt(kernel.SumSquares(g)))
			for i, v := range g {
				want[i] += factor * float64(v) / records
			}
		}
		a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1}, Batch: records, Steps: 1, Guess: &Guess{c.rule, clip, multiplier}}
		sums, squares := make([]float64, len(tensors)), make([]float64, len(tensors))
		random := noise.Seeded(7).Stream()
		for range trials {
			if err := w.training.begin(a, model, upTo(records)); err != nil {
				t.Fatal(err)
			}
			for range c.steps {
				if err := a.batch(w, upTo(records), random); err != nil {
					t.Fatal(err)
				}
			}
			for i, tensor := range tensors {
				for m := tensor.Offset; m < end(i); m++ {
					z := (float64(w.training.gradient[m]) - want[m]) * records / (multiplier * c.size(i))
					sums[i], squares[i] = sums[i]+z, squares[i]+z*z
				}
			}
		}
		for i, tensor := range tensors {
			n := float64(trials * (end(i) - tensor.Offset))
			if z := sums[i] / math.Sqrt(n); math.Abs(z) > 6 {
				t.Errorf("%s: tensor %s has a bias of %.1f standard errors", c.name, tensor.Name, z)
			}
			// 2^-9: the clip keeps 2^-10 back for rounding.
			if off := math.Abs(squares[i]/n - 1); off > 6*math.Sqrt(2/n)+0x1p-9 {
				t.Errorf("%s: the variance in tensor %s is off by %.2g", c.name, tensor.Name, off)
			}
		}
	}
}

func TestImpossibleGuessesAreRefused(t *testing.T) {
	for _, g := range []Guess{{}, {"median", 1, 1}, {History, 0, 1}, {History, 1, 0}, {Layers, math.NaN(), 1}} {
		a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1}, Batch: 1, Steps: 1, Guess: &g}
		if err := a.Check(); err == nil {
			t.Errorf("%+v was accepted", g)
		}
	}
}
