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

// Worker is scratch memory: it computes gradients over records of one data set.
type Worker struct {
	net    *nn.Net
	set    *data.Set
	pass   *nn.Pass
	inputs []float32
	labels []uint8
	sum    []float32
	clip   float64                                        // of the sum at hand
	factor func(example int, squaredNorm float64) float64 // that clip asks for; made once: a closure allocates

	training training // of FedAvg
}

// NewWorker makes scratch memory for a network over a data set, for one goroutine.
func NewWorker(net *nn.Net, set *data.Set) *Worker { return NewSharedWorker(net, set, nil) }

// NewSharedWorker makes a worker whose every batch is shared out to a crew: for one client, where a worker for each core would have
// nothing to do.
func NewSharedWorker(net *nn.Net, set *data.Set, crew nn.Crew) *Worker {
	w := &Worker{net: net, set: set, pass: nn.NewPass(net, crew), sum: make([]float32, net.Size())}
	w.factor = func(_ int, squaredNorm float64) float64 { return mechanism.ClipFactor(squaredNorm, w.clip) }
	return w
}

// load copies records next to each other.
func (w *Worker) load(records []int) (inputs []float32, labels []uint8) {
	w.inputs, w.labels = w.inputs[:0], w.labels[:0]
	for _, r := range records {
		features, label := w.set.Record(r)
		w.inputs = append(w.inputs, features...)
		w.labels = append(w.labels, uint8(label))
	}
	return w.inputs, w.labels
}

func checkLoss(loss float64) error {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return ErrDiverged
	}
	return nil
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
	w.clip = protect.ClipNorm()
	for len(records) > 0 {
		batch := records[:min(len(records), mechanism.MaxBatch)]
		records = records[len(batch):]
		inputs, labels := w.load(batch)
		var loss float64
		if w.clip > 0 {
			loss = w.pass.Clipped(w.sum, model, inputs, labels, w.factor)
		} else {
			loss = w.pass.Sum(w.sum, model, inputs, labels)
		}
		if err := checkLoss(loss); err != nil {
			return err
		}
		if err := protect.ContributeSum(sum, w.sum); err != nil {
			return err
		}
	}
	return nil
}

// MeanGradient sets gradient to the mean over the records.
func (w *Worker) MeanGradient(gradient, model []float32, records []int) error {
	if len(records) <= plainBatch {
		inputs, labels := w.load(records)
		return checkLoss(w.pass.Mean(gradient, model, inputs, labels))
	}
	clear(gradient)
	all := float64(len(records))
	for len(records) > 0 {
		batch := records[:min(len(records), plainBatch)]
		records = records[len(batch):]
		inputs, labels := w.load(batch)
		if err := checkLoss(w.pass.Mean(w.sum, model, inputs, labels)); err != nil {
			return err
		}
		kernel.Axpy(gradient, float32(float64(len(batch))/all), w.sum)
	}
	return nil // a value that is not finite is noticed where the update is protected, or where training ends
}

// plainBatch bounds the memory of a client with many records.
const plainBatch = 256

// PerExample writes every record's gradient, one after the other, to rows: for mechanisms that need each of them by itself.
func (w *Worker) PerExample(rows, model []float32, records []int) error {
	if len(rows) != len(records)*len(model) {
		return fmt.Errorf("algorithm: room for %d numbers, %d gradients of %d weights have more or fewer", len(rows), len(records), len(model))
	}
	for rest := rows; len(records) > 0; {
		batch := records[:min(len(records), mechanism.MaxBatch)]
		records = records[len(batch):]
		inputs, labels := w.load(batch)
		if err := checkLoss(w.pass.PerExample(rest[:len(batch)*len(model)], model, inputs, labels)); err != nil {
			return err
		}
		rest = rest[len(batch)*len(model):]
	}
	if !kernel.Finite(rows) {
		return ErrDiverged
	}
	return nil
}

// Each hands the gradient of each record to use, with the runs of weights that it is set in: it is zero elsewhere. It stops at the
// first error. The worker must not be shared.
func (w *Worker) Each(model []float32, records []int, use func(i int, gradient []float32, runs [][2]int) error) error {
	inputs, labels := w.load(records)
	var failed error
	loss := w.pass.Each(model, inputs, labels, func(_, i int, gradient []float32, runs [][2]int) {
		if failed == nil {
			failed = use(i, gradient, runs)
		}
	})
	if failed != nil {
		return failed
	}
	return checkLoss(loss)
}

// Evaluate returns the summed loss and the number of right answers over a batch of any data set.
func (w *Worker) Evaluate(model, inputs []float32, labels []uint8) (loss float64, correct int) {
	return w.pass.Evaluate(model, inputs, labels)
}
