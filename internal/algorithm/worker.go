// Package algorithm holds what a client computes and what the server does with the sum: one file per algorithm.
package algorithm

import (
	"fmt"
	"math"

	"hubbub/internal/data"
	"hubbub/internal/kernel"
	"hubbub/internal/nn"
	"hubbub/mechanism"
)

// Worker is the scratch memory of one goroutine: it computes gradients over records of one data set.
type Worker struct {
	set     *data.Set
	pass    *nn.Pass
	inputs  []float32
	labels  []uint8
	factors []float32
	sum     []float32

	training training // of FedAvg
}

// NewWorker makes scratch memory for a network over a data set.
func NewWorker(net *nn.Net, set *data.Set) *Worker {
	return &Worker{set: set, pass: nn.NewPass(net), sum: make([]float32, net.Size())}
}

// backward runs records, at most MaxBatch of them, forward and back.
func (w *Worker) backward(model []float32, records []int) (loss float64, err error) {
	w.inputs, w.labels = w.inputs[:0], w.labels[:0]
	for _, r := range records {
		features, label := w.set.Record(r)
		w.inputs = append(w.inputs, features...)
		w.labels = append(w.labels, uint8(label))
	}
	loss = w.pass.Backward(model, w.inputs, w.labels)
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, ErrDiverged
	}
	return loss, nil
}

// ErrDiverged is returned when a loss is not a finite number any more.
var ErrDiverged = fmt.Errorf("algorithm: the loss is not a finite number: the training diverges, lower the learning rate")

// sumProtector takes clipped float32 sums: the central Gaussian, or None.
type sumProtector interface {
	ClipNorm() float64
	ContributeSum(sum []int64, clipped []float32) error
}

// AddClipped adds every record's gradient to sum, each clipped by itself if the protector clips.
func (w *Worker) AddClipped(sum []int64, model []float32, records []int, protect sumProtector) error {
	for len(records) > 0 {
		batch := records[:min(len(records), mechanism.MaxBatch)]
		records = records[len(batch):]
		if _, err := w.backward(model, batch); err != nil {
			return err
		}
		w.factors = w.factors[:0]
		for _, square := range w.pass.SquaredNorms {
			factor := 1.0
			if clip := protect.ClipNorm(); clip > 0 {
				factor = mechanism.ClipFactor(square, clip)
			}
			w.factors = append(w.factors, float32(factor))
		}
		clear(w.sum)
		w.pass.AddGradients(w.sum, w.factors)
		if err := protect.ContributeSum(sum, w.sum); err != nil {
			return err
		}
	}
	return nil
}

// MeanGradient sets gradient to the mean over the records.
func (w *Worker) MeanGradient(gradient, model []float32, records []int) error {
	clear(gradient)
	share := float32(1 / float64(len(records)))
	for len(records) > 0 {
		batch := records[:min(len(records), mechanism.MaxBatch)]
		records = records[len(batch):]
		if _, err := w.backward(model, batch); err != nil {
			return err
		}
		w.factors = w.factors[:0]
		for range batch {
			w.factors = append(w.factors, share)
		}
		w.pass.AddGradients(gradient, w.factors)
	}
	return nil // a value that is not finite is noticed where the update is protected, or where training ends
}

// PerExample writes every record's gradient, one after the other, to rows: for mechanisms that need each of them by itself.
func (w *Worker) PerExample(rows, model []float32, records []int) error {
	if len(rows) != len(records)*len(model) {
		return fmt.Errorf("algorithm: room for %d numbers, %d gradients of %d weights have more or fewer", len(rows), len(records), len(model))
	}
	clear(rows)
	for i := range records {
		if _, err := w.backward(model, records[i:i+1]); err != nil {
			return err
		}
		w.pass.AddGradients(rows[i*len(model):(i+1)*len(model)], []float32{1})
	}
	if !kernel.Finite(rows) {
		return ErrDiverged
	}
	return nil
}

// Evaluate returns the summed loss and the number of right answers over a batch of any data set.
func (w *Worker) Evaluate(model, inputs []float32, labels []uint8) (loss float64, correct int) {
	return w.pass.Evaluate(model, inputs, labels)
}
