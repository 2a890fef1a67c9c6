package algorithm

import (
	"hubbub/internal/kernel"
	"hubbub/noise"
)

// PriFedSync is paper 004's federated learning with personal models (Zheng, Chen, Long, Su 2021, arXiv:2102.11158, Algorithms 1 and 2).
// Client i trains w(i) from a helper model h(i) that was pushed to it, by FedAvg's local training (with Noise: Algorithm 2), and sends it:
//
//	w(i)   <- LocalPrivateTraining(S(i), h(i), K)              i in the cohort
//	global <- (1-eta)·global + eta·mean of w(i)                the server's step of rate eta
//	h(i)   <- F_i(global) = (1-alpha_i)·w(i) + alpha_i·global  i in the cohort, equation 2.1
//
// What it costs is FedAvg's: everything after w(i) is post-processing.
type PriFedSync struct {
	FedAvg
	Alphas []float64 // part of the global model in each client's helper; fewer than clients are dealt in turn. 1: F_i is the identity, 0: alone
	Keep   bool      // the optimizer's memory stays with the client from round to round; otherwise each round begins afresh
}

// Train sets own to w(i), trained from the helper. The memory is the client's own; it is read and written if Keep is set.
func (a PriFedSync) Train(w *Worker, own, helper []float32, memory *State, round int, records []int, random *noise.Stream) error {
	s := &w.training
	if err := s.begin(a.FedAvg, helper, records); err != nil {
		return err
	}
	if a.Keep && memory.Vectors != nil { // not every optimizer counts its steps
		if err := s.optimizer.Restore(*memory); err != nil {
			return err
		}
	}
	rate := a.Local.RateIn(round)
	for range a.StepsFor(len(records)) {
		if err := a.batch(w, records, random); err != nil {
			return err
		}
		s.optimizer.Step(s.local, s.gradient, rate)
	}
	if !kernel.Finite(s.local) {
		return ErrDiverged
	}
	copy(own, s.local)
	if a.Keep {
		*memory = s.optimizer.State().Clone()
	}
	return nil
}

// Alpha is a client's part of the global model.
func (a PriFedSync) Alpha(client int) float64 { return a.Alphas[client%len(a.Alphas)] }

// Helper sets helper to the client's F_i(global).
func (a PriFedSync) Helper(client int, helper, own, global []float32) {
	alpha := float32(a.Alpha(client))
	for i, g := range global {
		helper[i] = (1-alpha)*own[i] + alpha*g
	}
}
