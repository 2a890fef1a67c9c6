package nn

import "testing"

func TestMemoryIsWhatAPassGrowsTo(t *testing.T) {
	for _, s := range specs {
		n := s.net(t)
		for _, batch := range []int{1, 40} {
			b := randomBatch(n, batch, 1)
			p := NewPass(n, nil)
			p.Clipped(make([]float32, n.Size()), b.params, b.inputs, b.labels, func(int, float64) float64 { return 1 })
			w := p.workers[0]
			floats := len(p.features) + len(p.partial) + len(w.examples) + len(w.scratch) + len(w.features) + len(w.deltas[0]) + len(w.deltas[1]) + len(w.gradient)
			for i := range n.head {
				floats += len(p.outputs[i]) + len(p.deltas[i])
			}
			if got, held := n.Memory(batch), 4*int64(floats); got < held || got > 2*held+4096 {
				t.Errorf("%s, batch of %d: %d bytes estimated, %d held", s.name, batch, got, held)
			}
		}
	}
}
