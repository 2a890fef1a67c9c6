package experiment

import (
	"fmt"

	"hubbub/mechanism"
	"hubbub/noise"
	"hubbub/secagg/graph"
	"hubbub/secagg/layers"
)

// layeredMechanism is one whose noise can be cut into layers.
type layeredMechanism interface {
	Layers(parts []float64) (*mechanism.Layers, error)
}

// distance is how far all the samples of a round are from their law, in statistical distance.
func (f *Federation) distance(m integerMechanism) (float64, error) {
	d := m.Distance()
	if f.layered() {
		size := f.largestCohort()
		cut, err := f.cut(m, size, f.tolerated(size)+1)
		if err != nil {
			return 0, err
		}
		d = float64(size) * cut.Distance()
	}
	if d > presumedDistance {
		return 0, fmt.Errorf("its samplers are off by %g in statistical distance, more than %g", d, presumedDistance)
	}
	return d, nil
}

// cut prepares the first layers of the noise of each client of a cohort of this size: the base, and one for every dropout.
func (f *Federation) cut(m any, size, count int) (*mechanism.Layers, error) {
	parts := make([]float64, count)
	for k := range parts {
		parts[k] = layers.Part(size, k)
	}
	return m.(layeredMechanism).Layers(parts)
}

// tolerated is how many of a cohort may drop out.
func (f *Federation) tolerated(cohort int) int {
	return min(cohort-1, graph.AtMost(f.Config.Secagg.MaxDropouts, cohort))
}

// cohort draws who is invited to a round and who of them vanishes. Neither depends on data.
func (f *Federation) cohort(round int) (survivors, dropped []int) {
	coins := f.key.Derive("dropouts", uint64(round)).Stream()
	for _, c := range f.sampling.Cohort(round) {
		if f.Config.Cohort.Dropout > 0 && coins.Coin(f.Config.Cohort.Dropout) {
			dropped = append(dropped, c)
		} else {
			survivors = append(survivors, c)
		}
	}
	return survivors, dropped
}

// toleration is how many of a cohort of any size may drop out, if that is limited.
func (f *Federation) toleration() func(cohort int) int {
	if !f.Facts.Layered {
		return nil
	}
	return f.tolerated
}

// layerKey is what a client draws a layer of its noise from.
func layerKey(client noise.Key, layer int) noise.Key { return client.Derive("layer", uint64(layer)) }

// remaining is the noise that is left in the contributions of a cohort: the base, and a layer for each dropout.
type remaining struct{ layers *mechanism.Layers }

// remaining cuts the noise of a cohort, or gives none if the mechanism adds its own.
func (f *Federation) remaining(survivors, dropped int) (remaining, error) {
	if !f.Facts.Layered || survivors == 0 || dropped > f.tolerated(survivors+dropped) { // the round will be abandoned
		return remaining{}, nil
	}
	cut, err := f.cut(f.way.server, survivors+dropped, dropped+1)
	return remaining{cut}, err
}

func (r remaining) add(sum []int64, client noise.Key) {
	if r.layers == nil {
		return
	}
	for k := range r.layers.Count() {
		r.layers.Add(sum, k, layerKey(client, k), 0)
	}
}
