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
//
// Noise is drawn in stretches of [LayerStretch] integers, each from a key of its own, so that whoever removes a layer
// can do so for any part of a long vector.
type Layers struct {
	codec    *codec
	samplers []sampler
}

// LayerStretch is how many integers of a layer are drawn from one key.
const LayerStretch = 1 << 16

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

// Add adds a layer's noise to sum, whose first integer is number from of the vector, a multiple of LayerStretch.
func (l *Layers) Add(sum []int64, layer int, key noise.Key, from int) {
	var block [4096]int64
	for len(sum) > 0 {
		stretch := sum[:min(len(sum), LayerStretch)]
		sum = sum[len(stretch):]
		random := key.Derive("stretch", uint64(from/LayerStretch)).Stream()
		from += LayerStretch
		for len(stretch) > 0 {
			part := block[:min(len(block), len(stretch))]
			clear(part)
			l.samplers[layer].Add(part, random)
			l.codec.addWrapped(stretch[:len(part)], part)
			stretch = stretch[len(part):]
		}
	}
}
