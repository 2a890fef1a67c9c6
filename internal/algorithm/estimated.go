package algorithm

import (
	"fmt"

	"hubbub/internal/kernel"
	"hubbub/mechanism/adaptive"
	"hubbub/noise"
)

// Estimated trains from model over the records as the clients of paper 003 do (its Algorithm 3, lines 5 to 17). Beside the trained
// weights it returns those that the last step but one led to expect, from which the printed mechanism takes its intervals.
// The batches are those of plain training.
func (a FedAvg) Estimated(w *Worker, model []float32, round int, records []int, random *noise.Stream) (adaptive.Local, error) {
	optimizer := adaptive.Optimizer{Rule: adaptive.Rule(a.Local.Kind), Rate: a.Local.RateIn(round), Decay: a.Local.Beta, SquareDecay: a.Local.Beta2, Damping: a.Local.Tau}
	descent, err := optimizer.Start(model)
	if err != nil {
		return adaptive.Local{}, err
	}
	s := &w.training
	if err := s.begin(a, model, records); err != nil {
		return adaptive.Local{}, err
	}
	for range a.StepsFor(len(records)) {
		copy(s.local, descent.Weights())
		if err := a.plainBatch(w, random); err != nil {
			return adaptive.Local{}, err
		}
		if err := descent.Step(s.gradient); err != nil {
			return adaptive.Local{}, fmt.Errorf("%w (%v)", ErrDiverged, err)
		}
	}
	local := adaptive.Local{Global: model, Trained: descent.Weights(), Estimate: descent.Estimate()}
	if !kernel.Finite(local.Trained) || !kernel.Finite(local.Estimate) {
		return adaptive.Local{}, ErrDiverged
	}
	return local, nil
}
