package algorithm

import (
	"fmt"

	"hubbub/noise"
)

// FedProx is FedAvg with a leash (Li et al. 2020, arXiv:1812.06127, Algorithm 2): a client minimises its loss plus Mu/2 times the
// squared distance to the model that it was given, so that clients with unlike data do not drift apart.
type FedProx struct {
	FedAvg
	Mu float64 // 0 is FedAvg
}

// Update trains from the round's model over the records and sets update to the change.
func (p FedProx) Update(w *Worker, update, model []float32, round int, records []int, random *noise.Stream) error {
	mu := float32(p.Mu)
	return p.train(w, update, model, round, records, random, func(gradient, local []float32) {
		for i, v := range local {
			gradient[i] += mu * (v - model[i])
		}
	})
}

// Check refuses what cannot be run.
func (p FedProx) Check() error {
	if !(p.Mu > 0) {
		return fmt.Errorf("algorithm: fedprox with mu %g: must be above 0; 0 is fedavg", p.Mu)
	}
	return p.FedAvg.Check()
}
