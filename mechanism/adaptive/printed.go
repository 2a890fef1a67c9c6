package adaptive

import (
	"fmt"
	"math"

	"hubbub/accountant"
	"hubbub/noise"
)

// Reading says what stands for √M in σ_m = √M·σ0·2q_m. The paper means all weights; with that its noise drowns the model, and the
// other readings are there to find out which one gives the accuracies it reports. [OneOfBatch] does, and only it makes the noise grow
// when a batch shrinks, as section VI.C says: it treats q as the range of a mean over the batch, of which one record moves a |b|-th.
type Reading string

// The readings.
const (
	EveryWeight Reading = "weights" // M is the number of weights: what Algorithm 3 says
	EveryTensor Reading = "tensors" // M is the number of tensors
	NoRoot      Reading = "one"     // M is 1
	OneOfBatch  Reading = "batch"   // M is 1, and the noise is divided by the number of records in a batch
)

// PrintedConfig describes the mechanism as printed. Zero fields take the stated default.
type PrintedConfig struct {
	Tensors    Tensors // required
	Truncation float64 // β: the interval is β times as wide as the estimated weight; 1.1
	NoiseLevel float64 // σ0; required
	Reading    Reading // default EveryWeight
}

// Printed is the adaptive noise mechanism of Algorithm 3, lines 18 to 24. It is not private: see [Printed.Event].
type Printed struct {
	tensors    Tensors
	truncation float64
	noiseLevel float64
	root       float64 // √M
	ofBatch    bool    // the noise is divided by the records in a batch
}

// NewPrinted checks its settings; past here nothing re-checks.
func NewPrinted(c PrintedConfig) (*Printed, error) {
	if err := c.Tensors.check(); err != nil {
		return nil, err
	}
	c.Truncation = orDefault(c.Truncation, 1.1)
	if err := checkScales(c.Truncation, c.NoiseLevel); err != nil {
		return nil, err
	}
	p := &Printed{tensors: c.Tensors, truncation: c.Truncation, noiseLevel: c.NoiseLevel}
	switch c.Reading {
	case "", EveryWeight:
		p.root = math.Sqrt(float64(c.Tensors.weights()))
	case EveryTensor:
		p.root = math.Sqrt(float64(c.Tensors.number()))
	case NoRoot:
		p.root = 1
	case OneOfBatch:
		p.root, p.ofBatch = 1, true
	default:
		return nil, fmt.Errorf("adaptive: reading %q is none of %s, %s, %s, %s", c.Reading, EveryWeight, EveryTensor, NoRoot, OneOfBatch)
	}
	return p, nil
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// minScale and maxScale bound factors, so that no product of them overflows or vanishes.
const (
	minScale = 1e-9
	maxScale = 1e9
)

func checkScales(truncation, noiseLevel float64) error {
	if !(truncation >= minScale && truncation <= maxScale) {
		return fmt.Errorf("adaptive: truncation factor %g outside [%g, %g]", truncation, minScale, maxScale)
	}
	if !(noiseLevel >= minScale && noiseLevel <= maxScale) {
		return fmt.Errorf("adaptive: noise level %g outside [%g, %g]", noiseLevel, minScale, maxScale)
	}
	return nil
}

// Event says that there is no guarantee, why, and what the paper claims.
func (p *Printed) Event() accountant.Event {
	return accountant.Unsound{
		Why: "adaptive: interval and noise of each weight come from the client's own gradients, so the noise itself " +
			"tells of the data",
		Claimed: fmt.Sprintf("each contribution a Gaussian mechanism of noise multiplier %g for one record (paper 003, Theorem 1)", p.noiseLevel),
	}
}

// Local is what one client holds after its local training.
type Local struct {
	Global   []float32 // w_0, the model it started from
	Trained  []float32 // w_K
	Estimate []float32 // ŵ of Table II: where the last step would have led if the gradient of the one before had come again
	Batch    int       // records in a batch; only the reading OneOfBatch asks
}

// Truncate cuts each trained weight to its interval: w_0 - q to w_0 + q with q = β/2·|ŵ| (lines 19 and 20).
func (p *Printed) Truncate(truncated []float32, l Local) error {
	if err := p.check(truncated, l); err != nil {
		return err
	}
	for m := range truncated {
		truncated[m] = float32(p.truncate(l, m))
	}
	return nil
}

// Contribute writes what the client sends: each truncated weight with noise of standard deviation √M·σ0·2q (lines 21 to 24).
func (p *Printed) Contribute(contribution []float32, l Local, random *noise.Stream) error {
	if err := p.check(contribution, l); err != nil {
		return err
	}
	scale := p.root * p.noiseLevel * 2
	if p.ofBatch {
		if l.Batch < 1 {
			return fmt.Errorf("adaptive: batches of %d records: must be at least 1", l.Batch)
		}
		scale /= float64(l.Batch)
	}
	z := make([]float64, len(contribution))
	random.Gaussian(z)
	for m := range contribution {
		contribution[m] = float32(p.truncate(l, m) + scale*p.interval(l, m)*z[m])
	}
	if err := p.tensors.checkModel("contribution", contribution); err != nil {
		return fmt.Errorf("%w: the noise grew past float32, lower the noise level or the truncation factor", err)
	}
	return nil
}

// interval is q_m.
func (p *Printed) interval(l Local, m int) float64 {
	return p.truncation / 2 * math.Abs(float64(l.Estimate[m]))
}

func (p *Printed) truncate(l Local, m int) float64 {
	w, q := float64(l.Global[m]), p.interval(l, m)
	return min(max(float64(l.Trained[m]), w-q), w+q)
}

func (p *Printed) check(out []float32, l Local) error {
	if len(out) != p.tensors.weights() {
		return fmt.Errorf("adaptive: room for %d weights, the tensors have %d", len(out), p.tensors.weights())
	}
	if err := p.tensors.checkModel("global model", l.Global); err != nil {
		return err
	}
	if err := p.tensors.checkModel("trained model", l.Trained); err != nil {
		return err
	}
	return p.tensors.checkModel("estimate", l.Estimate)
}
