package mechanism

import (
	"errors"
	"fmt"

	"hubbub/noise"
)

// ErrNotDivisible is returned for noise whose parts do not add up to the whole: the discrete Gaussian, and a whole number of coins.
var ErrNotDivisible = errors.New("mechanism: this noise cannot be cut into layers that add up to the total exactly")

// Layers is the noise of one client of a cohort, cut so that what is left after dropouts is exact: everyone adds all layers,
// and once it is known who came, those that are not needed are taken out of the sum again (Jiang, Wang, Chen, Dordis:
// Efficient Federated Learning with Dropout-Resilient Differential Privacy, EuroSys 2024, section 4, XNoise).
type Layers struct {
	codec    *codec
	samplers []sampler
}

// Layers prepares the noise of one client: parts[k] is what layer k holds of the total noise of the mechanism.
func (m *Integer) Layers(parts []float64) (*Layers, error) {
	if m.part == nil {
		return nil, ErrNotDivisible
	}
	l := &Layers{codec: m.codec, samplers: make([]sampler, len(parts))}
	for k, of := range parts {
		s, err := m.part(of)
		if err != nil {
			return nil, fmt.Errorf("layer %d, a part of %g: %w", k, of, err)
		}
		l.samplers[k] = s
	}
	return l, nil
}

// Count is the number of layers.
func (l *Layers) Count() int { return len(l.samplers) }

// Distance bounds the statistical distance of one client's layers from their laws, over a whole vector.
func (l *Layers) Distance() float64 {
	total := 0.0
	for _, s := range l.samplers {
		total += s.Distance()
	}
	return total * float64(l.codec.width())
}

// Add adds a layer's noise to dst, all of it drawn from the stream. The sum is not reduced modulo 2^Bits: Decode does that.
func (l *Layers) Add(dst []int64, layer int, random *noise.Stream) {
	l.samplers[layer].Add(dst, random)
}
