//go:build unix

package secagg_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"hubbub/secagg"
)

// A round of 100 clients with 100,000 elements modulo 2^32, on one core: what one client and what the server spend, signatures and
// restoring included, when some vanish after sharing keys. Run it with -cpu 1. The time is the processor's, garbage collection
// included, so that a busy machine tells the same.
func BenchmarkRound(b *testing.B) {
	for _, c := range []struct {
		drops  int
		hybrid bool
	}{{0, false}, {10, false}, {30, false}, {10, true}} {
		b.Run(fmt.Sprintf("drops=%d,hybrid=%t", c.drops, c.hybrid), func(b *testing.B) {
			p := setting(100, 100_000, 32)
			p.Hybrid = c.hybrid
			p.Chunk, p.Threshold, p.MinSurvivors = 0, 67, 67
			var client, server time.Duration
			for range b.N {
				one, all := timed(b, p, c.drops)
				client, server = client+one, server+all
			}
			b.ReportMetric(float64(client.Microseconds())/1e3/float64(b.N), "client-ms")
			b.ReportMetric(float64(server.Microseconds())/1e3/float64(b.N), "server-ms")
		})
	}
}

// timed runs a round and gives the time of the server and of a client that stays to the end: the mean over all of them.
func timed(b *testing.B, p secagg.Params, drops int) (client, server time.Duration) {
	f := federate(b, p, nil, 1)
	clock := func(total *time.Duration, f func() error) {
		start := processorTime()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		*total += processorTime() - start
	}
	var dropped time.Duration
	of := func(i int) *time.Duration {
		if i < drops {
			return &dropped
		}
		return &client
	}
	var out secagg.Output
	closing := func() error {
		var err error
		out, err = f.server.Close(f.server.Phase())
		return err
	}
	messages := make(map[secagg.ID][]byte)
	answer := func() {
		clear(messages)
		for _, m := range out.Send {
			i := f.byID[m.To]
			if f.gone[i] {
				continue
			}
			clock(of(i), func() (err error) { messages[m.To], err = f.clients[i].Handle(m.Body); return })
		}
	}
	receive := func() {
		clock(&server, func() error {
			for from, m := range messages {
				if m == nil {
					continue
				}
				if err := f.server.Handle(from, m); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range f.clients {
		clock(of(i), func() error {
			_, err := secagg.NewClient(secagg.ClientConfig{Params: p, Policy: policy(p), Key: f.keys[i], Roster: f.roster}, seeded(9))
			return err
		})
	}
	for i, c := range f.clients {
		messages[f.id(i)] = c.Advertise()
	}
	receive()
	clock(&server, closing)
	answer()
	receive()
	clock(&server, closing)
	answer()
	for i := range drops {
		f.gone[i] = true
	}
	clock(&server, func() (err error) { f.sums, err = f.server.Aggregator(0, p.Chunks()); return })
	for i, c := range f.clients {
		if f.gone[i] {
			continue
		}
		place, _ := f.server.Place(f.id(i))
		for chunk := range p.Chunks() {
			from := chunk * p.ChunkLen(0)
			var message []byte
			clock(of(i), func() (err error) {
				message, err = c.MaskedChunk(chunk, f.vectors[i][from:from+p.ChunkLen(chunk)])
				return
			})
			clock(&server, func() error { return f.sums.Add(place, message) })
		}
		clock(&server, func() error { return f.server.Uploaded(f.id(i)) })
	}
	for range 2 {
		clock(&server, closing)
		answer()
		receive()
	}
	clock(&server, closing)
	clock(&server, func() error { _, err := f.open(out.Unmasking); return err })
	return client / time.Duration(p.Cohort-drops), server
}

func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
