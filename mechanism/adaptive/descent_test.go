package adaptive

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// descend makes K steps, each with the gradient at the weights of that moment.
func descend(t *testing.T, o Optimizer, global []float32, steps int, gradient func(w []float32) []float32) Local {
	t.Helper()
	d, err := o.Start(global)
	if err != nil {
		t.Fatal(err)
	}
	for range steps {
		if err := d.Step(gradient(d.Weights())); err != nil {
			t.Fatal(err)
		}
	}
	return Local{Global: global, Trained: d.Weights(), Estimate: d.Estimate()}
}

// Table II written out for one weight and three gradients, with the paper's settings: the estimate for K = 3 uses w_2 and g_2.
func TestEstimatesFollowTableTwo(t *testing.T) {
	const w0, g1, g2, g3 = 0.5, 2.0, -1.0, 3.0
	for _, c := range []struct {
		rule              Rule
		trained, estimate func() float64
	}{
		{SGD,
			func() float64 { return w0 - .01*(g1+g2+g3) },
			func() float64 { return w0 - .01*(g1+g2) - .01*g2 },
		},
		{Momentum,
			func() float64 {
				v1 := .01 * g1
				v2 := .9*v1 + .01*g2
				return w0 - v1 - v2 - (.9*v2 + .01*g3)
			},
			func() float64 {
				v1 := .01 * g1
				v2 := .9*v1 + .01*g2
				return w0 - v1 - v2 - (.9*v2 + .01*g2)
			},
		},
		{Adam,
			func() float64 { return w0 - adamSteps(g1, g2, g3) },
			func() float64 { return w0 - adamSteps(g1, g2, g2) },
		},
		{RMSProp,
			func() float64 { return w0 - rmsPropSteps(g1, g2, g3) },
			func() float64 { return w0 - rmsPropSteps(g1, g2, g2) },
		},
	} {
		t.Run(string(c.rule), func(t *testing.T) {
			gradients := []float32{g1, g2, g3}
			l := descend(t, Optimizer{Rule: c.rule}, []float32{w0}, 3, func([]float32) []float32 {
				g := gradients[:1]
				gradients = gradients[1:]
				return g
			})
			if got, want := float64(l.Trained[0]), c.trained(); math.Abs(got-want) > 1e-7 {
				t.Errorf("trained to %.9g, want %.9g", got, want)
			}
			if got, want := float64(l.Estimate[0]), c.estimate(); math.Abs(got-want) > 1e-7 {
				t.Errorf("estimated %.9g, want %.9g", got, want)
			}
		})
	}
}

// adamSteps sums the steps of Adam with each mean written as the sum that it is.
func adamSteps(gradients ...float64) float64 {
	sum := 0.0
	for k := 1; k <= len(gradients); k++ {
		m, v, mWeights, vWeights := 0.0, 0.0, 0.0, 0.0
		for i, g := range gradients[:k] {
			a, b := math.Pow(.9, float64(k-1-i)), math.Pow(.999, float64(k-1-i))
			m, mWeights = m+a*g, mWeights+a
			v, vWeights = v+b*g*g, vWeights+b
		}
		sum += .001 * (m / mWeights) / (1e-7 + math.Sqrt(v/vWeights)) // the correction makes the weights add up to 1
	}
	return sum
}

func rmsPropSteps(gradients ...float64) float64 {
	sum := 0.0
	for k := 1; k <= len(gradients); k++ {
		v := 0.0
		for i, g := range gradients[:k] {
			v += .1 * math.Pow(.9, float64(k-1-i)) * g * g
		}
		sum += .001 * gradients[k-1] / math.Sqrt(v+1e-7)
	}
	return sum
}

func TestOneStepEstimatesTheGlobalModel(t *testing.T) {
	for _, rule := range []Rule{SGD, Momentum, Adam, RMSProp} {
		l := descend(t, Optimizer{Rule: rule}, []float32{.25, -3}, 1, func([]float32) []float32 { return []float32{7, 9} })
		if l.Estimate[0] != .25 || l.Estimate[1] != -3 || l.Trained[0] == .25 {
			t.Errorf("%s: estimate %v, trained %v", rule, l.Estimate, l.Trained)
		}
	}
}

func TestImpossibleOptimizersAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, o := range []Optimizer{
		{}, {Rule: "adagrad"}, {Rule: SGD, Rate: -1}, {Rule: SGD, Rate: nan}, {Rule: SGD, Rate: inf}, {Rule: Momentum, Decay: 1},
		{Rule: Momentum, Decay: nan}, {Rule: Adam, SquareDecay: 2}, {Rule: Adam, Damping: -1}, {Rule: RMSProp, Damping: inf},
	} {
		if _, err := o.Start([]float32{1}); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	if _, err := (Optimizer{Rule: SGD}).Start(nil); err == nil {
		t.Error("an empty model was accepted")
	}
	d, err := Optimizer{Rule: SGD}.Start([]float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Step([]float32{1}); err == nil {
		t.Error("a short gradient was accepted")
	}
	if err := d.Step([]float32{1, float32(nan)}); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	if w := d.Weights(); w[0] != 1 || w[1] != 2 {
		t.Errorf("refused gradients moved the weights to %v", w)
	}
}

func gaussians(r *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * scale)
	}
	return x
}
