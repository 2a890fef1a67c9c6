package main

import (
	"errors"

	"hubbub/internal/algorithm"
	"hubbub/internal/crew"
	"hubbub/internal/nn"
	"hubbub/mechanism"
	"hubbub/noise"
)

// The cohort of pfl-research's CIFAR-10 benchmark: one local epoch in batches of 10.
const (
	clients          = 50
	recordsPerClient = 50
	localBatch       = 10
)

// newRound is a round of federated averaging as a simulation runs it: each client trains, its update is clipped and put on the grid, and
// the server adds noise to the sum and steps. Clients, not batches, are shared out to the crew.
func newRound(net *nn.Net, shape []int, shared *crew.Crew) (func() error, error) {
	protect, err := mechanism.NewGaussian(mechanism.Central, clip, noiseMultiplier)
	if err != nil {
		return nil, err
	}
	server, err := algorithm.NewOptimizer(algorithm.OptimizerConfig{Kind: "sgd", Rate: rate}, net.Size())
	if err != nil {
		return nil, err
	}
	average := algorithm.FedAvg{Local: algorithm.OptimizerConfig{Kind: "sgd", Rate: rate}, Batch: localBatch, Epochs: 1}
	set := randomSet(shape, clients*recordsPerClient)
	all := upTo(set.Len())
	type worker struct {
		*algorithm.Worker
		update []float32
		sum    []int64
	}
	var workers []worker
	for range shared.Size() {
		workers = append(workers, worker{algorithm.NewWorker(net, set), make([]float32, net.Size()), make([]int64, net.Size())})
	}
	model, mean := net.Init(noise.Seeded(1).Stream()), make([]float32, net.Size())
	random, round := noise.Seeded(2).Stream(), uint64(0)
	return func() error {
		round++
		for _, w := range workers {
			clear(w.sum)
		}
		errs := make([]error, clients)
		shared.Do(clients, func(i, client int) {
			w := workers[i]
			records := all[client*recordsPerClient : (client+1)*recordsPerClient]
			if errs[client] = average.Update(w.Worker, w.update, model, int(round), records, noise.Seeded(2).Derive("client", round, uint64(client)).Stream()); errs[client] == nil {
				errs[client] = protect.Contribute(w.sum, w.update, nil)
			}
		})
		sum := workers[0].sum
		for _, w := range workers[1:] {
			for i, v := range w.sum {
				sum[i] += v
			}
		}
		protect.ServerNoise(sum, random)
		protect.Decode(mean, sum, clients)
		average.ServerGradient(mean)
		server.Step(model, mean, rate)
		return errors.Join(errs...)
	}, nil
}
