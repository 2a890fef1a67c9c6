package experiment

import (
	"fmt"

	"hubbub/mechanism"
	"hubbub/noise"
	"hubbub/secagg"
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
	if f.Config.layered() {
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

// fewest is the smallest sum that secure aggregation hides in.
const fewest = 3

// tolerated is how many of a cohort may drop out.
func (f *Federation) tolerated(cohort int) int {
	return max(0, min(cohort-fewest, graph.AtMost(f.Config.Secagg.maxDropouts(), cohort)))
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

// layeredRound is the noise of one round in layers.
type layeredRound struct {
	f      *Federation
	layers *mechanism.Layers
	params secagg.Params // what the protocol is run with, or would be
}

// inLayers cuts the noise of a round, the first layers of it.
func (f *Federation) inLayers(params secagg.Params, count int) (*layeredRound, error) {
	cut, err := f.cut(f.way.server, params.Cohort, count)
	return &layeredRound{f, cut, params}, err
}

// base adds the layer that always stays.
func (l *layeredRound) base(w *worker, round, client int) {
	w.noise.Restart(l.f.clientKey(round, client).Derive("base"))
	l.layers.Add(w.sum, 0, &w.noise)
}

// first is what the layers hang on that may be taken out again: drawn by the client, and known to its simulation.
func (l *layeredRound) first(round, client int) secagg.Seed {
	return secagg.Seed(l.f.clientKey(round, client).Derive("layers"))
}

// afterEach adds, in the clear, the noise that the protocol would leave in a client's contribution: the base, and a layer for each dropout.
func (f *Federation) afterEach(round int, model []float32, survivors, dropped int) (afterEach, error) {
	cohort := survivors + dropped
	if !f.Facts.Layered || survivors == 0 || dropped > f.tolerated(cohort) { // the round will be abandoned
		return nil, nil
	}
	params := secagg.Params{Cohort: cohort}
	if dropped > 0 { // only then does the noise hang on them
		var err error
		if params, err = f.secaggParams(round, model, cohort); err != nil {
			return nil, err
		}
	}
	l, err := f.inLayers(params, dropped+1)
	if err != nil {
		return nil, err
	}
	return func(w *worker, round, client int) error {
		l.base(w, round, client)
		if dropped == 0 {
			return nil
		}
		for chunk := range l.params.Chunks() {
			from := chunk * l.params.ChunkLen(0)
			part := w.sum[from : from+l.params.ChunkLen(chunk)]
			for k, seed := range l.params.LayerSeeds(l.first(round, client), chunk, dropped) {
				w.noise.Restart(noise.Key(seed))
				l.layers.Add(part, k+1, &w.noise)
			}
		}
		return nil
	}, nil
}
