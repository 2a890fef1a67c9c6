package adaptive

import (
	"fmt"
	"math"
	"slices"
)

// Rule names an optimizer of the paper's Table II.
type Rule string

// The four optimizers.
const (
	SGD      Rule = "sgd"
	Momentum Rule = "momentum"
	Adam     Rule = "adam"
	RMSProp  Rule = "rmsprop"
)

// Optimizer is a rule with its settings. Zero fields take the paper's values (section VI.A).
type Optimizer struct {
	Rule        Rule
	Rate        float64 // learning rate η; 0.01, and 0.001 for adam and rmsprop
	Decay       float64 // γ, for adam γ1; 0.9
	SquareDecay float64 // adam's γ2; 0.999
	Damping     float64 // added under or to the root, no privacy parameter; 1e-7, which the paper writes as 10e-8
}

// Descent is a client's local training, Algorithm 3 lines 5 to 17: w_k = w_{k-1} - G(g_k), for k = 1 to K.
//
// The printed loop starts at k = 0, where g_0 and w_{-1} do not exist; w_0 is the global model, so it starts at 1 here.
type Descent struct {
	optimizer    Optimizer
	weights      []float64 // w_k
	estimate     []float64 // ŵ = w_{k-1} - G(g_{k-1}), made before g_k was seen
	last         []float64 // g_k
	mean, square []float64 // the optimizer's memory: momentum or mean gradient, mean squared gradient
	steps        int       // k
}

// Start begins at the global model.
func (o Optimizer) Start(global []float32) (*Descent, error) {
	rate := 0.01
	switch o.Rule {
	case SGD, Momentum:
	case Adam, RMSProp:
		rate = 0.001
	default:
		return nil, fmt.Errorf("adaptive: optimizer %q is none of sgd, momentum, adam, rmsprop", o.Rule)
	}
	o.Rate = orDefault(o.Rate, rate)
	o.Decay = orDefault(o.Decay, 0.9)
	o.SquareDecay = orDefault(o.SquareDecay, 0.999)
	o.Damping = orDefault(o.Damping, 1e-7)
	if !(o.Rate > 0) || math.IsInf(o.Rate, 1) {
		return nil, fmt.Errorf("adaptive: learning rate %g must be finite and greater than 0", o.Rate)
	}
	if !(o.Decay > 0 && o.Decay < 1 && o.SquareDecay > 0 && o.SquareDecay < 1) {
		return nil, fmt.Errorf("adaptive: decay %g or square decay %g outside (0, 1)", o.Decay, o.SquareDecay)
	}
	if !(o.Damping > 0) || math.IsInf(o.Damping, 1) {
		return nil, fmt.Errorf("adaptive: damping %g must be finite and greater than 0", o.Damping)
	}
	if err := (Tensors{0, max(1, len(global))}).checkModel("global model", global); err != nil {
		return nil, err
	}
	d := &Descent{optimizer: o, weights: make([]float64, len(global))}
	for i, w := range global {
		d.weights[i] = float64(w)
	}
	d.estimate = slices.Clone(d.weights)
	d.last = make([]float64, len(global))
	d.mean = make([]float64, len(global))
	d.square = make([]float64, len(global))
	return d, nil
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// Step makes one local update with the gradient at [Descent.Weights].
func (d *Descent) Step(gradient []float32) error {
	if err := (Tensors{0, len(d.weights)}).checkModel("gradient", gradient); err != nil {
		return err
	}
	// Table II, all four rows: ŵ is where this step would lead if the gradient of the step before came again. (The row for
	// Adam has its damping under the root, the text beside the root; the optimizer and its estimate share one form here.)
	copy(d.estimate, d.weights)
	d.steps++
	for m, g := range d.last {
		step, _, _ := d.optimizer.step(g, d.mean[m], d.square[m], d.steps)
		d.estimate[m] -= step
	}
	for m, g := range gradient {
		var step float64
		step, d.mean[m], d.square[m] = d.optimizer.step(float64(g), d.mean[m], d.square[m], d.steps)
		d.weights[m] -= step
		d.last[m] = float64(g)
	}
	return nil
}

// step is the paper's G for one component: how far the k-th gradient moves the weight, and the memory after it.
func (o Optimizer) step(g, mean, square float64, k int) (step, newMean, newSquare float64) {
	switch o.Rule {
	case Momentum:
		mean = o.Decay*mean + o.Rate*g
		return mean, mean, square
	case Adam:
		mean = o.Decay*mean + (1-o.Decay)*g
		square = o.SquareDecay*square + (1-o.SquareDecay)*g*g
		m := mean / (1 - math.Pow(o.Decay, float64(k)))
		v := square / (1 - math.Pow(o.SquareDecay, float64(k)))
		return o.Rate * m / (o.Damping + math.Sqrt(v)), mean, square
	case RMSProp:
		square = o.Decay*square + (1-o.Decay)*g*g
		return o.Rate * g / math.Sqrt(square+o.Damping), mean, square
	default: // SGD
		return o.Rate * g, mean, square
	}
}

// Weights are w_k, after as many steps as were made.
func (d *Descent) Weights() []float32 { return rounded(d.weights) }

// Estimate is the ŵ of Table II, from which [Printed] takes its intervals: w_{K-1} - G(g_{K-1}), where K steps were made.
// With K = 1 there is no earlier gradient, and it is the global model.
func (d *Descent) Estimate() []float32 { return rounded(d.estimate) }

func rounded(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
