package adaptive

import (
	"fmt"
	"math"

	"hubbub/accountant"
)

// Source says which released values the intervals of [Released] follow.
type Source string

// The sources.
const (
	FromWeights Source = "weights" // the size of a tensor's weights in the newest model
	FromChange  Source = "change"  // the size of a tensor's change from the model before; the noise of a round feeds the next
)

// ReleasedConfig describes the sound mechanism. Zero fields take the stated default.
type ReleasedConfig struct {
	Tensors    Tensors // required
	Truncation float64 // β: the interval is β times the root mean square of the tensor; 1.1
	NoiseLevel float64 // σ0; required
	Source     Source  // default FromWeights
	Smallest   float64 // no tensor's half interval q is below this; 0
	Largest    float64 // nor above this; required: uncapped intervals grow about a thousandfold a round on their own noise
}

// Released is the adaptive noise mechanism with intervals that come from released models only.
//
// All weights of a tensor share one interval, so that the noise in a single released weight does not choose the next one.
type Released struct{ config ReleasedConfig }

// NewReleased checks its settings; past here nothing re-checks.
func NewReleased(c ReleasedConfig) (*Released, error) {
	if err := c.Tensors.check(); err != nil {
		return nil, err
	}
	c.Truncation = orDefault(c.Truncation, 1.1)
	if err := checkScales(c.Truncation, c.NoiseLevel); err != nil {
		return nil, err
	}
	switch c.Source {
	case "":
		c.Source = FromWeights
	case FromWeights, FromChange:
	default:
		return nil, fmt.Errorf("adaptive: source %q is neither %s nor %s", c.Source, FromWeights, FromChange)
	}
	if !(c.Largest >= 1e-20 && c.Largest <= 1e20) {
		return nil, fmt.Errorf("adaptive: largest half interval %g outside [1e-20, 1e20]", c.Largest)
	}
	if !(c.Smallest >= 0 && c.Smallest <= c.Largest) {
		return nil, fmt.Errorf("adaptive: smallest half interval %g outside [0, %g], the largest", c.Smallest, c.Largest)
	}
	return &Released{c}, nil
}

// Event is the price of one contribution.
func (r *Released) Event() accountant.Event {
	return accountant.Gaussian{NoiseMultiplier: r.config.NoiseLevel}
}

// About is the event with what it protects: all data of one client, whatever they are replaced by.
func (r *Released) About() accountant.About {
	return accountant.About{Adjacency: accountant.ReplaceOne, Unit: accountant.Client, Event: r.Event()}
}

// Round fixes the intervals of a round. Newest is the model that clients start from, before the one released before it, or
// nil in the first round, where a mechanism that follows changes takes its largest interval. Both must be releases (or
// initial models that no data went into): from them every client, and the server, computes the same bits.
func (r *Released) Round(newest, before []float32) (*Round, error) {
	t := r.config.Tensors
	if err := t.checkModel("newest model", newest); err != nil {
		return nil, err
	}
	if before != nil {
		if err := t.checkModel("model before it", before); err != nil {
			return nil, err
		}
	}
	round := &Round{tensors: t, grids: make([]tensorGrid, t.number())}
	total := 0.0 // Σ_k D_k over all weights
	for g := range round.grids {
		q := r.halfInterval(newest, before, t[g], t[g+1])
		round.grids[g].halfInterval = q
		total += float64(2 * q * float64(t[g+1]-t[g]))
	}
	for g := range round.grids {
		round.grids[g].lay(r.config.NoiseLevel, total)
	}
	return round, nil
}

// halfInterval is q of the weights from start to end.
func (r *Released) halfInterval(newest, before []float32, start, end int) float64 {
	if r.config.Source == FromChange && before == nil {
		return r.config.Largest
	}
	square := 0.0
	for m := start; m < end; m++ {
		x := float64(newest[m])
		if r.config.Source == FromChange {
			x -= float64(before[m])
		}
		square += float64(x * x) // the conversion forbids a fused multiply-add, which would differ between machines
	}
	size := math.Sqrt(square / float64(end-start))
	return min(max(r.config.Truncation/2*size, r.config.Smallest), r.config.Largest)
}
