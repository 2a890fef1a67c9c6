package algorithm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"hubbub/noise"
)

// With an estimate beside it, training is what it was without.
func TestEstimatedTrainingIsPlainTraining(t *testing.T) {
	net, set := task(t, 60)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	for _, kind := range []string{"sgd", "momentum", "adam", "rmsprop"} {
		a := FedAvg{Local: OptimizerConfig{Kind: kind, Rate: 0.05, Beta: 0.8, Tau: 1e-14}, Batch: 16, Steps: 7}
		update := make([]float32, net.Size())
		if err := a.Update(w, update, model, 1, upTo(60), noise.Seeded(2).Stream()); err != nil {
			t.Fatal(err)
		}
		local, err := a.Estimated(w, model, 1, upTo(60), noise.Seeded(2).Stream())
		if err != nil {
			t.Fatal(err)
		}
		for i := range update {
			if got := local.Trained[i] - model[i]; got != update[i] {
				t.Fatalf("%s: weight %d moved by %g, by plain training %g", kind, i, got, update[i])
			}
		}
	}
}

// Table II written out for three gradients and the paper's settings: the estimate for K = 3 is w_2 less the step that g_2 would make once more.
// The gradients are those of training by the same optimizer for one, two and three steps, each with all records.
func TestEstimatesFollowTableTwo(t *testing.T) {
	net, set := task(t, 30)
	w := NewWorker(net, set)
	w0 := net.Init(noise.Seeded(1).Stream())
	const decay, square, damping = .9, .999, 1e-3
	for kind, estimate := range map[string]func(g1, g2, w2 float64) float64{
		"sgd": func(_, g2, w2 float64) float64 { return w2 - .01*g2 },
		"momentum": func(g1, g2, w2 float64) float64 {
			v2 := decay*.01*g1 + .01*g2
			return w2 - (decay*v2 + .01*g2)
		},
		"adam": func(g1, g2, w2 float64) float64 {
			m := decay*decay*(1-decay)*g1 + decay*(1-decay)*g2 + (1-decay)*g2
			v := square*square*(1-square)*g1*g1 + square*(1-square)*g2*g2 + (1-square)*g2*g2
			return w2 - .01*m/(1-math.Pow(decay, 3))/(math.Sqrt(v/(1-math.Pow(square, 3)))+damping)
		},
		"rmsprop": func(g1, g2, w2 float64) float64 {
			v := decay*decay*(1-decay)*g1*g1 + decay*(1-decay)*g2*g2 + (1-decay)*g2*g2
			return w2 - .01*g2/(math.Sqrt(v)+damping)
		},
	} {
		after := func(steps int) (trained, estimated []float32) {
			a := FedAvg{Local: OptimizerConfig{Kind: kind, Rate: .01, Tau: damping}, Batch: 30, Steps: steps}
			l, err := a.Estimated(w, w0, 1, upTo(30), noise.Seeded(2).Stream())
			if err != nil {
				t.Fatal(err)
			}
			return l.Trained, l.Estimate
		}
		w1, first := after(1)
		if !slices.Equal(first, w0) {
			t.Errorf("%s: one step estimates something else than the global model", kind)
		}
		w2, _ := after(2)
		_, got := after(3)
		g1, g2 := make([]float32, net.Size()), make([]float32, net.Size())
		if err := errors.Join(w.MeanGradient(g1, w0, upTo(30)), w.MeanGradient(g2, w1, upTo(30))); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if want := estimate(float64(g1[i]), float64(g2[i]), float64(w2[i])); math.Abs(float64(got[i])-want) > 2e-6 {
				t.Fatalf("%s: estimate %.9g of weight %d, want %.9g", kind, got[i], i, want)
			}
		}
	}
}

func TestTheEstimateRepeatsTheStepBefore(t *testing.T) {
	net, set := task(t, 40)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	gradient := make([]float32, net.Size())
	if err := w.MeanGradient(gradient, model, upTo(40)); err != nil {
		t.Fatal(err)
	}
	for steps, repeated := range []float32{1: 0, 2: 2} {
		if steps == 0 {
			continue
		}
		a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 0.5}, Batch: 40, Steps: steps}
		local, err := a.Estimated(w, model, 1, upTo(40), noise.Seeded(2).Stream())
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range gradient {
			if want := model[i] - repeated*0.5*g; math.Abs(float64(local.Estimate[i]-want)) > 1e-6 {
				t.Fatalf("%d steps: estimate %g of weight %d, want %g", steps, local.Estimate[i], i, want)
			}
		}
	}
	a := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 1e38}, Batch: 10, Steps: 5}
	if _, err := a.Estimated(w, model, 1, upTo(40), noise.Seeded(2).Stream()); !errors.Is(err, ErrDiverged) {
		t.Errorf("a rate of 1e38: %v", err)
	}
}

func TestPerExampleGradientsAreThoseOfSingleRecords(t *testing.T) {
	net, set := task(t, 20)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	records := []int{3, 0, 17, 3}
	rows := make([]float32, len(records)*net.Size())
	for i := range rows {
		rows[i] = 5 // what was there does not count
	}
	if err := w.PerExample(rows, model, records); err != nil {
		t.Fatal(err)
	}
	one := make([]float32, net.Size())
	for i, r := range records {
		if err := w.MeanGradient(one, model, []int{r}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(one, rows[i*net.Size():(i+1)*net.Size()]) {
			t.Errorf("row %d is not the gradient of record %d", i, r)
		}
	}
	if err := w.PerExample(rows[1:], model, records); err == nil {
		t.Error("too little room was accepted")
	}
	model[0] = float32(math.NaN())
	if err := w.PerExample(rows, model, records); !errors.Is(err, ErrDiverged) {
		t.Errorf("a broken model: %v", err)
	}
}
