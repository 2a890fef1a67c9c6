package main

import (
	"math"

	"hubbub/internal/algorithm"
	"hubbub/internal/crew"
	"hubbub/internal/data"
	"hubbub/internal/kernel"
	"hubbub/internal/nn"
	"hubbub/mechanism"
	"hubbub/noise"
)

const (
	clip            = 1.0
	noiseMultiplier = 1.0
	rate            = 1e-6 // so small that thousands of steps go nowhere
)

// step is stochastic gradient descent on one batch: what the peers do. Private means that every gradient is clipped and float32 noise
// is added to their sum.
type step struct {
	crew    *crew.Crew
	pass    *nn.Pass
	model   []float32
	batch   *data.Set
	sum     []float32
	private bool
	streams []*noise.Stream // one for each part of the weights
	noises  [][]float32     // one for each of the crew
	move    func(worker, part int)
}

const (
	weightsPerPart = 1 << 14
	weightsAtOnce  = 1 << 11 // they, their sum and their noise stay in the first cache
)

func newStep(net *nn.Net, shape []int, batch int, private bool, shared *crew.Crew) *step {
	s := &step{
		crew: shared, pass: nn.NewPass(net, shared), model: net.Init(noise.Seeded(1).Stream()), batch: randomSet(shape, batch),
		sum: make([]float32, net.Size()), private: private,
	}
	for part := range (net.Size() + weightsPerPart - 1) / weightsPerPart {
		s.streams = append(s.streams, noise.Seeded(1).Derive("part", uint64(part)).Stream())
	}
	for range shared.Size() {
		s.noises = append(s.noises, make([]float32, weightsAtOnce))
	}
	s.move = s.movePart
	return s
}

func (s *step) do() error {
	if s.private {
		s.pass.Clipped(s.sum, s.model, s.batch.Features, s.batch.Labels, clipFactor)
	} else {
		s.pass.Mean(s.sum, s.model, s.batch.Features, s.batch.Labels)
	}
	s.crew.Do(len(s.streams), s.move)
	return nil
}

func clipFactor(_ int, square float64) float64 { return min(1, clip/math.Sqrt(square)) }

func (s *step) movePart(worker, part int) {
	end := min((part+1)*weightsPerPart, len(s.sum))
	for from := part * weightsPerPart; from < end; from += weightsAtOnce {
		to := min(from+weightsAtOnce, end)
		sum := s.sum[from:to]
		if s.private {
			noises := s.noises[worker][:len(sum)]
			s.streams[part].Gaussian32(noises)
			kernel.Axpy(sum, noiseMultiplier*clip, noises)
		}
		kernel.Axpy(s.model[from:to], -rate/float32(s.batch.Len()), sum)
	}
}

// newTraining is the step as a client of the product takes it: gradients are read from a data set, rounded to the mechanism's grid
// and noised there.
func newTraining(net *nn.Net, shape []int, batch int, shared *crew.Crew) (func() error, error) {
	protect, err := mechanism.NewGaussian(mechanism.Central, clip, noiseMultiplier)
	if err != nil {
		return nil, err
	}
	training := algorithm.FedAvg{Local: algorithm.OptimizerConfig{Kind: "sgd", Rate: rate}, Batch: batch, Steps: 1, Noise: protect}
	set := randomSet(shape, batch)
	worker := algorithm.NewSharedWorker(net, set, shared)
	model, update, random := net.Init(noise.Seeded(1).Stream()), make([]float32, net.Size()), noise.Seeded(2).Stream()
	records := upTo(batch)
	return func() error { return training.Update(worker, update, model, 1, records, random) }, nil
}

// randomSet has records of random numbers.
func randomSet(shape []int, records int) *data.Set {
	s := &data.Set{Name: "random", Shape: shape, Classes: 10}
	random := noise.Seeded(3).Stream()
	s.Features = make([]float32, records*s.Dim())
	for i := range s.Features {
		s.Features[i] = float32(random.Float64())
	}
	for range records {
		s.Labels = append(s.Labels, uint8(random.Below(10)))
	}
	return s
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
