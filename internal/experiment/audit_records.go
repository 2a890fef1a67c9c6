package experiment

import (
	"fmt"

	"hubbub/internal/algorithm"
	"hubbub/mechanism/waterfill"
)

// known is a feature so large that the model is certain of its record, one way or the other.
const known = 1e6

// trainingGame is about one record of a client that trains by DP-SGD. The model is certain of all records, so their gradients are
// zero, but for the target's label, which is wrong: its gradient is as large as they come.
func (f *Federation) trainingGame() (player, error) {
	client, ok := f.way.client.(updates)
	if !ok {
		return nil, fmt.Errorf("audit: internal error: no training to audit")
	}
	model := f.Net.Init(f.key.Derive("init").Stream())
	for i := range f.Train.Features {
		f.Train.Features[i] = known
	}
	probe := algorithm.NewWorker(f.Net, f.Train)
	if _, correct := probe.Evaluate(model, f.Train.Features[:f.Train.Dim()], []uint8{0}); correct == 0 {
		for i := range f.Train.Labels {
			f.Train.Labels[i] = 1
		}
	}
	without := f.Parts[0]
	wrong := f.Parts[1][0] // a record of somebody else's stands for the target
	f.Train.Labels[wrong] = 1 - f.Train.Labels[wrong]
	with := append([]int{wrong}, without[1:]...)
	return func(t *table, seen []float32, in bool) error {
		records := without
		if in {
			records = with
		}
		return client.algorithm.Update(t.worker.Worker, seen, model, records, t.random)
	}, nil
}

// mixingGame is about one record of a client of paper 000: its gradient is replaced by the opposite one. All other gradients are zero,
// so that no other record's sampling hides it.
func (f *Federation) mixingGame() (player, error) {
	client, ok := f.way.client.(fillingClient)
	if !ok {
		return nil, fmt.Errorf("audit: internal error: no sampling of gradients to audit")
	}
	d := f.Net.Size()
	sample := func(t *table, first float32) (*waterfill.Gradients, error) {
		rows := client.mechanism.Sample(t.random)
		values := make([]float32, len(rows)*d)
		for i, r := range rows {
			if r == 0 {
				values[i*d] = first
			}
		}
		return waterfill.NewGradients(values, len(rows), client.clip)
	}
	return func(t *table, seen []float32, with bool) error {
		sum := t.worker.sum
		clear(sum)
		size := float32(overClip * client.clip)
		if !with {
			size = -size
		}
		for c := range f.Parts {
			if c > 0 {
				size = 0
			}
			gradients, err := sample(t, size)
			if err != nil {
				return err
			}
			if err := client.mechanism.Contribute(sum, gradients, t.random); err != nil {
				return err
			}
		}
		f.way.server.Decode(seen, sum, 1)
		return nil
	}, nil
}
