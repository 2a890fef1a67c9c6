package algorithm

import (
	"math"
	"testing"

	"hubbub/noise"
)

// Against a dumb version: full batches, the proximal term added to the gradient in float64.
func TestFedProxAddsThePullToEveryGradient(t *testing.T) {
	net, set := task(t, 40)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	p := FedProx{FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 0.5}, Batch: 40, Steps: 5}, 0.7}
	update := make([]float32, net.Size())
	if err := p.Update(w, update, model, 1, upTo(40), noise.Seeded(2).Stream()); err != nil {
		t.Fatal(err)
	}
	local, gradient := append([]float32(nil), model...), make([]float32, net.Size())
	for range 5 {
		if err := w.MeanGradient(gradient, local, upTo(40)); err != nil {
			t.Fatal(err)
		}
		for i := range local {
			local[i] -= float32(0.5 * (float64(gradient[i]) + 0.7*float64(local[i]-model[i])))
		}
	}
	for i := range update {
		if math.Abs(float64(update[i]-(local[i]-model[i]))) > 1e-6 {
			t.Fatalf("weight %d moved by %g, want %g", i, update[i], local[i]-model[i])
		}
	}
}

func TestTheLeashKeepsClientsNearTheModel(t *testing.T) {
	net, set := task(t, 60)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	distance := func(mu float64) float64 {
		p := FedProx{FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 0.2}, Batch: 10, Epochs: 10}, mu}
		update := make([]float32, net.Size())
		if err := p.Update(w, update, model, 1, upTo(60), noise.Seeded(2).Stream()); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range update {
			sum += float64(v) * float64(v)
		}
		return math.Sqrt(sum)
	}
	free, held, tight := distance(0), distance(0.3), distance(3)
	if !(tight < held && held < free) {
		t.Errorf("clients move by %g without a leash, %g with mu 0.3, %g with mu 3", free, held, tight)
	}
}

func TestLocalRatesFollowTheRound(t *testing.T) {
	net, set := task(t, 20)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	move := func(a FedAvg, round int) []float32 {
		update := make([]float32, net.Size())
		if err := a.Update(w, update, model, round, upTo(20), noise.Seeded(2).Stream()); err != nil {
			t.Fatal(err)
		}
		return update
	}
	falling := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 0.4, Schedule: Schedule{Kind: "step", Every: 1, Drop: 0.5}}, Batch: 20, Steps: 3}
	fixed := FedAvg{Local: OptimizerConfig{Kind: "sgd", Rate: 0.1}, Batch: 20, Steps: 3}
	third, want := move(falling, 3), move(fixed, 1)
	for i := range want {
		if third[i] != want[i] {
			t.Fatalf("weight %d moved by %g, with a quarter of the rate by %g", i, third[i], want[i])
		}
	}
}

func TestLocalTrainingAllocatesNothingPerClient(t *testing.T) {
	net, set := task(t, 60)
	w := NewWorker(net, set)
	model := net.Init(noise.Seeded(1).Stream())
	update, random := make([]float32, net.Size()), noise.Seeded(2).Stream()
	for _, a := range []FedProx{
		{FedAvg{Local: OptimizerConfig{Kind: "adam", Rate: 0.1}, Batch: 10, Epochs: 2}, 0.1},
		{FedAvg{Local: OptimizerConfig{Kind: "momentum", Rate: 0.1, WeightDecay: 0.1}, Batch: 7, Steps: 4}, 0.1},
	} {
		train := func() {
			if err := a.Update(w, update, model, 1, upToSixty, random); err != nil {
				t.Fatal(err)
			}
		}
		train()
		if n := testing.AllocsPerRun(10, train); n > 0 {
			t.Errorf("%s: %g allocations per client", a.Local.Kind, n)
		}
	}
}

var upToSixty = upTo(60)
