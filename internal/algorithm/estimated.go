package algorithm

import (
	"slices"

	"hubbub/internal/kernel"
	"hubbub/mechanism/adaptive"
	"hubbub/noise"
)

// Estimated trains from model over the records as the clients of paper 003 do (its Algorithm 3, lines 5 to 17): w_k = w_{k-1} - G(g_k) for
// k = 1 to K. (The printed loop starts at k = 0, where g_0 and w_{-1} do not exist; w_0 is the global model.) Beside the trained weights it
// returns the estimate of the paper's Table II, from which the printed mechanism takes its intervals: w_{K-1} - G(g_{K-1}), where the last step
// would lead if the gradient of the step before came again. With K = 1 there is none before, and the estimate is the global model.
//
// G is the optimizer itself, so all four rows of the table are the same few lines. The batches are those of plain training.
func (a FedAvg) Estimated(w *Worker, model []float32, round int, records []int, random *noise.Stream) (adaptive.Local, error) {
	s := &w.training
	if err := s.begin(a, model, records); err != nil {
		return adaptive.Local{}, err
	}
	rate := a.Local.RateIn(round)
	estimate := slices.Clone(model)
	for k := 1; k <= a.StepsFor(len(records)); k++ {
		if k > 1 && k == a.StepsFor(len(records)) {
			copy(estimate, s.local)
			memory := s.optimizer.State().Clone()
			s.optimizer.Step(estimate, s.gradient, rate) // the gradient of the step before
			if err := s.optimizer.Restore(memory); err != nil {
				return adaptive.Local{}, err
			}
		}
		if err := a.plainBatch(w, random); err != nil {
			return adaptive.Local{}, err
		}
		s.optimizer.Step(s.local, s.gradient, rate)
	}
	if !kernel.Finite(s.local) || !kernel.Finite(estimate) {
		return adaptive.Local{}, ErrDiverged
	}
	return adaptive.Local{Global: model, Trained: slices.Clone(s.local), Estimate: estimate, Batch: min(a.Batch, len(records))}, nil
}
