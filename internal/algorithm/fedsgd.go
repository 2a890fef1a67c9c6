package algorithm

import "hubbub/noise"

// FedSGD is one gradient per client and round (McMahan et al. 2017, section 2): the update is the mean gradient over the
// client's records, and the server steps against the mean of the updates.
type FedSGD struct{}

// Update sets update to the client's mean gradient.
func (FedSGD) Update(w *Worker, update, model []float32, _ int, records []int, _ *noise.Stream) error {
	return w.MeanGradient(update, model, records)
}

// ServerGradient turns the mean update into what the server's optimizer steps against: itself.
func (FedSGD) ServerGradient([]float32) {}
