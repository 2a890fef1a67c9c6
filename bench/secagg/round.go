//go:build linux

package main

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"hubbub/secagg"
	"hubbub/secagg/graph"
)

const complete = secagg.CompleteUpTo

// result is what one round cost.
type result struct {
	clients, dim   int
	neighbours     int
	client, server float64 // seconds of one client, the median of those measured, and of the server
	sent           int     // bytes of one client
	overhead       float64 // over the packed vector, keys and shares
}

// round is a federation in this process. Clients run side by side, each step on a thread of its own, whose time is taken.
type round struct {
	p       secagg.Params
	keys    []ed25519.PrivateKey
	ids     []secagg.ID
	numbers map[secagg.ID]int
	clients []*secagg.Client
	server  *secagg.Server
	gone    int // the first so many have vanished

	spent       []time.Duration // of each client
	sent        []int
	serverSpent time.Duration
}

func run(clients, dim, bits int) (result, error) {
	dropouts := clients / 10
	p := secagg.Params{Round: [32]byte{1}, ModelHash: [32]byte{2}, Cohort: clients, MinSurvivors: clients - dropouts, Colluders: clients / 10, Dim: dim, Bits: bits}
	neighbours := clients - 1
	if clients <= complete {
		p.Threshold = (clients+p.Colluders)/2 + 1
	} else {
		plan, err := graph.New(graph.Setting{Clients: clients, Colluders: p.Colluders, Dropouts: dropouts})
		if err != nil {
			return result{}, err
		}
		neighbours = plan.Degree
	}
	r := &round{p: p, numbers: map[secagg.ID]int{}, spent: make([]time.Duration, clients), sent: make([]int, clients), clients: make([]*secagg.Client, clients)}
	for i := range clients {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(i)+1)
		key := ed25519.NewKeyFromSeed(seed[:])
		id := secagg.ID(key.Public().(ed25519.PublicKey))
		r.keys, r.ids, r.numbers[id] = append(r.keys, key), append(r.ids, id), i
	}
	if err := r.play(dropouts); err != nil {
		return result{}, fmt.Errorf("%d clients: %w", clients, err)
	}
	survivors := r.spent[dropouts:]
	slices.Sort(survivors)
	sent := r.sent[clients-1]
	// What has to be sent: the vector, id and two keys and a commitment and a signature, two shares for each neighbour, a
	// signature of the survivors, a share of each.
	needed := (dim*bits+7)/8 + 4*32 + 64 + neighbours*2*40 + 64 + neighbours*40
	return result{
		clients: clients, dim: dim, neighbours: neighbours, client: survivors[len(survivors)/2].Seconds(), server: r.serverSpent.Seconds(),
		sent: sent, overhead: float64(sent) / float64(needed),
	}, nil
}

// play goes through the five phases.
func (r *round) play(dropouts int) error {
	roster := secagg.Roster{}
	for _, id := range r.ids {
		roster[id] = true
	}
	adverts := make([][]byte, len(r.clients))
	err := r.each(func(i int) error {
		var err error
		r.clients[i], err = secagg.NewClient(secagg.ClientConfig{
			Params: r.p, Policy: secagg.Policy{MinSurvivors: r.p.MinSurvivors}, Key: r.keys[i], Roster: roster,
		}, rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), 3}))
		if err == nil {
			adverts[i] = r.clients[i].Advertise()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := r.serve(func() (err error) { r.server, err = secagg.NewServer(r.p, roster); return }); err != nil {
		return err
	}
	if err := r.receive(adverts); err != nil {
		return err
	}
	var out secagg.Output
	var sums *secagg.Aggregator
	for phase := secagg.Advertise; phase < secagg.Done; phase++ {
		if phase == secagg.Upload {
			r.gone = dropouts
			if sums, err = r.upload(); err != nil {
				return err
			}
		}
		if err := r.serve(func() (err error) { out, err = r.server.Close(phase); return }); err != nil {
			return err
		}
		if out.Unmasking != nil {
			break
		}
		if err := r.exchange(out.Send); err != nil {
			return err
		}
	}
	return r.check(sums, out.Unmasking)
}

// exchange hands messages out and answers back.
func (r *round) exchange(messages []secagg.Message) error {
	bodies := make([][]byte, len(r.clients))
	for _, m := range messages {
		bodies[r.numbers[m.To]] = m.Body
	}
	answers := make([][]byte, len(r.clients))
	err := r.each(func(i int) (err error) {
		if bodies[i] != nil {
			answers[i], err = r.clients[i].Handle(bodies[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.receive(answers)
}

func (r *round) receive(messages [][]byte) error {
	for i, m := range messages {
		r.sent[i] += len(m)
	}
	return r.serve(func() error {
		for i, m := range messages {
			if m == nil {
				continue
			}
			if err := r.server.Handle(r.ids[i], m); err != nil {
				return err
			}
		}
		return nil
	})
}

// value is element j of client i's vector.
func value(i, j int) int64 { return int64((i*31+j*7)%1000 - 500) }

func (r *round) upload() (*secagg.Aggregator, error) {
	var sums *secagg.Aggregator
	if err := r.serve(func() (err error) { sums, err = r.server.Aggregator(0, r.p.Chunks()); return }); err != nil {
		return nil, err
	}
	var one sync.Mutex // the server takes one at a time
	return sums, r.each(func(i int) error {
		place, _ := r.server.Place(r.ids[i])
		for chunk := range r.p.Chunks() {
			values := make([]int64, r.p.ChunkLen(chunk))
			for j := range values {
				values[j] = value(i, chunk*r.p.ChunkLen(0)+j)
			}
			message, err := r.clients[i].MaskedChunk(chunk, values)
			if err != nil {
				return err
			}
			one.Lock()
			r.sent[i] += len(message)
			start := processorTime()
			err = sums.Add(place, message)
			took := processorTime() - start
			r.serverSpent += took
			one.Unlock()
			r.spent[i] -= took // what the server did on this thread
			if err != nil {
				return err
			}
		}
		one.Lock()
		defer one.Unlock()
		return r.server.Uploaded(r.ids[i])
	})
}

// check opens the sum and compares it with the plain one.
func (r *round) check(sums *secagg.Aggregator, u *secagg.Unmasking) error {
	for chunk := range r.p.Chunks() {
		var part []int64
		if err := r.serve(func() (err error) { part, err = sums.Sum(chunk, u, nil); return }); err != nil {
			return err
		}
		for j, got := range part {
			want := int64(0)
			for i := r.gone; i < len(r.clients); i++ {
				want += value(i, chunk*r.p.ChunkLen(0)+j)
			}
			if got != want {
				return fmt.Errorf("element %d of chunk %d is %d, the plain sum is %d", j, chunk, got, want)
			}
		}
	}
	return nil
}

// each runs a step of every client that is left, and adds up its time.
func (r *round) each(step func(i int) error) error {
	next := make(chan int)
	failed := make(chan error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var first error
			for i := range next {
				start := processorTime()
				if err := step(i); err != nil && first == nil {
					first = fmt.Errorf("client %d: %w", i, err)
				}
				r.spent[i] += processorTime() - start
			}
			failed <- first
		})
	}
	for i := r.gone; i < len(r.clients); i++ {
		next <- i
	}
	close(next)
	workers.Wait()
	for range runtime.GOMAXPROCS(0) {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// serve runs a step of the server on this thread.
func (r *round) serve(step func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := processorTime()
	err := step()
	r.serverSpent += processorTime() - start
	return err
}

// processorTime is that of this thread.
func processorTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
