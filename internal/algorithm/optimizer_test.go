package algorithm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// source: the formulas of the papers in decimal arithmetic of 40 digits (Python's decimal): w = 1, gradients 0.5, -0.25, 1, 0.125,
// rate 0.1, beta 0.8, beta2 0.95, tau 0.001; the memory of yogi and adagrad starts at tau². PyTorch 1.13 in float64 gives the same ten
// digits for SGD, momentum, AdamW with either decay, Adagrad with initial_accumulator_value tau², and RMSprop; it has no Yogi.
var fourSteps = []struct {
	kind              string
	weightDecay, want float64
}{
	{"sgd", 0, 0.8625}, {"sgd", 0.5, 0.6867},
	{"momentum", 0, 0.7209}, {"momentum", 0.5, 0.5496},
	{"adam", 0, 0.7509115408}, {"adam", 0.5, 0.5851324196},
	{"yogi", 0, 0.7205689783}, {"yogi", 0.5, 0.5543947602},
	{"adagrad", 0, 0.8467931170}, {"adagrad", 0.5, 0.6755413810},
	{"rmsprop", 0, 0.6550379025}, {"rmsprop", 0.5, 0.5008455128},
}

func TestOptimizersFollowTheirFormulas(t *testing.T) {
	for _, c := range fourSteps {
		config := OptimizerConfig{Kind: c.kind, Rate: 0.1, Beta: 0.8, Beta2: 0.95, Tau: 1e-3, WeightDecay: c.weightDecay}
		o, err := NewOptimizer(config, 2)
		if err != nil {
			t.Fatal(err)
		}
		o.Step([]float32{3, 4}, []float32{5, 6}, 0.1)
		o.Reset() // as if nothing had been
		w := []float32{1, 1}
		for i, g := range []float32{0.5, -0.25, 1, 0.125} {
			if i == 2 { // taken up again from what was kept
				kept := o.State().Clone()
				o, _ = NewOptimizer(config, 2)
				if err := o.Restore(kept); err != nil {
					t.Fatal(err)
				}
			}
			o.Step(w, []float32{g, g}, 0.1)
		}
		if math.Abs(float64(w[1])-c.want) > 1e-6 || w[0] != w[1] {
			t.Errorf("%s with weight decay %g: %v, want %v", c.kind, c.weightDecay, w, c.want)
		}
	}
}

func TestEveryWeightIsSteppedAsIfAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	const size = 5003 // several runs of the loops, and a rest
	for _, c := range fourSteps {
		config := OptimizerConfig{Kind: c.kind, Rate: 0.1, WeightDecay: c.weightDecay}
		together, _ := NewOptimizer(config, size)
		params, gradients := make([]float32, size), make([][]float32, 3)
		for step := range gradients {
			for range size {
				gradients[step] = append(gradients[step], float32(r.NormFloat64()))
			}
			together.Step(params, gradients[step], 0.1)
		}
		for _, i := range []int{0, 17, 2047, 2048, 4999, 5002} {
			alone, _ := NewOptimizer(config, 1)
			w := []float32{0}
			for _, g := range gradients {
				alone.Step(w, g[i:i+1], 0.1)
			}
			if w[0] != params[i] || w[0] == 0 {
				t.Errorf("%s: weight %d of many is %g, alone %g", c.kind, i, params[i], w[0])
			}
		}
	}
}

func TestBadOptimizersAreRefused(t *testing.T) {
	for _, c := range []OptimizerConfig{
		{Kind: "sgd"}, {Kind: "sgd", Rate: -1}, {Kind: "sgd", Rate: math.NaN()}, {Kind: "lion", Rate: 1}, {Kind: "adam", Rate: 1, Beta: 1}, {Kind: "adam", Rate: 1, Beta2: -1},
		{Kind: "yogi", Rate: 1, Tau: -1}, {Kind: "adam", Rate: 1, Tau: 1e-40}, {Kind: "sgd", Rate: 0.5, WeightDecay: 2}, {Kind: "sgd", Rate: 0.5, WeightDecay: -1}, {Kind: "sgd", Rate: 0.5, WeightDecay: math.NaN()},
		{Kind: "sgd", Rate: 1, Schedule: Schedule{Kind: "exponential"}},
	} {
		if _, err := NewOptimizer(c, 1); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	o, _ := NewOptimizer(OptimizerConfig{Kind: "adam", Rate: 1}, 3)
	if o.Restore(State{}) == nil || o.Restore(State{Vectors: [][]float32{{1}, {1}}}) == nil {
		t.Error("a state of another shape was taken")
	}
}
