package experiment

import (
	"hubbub/mechanism"
	"hubbub/noise"
)

// way is that of an update: on the client from its records to a contribution, on the server from the sum to a mean.
type way struct {
	client clientSide
	server serverSide
}

// clientSide computes what a client sends and adds it to the worker's sum.
type clientSide interface {
	contribute(w *worker, model []float32, round int, records []int, random noise.Key) error
}

// serverSide makes a mean of what was sent.
type serverSide interface {
	BitsPerWeight() int
	ServerNoise(sum []int64, random *noise.Stream)
	Decode(mean []float32, sum []int64, divisor float64)
}

// protector is a mechanism on updates.
type protector interface {
	serverSide
	encoder
	ClipNorm() float64
	ContributeSum(sum []int64, clipped []float32) error
}

// encoder turns an update into a contribution.
type encoder interface {
	Contribute(sum []int64, update []float32, random *noise.Stream) error
}

// runsEncoder is an encoder that looks only where an update may differ from zero, and comes to the same bits.
type runsEncoder interface {
	ContributeRuns(sum []int64, update []float32, runs mechanism.Runs, random *noise.Stream) error
}

// updates is the usual client side: an algorithm computes an update, and a mechanism protects it.
type updates struct {
	algorithm clientAlgorithm
	mechanism encoder
}

func (u updates) contribute(w *worker, model []float32, round int, records []int, random noise.Key) error {
	w.training.Restart(random.Derive("training"))
	if err := u.algorithm.Update(w.Worker, w.update, model, round, records, &w.training); err != nil {
		return err
	}
	w.noise.Restart(random.Derive("noise"))
	return u.mechanism.Contribute(w.sum, w.update, &w.noise)
}

// decoder is the server side of a mechanism whose noise comes from the clients alone.
type decoder interface {
	BitsPerWeight() int
	Decode(mean []float32, sum []int64, divisor float64)
}

type withoutServerNoise struct{ decoder }

// ServerNoise adds nothing.
func (withoutServerNoise) ServerNoise([]int64, *noise.Stream) {}

// wayAfter is the way of the round after these two releases; before there was one, before is nil.
func (f *Federation) wayAfter(newest, before []float32) (way, error) {
	if f.follows == nil {
		return f.way, nil
	}
	round, err := f.follows.Round(newest, before)
	if err != nil {
		return way{}, err
	}
	return way{updates{f.algorithm, round}, withoutServerNoise{round}}, nil
}
