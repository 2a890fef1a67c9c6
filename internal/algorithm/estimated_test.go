package algorithm

import (
	"errors"
	"math"
	"slices"
	"testing"

	"hubbub/noise"
)

// The paper's optimizers are the usual ones, up to what keeps their roots from zero and to float32.
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
			if got := local.Trained[i] - model[i]; math.Abs(float64(got-update[i])) > 1e-4 {
				t.Fatalf("%s: weight %d moved by %g, by plain training %g", kind, i, got, update[i])
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
