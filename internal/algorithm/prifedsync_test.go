package algorithm

import (
	"slices"
	"testing"

	"hubbub/mechanism"
	"hubbub/noise"
)

func TestHelpersMixTheOwnModelWithTheGlobalOne(t *testing.T) {
	own, global := []float32{1, -2, 4}, []float32{3, 2, 0}
	for _, c := range []struct {
		name   string
		alphas []float64
		want   map[int][]float32 // by client
	}{
		{"one part for all", []float64{0.25}, map[int][]float32{0: {1.5, -1, 3}, 7: {1.5, -1, 3}}},
		{"identity", []float64{1}, map[int][]float32{0: global, 3: global}},
		{"each client its own part, dealt in turn", []float64{0, 0.5, 1}, map[int][]float32{0: own, 1: {2, 0, 2}, 2: global, 3: own, 4: {2, 0, 2}}},
	} {
		a := PriFedSync{Alphas: c.alphas}
		for client, want := range c.want {
			helper := make([]float32, 3)
			if a.Helper(client, helper, own, global); !slices.Equal(helper, want) {
				t.Errorf("%s: client %d gets %v, want %v", c.name, client, helper, want)
			}
		}
	}
}

// Two rounds of a client that keeps its memory are one round of as many steps; of one that forgets they are not. All optimizers that
// remember anything are held to it, the noise being the same in both: the memory is a function of noised gradients.
func TestKeptMemoryGoesOnWhereItStopped(t *testing.T) {
	net, set := task(t, 60)
	first := net.Init(noise.Seeded(1).Stream())
	train := func(kind string, keep bool, rounds, steps int) []float32 {
		a := PriFedSync{FedAvg: FedAvg{Local: OptimizerConfig{Kind: kind, Rate: 0.1}, Batch: 10, Steps: steps}, Alphas: []float64{0.1}, Keep: keep}
		var err error
		if a.Noise, err = mechanism.NewGaussian(mechanism.Central, 1, 0.5); err != nil {
			t.Fatal(err)
		}
		w, own, random := NewWorker(net, set), slices.Clone(first), noise.Seeded(2).Stream()
		var memory State
		for round := range rounds {
			from, before := slices.Clone(own), memory.Clone()
			was := memory
			if err := a.Train(w, own, from, &memory, round+1, upTo(60), random); err != nil {
				t.Fatal(err)
			}
			for i, v := range was.Vectors { // what an abandoned round would go back to
				if was.Steps != before.Steps || !slices.Equal(v, before.Vectors[i]) {
					t.Fatalf("%s: training changed the memory that it began with", kind)
				}
			}
		}
		return own
	}
	for _, kind := range []string{"sgd", "momentum", "adam", "adagrad", "rmsprop", "yogi"} {
		whole := train(kind, true, 1, 6)
		if !slices.Equal(train(kind, true, 2, 3), whole) {
			t.Errorf("%s: two rounds with a memory differ from one twice as long", kind)
		}
		if forgetful := slices.Equal(train(kind, false, 2, 3), whole); forgetful != (kind == "sgd") {
			t.Errorf("%s: without a memory the same is %v", kind, forgetful)
		}
	}
}
