package secagg_test

import (
	"testing"

	"hubbub/secagg"
)

// What parameters say that a client sends is what it sends, to the byte: with everybody and with some, with layers of noise and without,
// with keys of both kinds.
func TestClientsSendAsManyBytesAsTheParametersSay(t *testing.T) {
	for _, clients := range []int{9, 300} {
		for _, layers := range []int{0, 3} {
			for _, hybrid := range []bool{false, true} {
				if clients > 9 && (hybrid || layers == 0) {
					continue // takes its time
				}
				p := setting(clients, 700, 20)
				p.Layers, p.Hybrid, p.MinSurvivors = layers, hybrid, clients-3
				if clients > secagg.CompleteUpTo {
					p.Threshold = 0
				}
				var noise secagg.LayerNoise
				if layers > 0 {
					noise = func(int, secagg.Seed, []int64) {}
				}
				f := federate(t, p, noise, 5)
				if _, sum, err := f.run(nil); err != nil || sum == nil {
					t.Fatal(err)
				}
				for i, sent := range f.sent {
					if want := p.SentBytes(); sent != want {
						t.Fatalf("%d clients, %d layers, hybrid %v: client %d sends %d bytes, the parameters say %d", clients, layers, hybrid, i, sent, want)
					}
				}
			}
		}
	}
}
