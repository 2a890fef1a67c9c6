package secagg

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// attempt is something that must be refused, and with which kind of error.
type attempt struct {
	name string
	do   func() error
	want error
}

func refusedAll(t *testing.T, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		if err := a.do(); !errors.Is(err, a.want) {
			t.Errorf("%s: got %v, want %v", a.name, err, a.want)
		}
	}
}

func changed(message []byte, at int) []byte {
	message = bytes.Clone(message)
	message[at] ^= 1
	return message
}

// Everything is tried on a round that waits for vectors; after all refusals it ends with the exact sum.
func TestRefusalsDoNotHarmARound(t *testing.T) {
	p := Params{Cohort: 5, Threshold: 3, MinSurvivors: 4, Dim: 200, Bits: 13, Chunk: 2 * ChunkUnit}
	x := gather(t, p)
	other := seat(t, Params{Cohort: 5, Threshold: 3, MinSurvivors: 4, Dim: 200, Bits: 13, Chunk: 2 * ChunkUnit, Round: [32]byte{8}}, 1)
	id := func(i int) ID { return x.clients[i].advert.id }
	server, sums := x.server, x.sums
	closing := func(phase Phase) func() error {
		return func() error { _, err := server.Close(phase); return err }
	}
	handle := func(i int, message []byte) func() error {
		return func() error { return server.Handle(id(i), message) }
	}
	add := func(place int, message []byte) func() error {
		return func() error { return sums.Add(place, message) }
	}
	aggregator := func(clients, first, last int) func() error {
		return func() error { _, err := NewAggregator(p, [32]byte{}, clients, first, last); return err }
	}
	for i := range 3 {
		x.must(sums.Add(i, x.chunks[i]))
	}
	refusedAll(t, []attempt{
		{"a phase that is over is closed again", closing(Share), ErrStale},
		{"a phase that has not begun is closed", closing(Consent), ErrEarly},
		{"keys after their phase", handle(0, changed(x.clients[0].Advertise(), 40)), ErrStale},
		{"a signature before its phase", handle(0, header(kindConsent, &server.cohort.root, 0)), ErrEarly},
		{"a server's message to the server", handle(0, header(kindCohort, &server.context, 0)), ErrMalformed},
		{"a chunk to the server itself", handle(0, x.chunks[0]), ErrMalformed},
		{"nothing", handle(0, nil), ErrMalformed},
		{"a kind that does not exist", handle(0, bytes.Repeat([]byte{99}, 40)), ErrMalformed},
		{"a vector of a stranger", func() error { return server.Uploaded(ID{1}) }, ErrUnknown},
		{"a chunk of nobody", add(5, x.chunks[0]), ErrUnknown},
		{"a chunk of less than nobody", add(-1, x.chunks[0]), ErrUnknown},
		{"a chunk of another round", add(4, changed(x.chunks[4], 5)), ErrOtherRound},
		{"a chunk that is too short", add(4, x.chunks[4][:len(x.chunks[4])-1]), ErrMalformed},
		{"a chunk that is too long", add(4, append(bytes.Clone(x.chunks[4]), 0)), ErrMalformed},
		{"a chunk past the last", add(4, changed(x.chunks[4], headerSize)), ErrMalformed},
		{"a chunk without a number", add(4, x.chunks[4][:headerSize+2]), ErrMalformed},
		{"another chunk in the place of the first", add(0, changed(x.chunks[0], headerSize+10)), ErrConflict},
		{"a chunk is taken out that did not come", func() error { return sums.Remove(4, x.chunks[4]) }, ErrConflict},
		{"another chunk is taken out", func() error { return sums.Remove(0, changed(x.chunks[0], headerSize+10)) }, ErrConflict},
		{"an aggregator without chunks", aggregator(5, 0, 0), ErrParams},
		{"an aggregator past the last chunk", aggregator(5, 0, 2), ErrParams},
		{"an aggregator for more clients than invited", aggregator(6, 0, 1), ErrParams},
		{"shares after the vectors began", func() error {
			_, err := x.clients[0].Handle(header(kindDelivery, &server.cohort.root, 0))
			return err
		}, ErrConflict},
		{"a client's message to a client", func() error {
			_, err := x.clients[0].Handle(x.chunks[0])
			return err
		}, ErrMalformed},
		{"an unmask request before the survivors", func() error {
			_, err := x.clients[0].Handle(x.request(nil))
			return err
		}, ErrEarly},
		{"survivors of another cohort", func() error {
			_, err := x.clients[0].Handle(other.survivorsMessage(0, 1, 2, 3))
			return err
		}, ErrOtherRound},
		{"a cohort of another round", func() error {
			_, err := x.clients[0].Handle(header(kindCohort, &other.server.context, 0))
			return err
		}, ErrOtherRound},
		{"survivors with meaningless bits", func() error {
			_, err := x.clients[0].Handle(append(header(kindSurvivors, &server.cohort.root, 0), 0xff))
			return err
		}, ErrMalformed},
	})
	x.must(sums.Add(4, x.chunks[4]))
	x.must(sums.Add(4, x.chunks[4]))
	x.must(sums.Remove(4, x.chunks[4]))
	x.must(sums.Add(3, x.chunks[3]))
	for i := range 4 {
		x.must(server.Uploaded(id(i)))
	}
	for phase := Upload; phase < Done; phase++ {
		out, err := server.Close(phase)
		x.must(err)
		for i, m := range out.Send {
			answer, err := x.clients[i].Handle(m.Body)
			x.must(err)
			x.must(server.Handle(m.To, answer))
		}
		if phase == Upload {
			refusedAll(t, []attempt{
				{"a vector after the survivors were named", func() error { return server.Uploaded(id(4)) }, ErrStale},
				{"a client that is no survivor signs", handle(4, append(header(kindConsent, &server.cohort.root, 0), make([]byte, 64)...)), ErrUnknown},
			})
		}
		if u := out.Unmasking; u != nil {
			refusedAll(t, []attempt{
				{"a chunk that is not there", func() error { _, err := sums.Sum(1, u, nil); return err }, ErrVector},
				{"another round's sum", func() error { _, err := other.sums.Sum(0, u, nil); return err }, ErrOtherRound},
				{"seeds that were cut short", func() error { _, err := DecodeUnmasking(p, u.Encode()[:100]); return err }, ErrMalformed},
			})
			sum, err := sums.Sum(0, u, nil)
			x.must(err)
			plain := make([]int64, p.Dim)
			for i := range 4 {
				for j, v := range x.values[i] {
					plain[j] += v
				}
			}
			for j := range plain {
				plain[j] = plain[j] << (64 - p.Bits) >> (64 - p.Bits)
			}
			if !slices.Equal(sum, plain) {
				t.Error("after the refusals the sum is wrong")
			}
			refusedAll(t, []attempt{{"a chunk after its sum", add(4, x.chunks[4]), ErrStale}})
		}
	}
}

// Wrong shares of one client are found out by what was advertised, while more than t came; with t they cost the round, not its exactness.
func TestAWrongShareNeverGivesAWrongSum(t *testing.T) {
	for _, answers := range []int{3, 4, 5} {
		for liar := range 3 {
			x := gather(t, Params{Cohort: 5, Threshold: 3, MinSurvivors: 4, Dim: 20, Bits: 20})
			for i := range 5 {
				x.must(x.sums.Add(i, x.chunks[i]))
				x.must(x.server.Uploaded(x.clients[i].advert.id))
			}
			for phase := Upload; phase <= Consent; phase++ {
				out, err := x.server.Close(phase)
				x.must(err)
				for i, m := range out.Send {
					answer, err := x.clients[i].Handle(m.Body)
					x.must(err)
					if phase == Consent && i == liar {
						for at := headerSize; at < len(answer); at += 40 {
							answer = changed(answer, at)
						}
					}
					if phase < Consent || i < answers {
						x.must(x.server.Handle(m.To, answer))
					}
				}
			}
			out, err := x.server.Close(Unmask)
			if answers == 3 {
				x.wants(err, ErrShare)
				continue
			}
			x.must(err)
			sum, err := x.sums.Sum(0, out.Unmasking, nil)
			x.must(err)
			for j := range sum {
				plain := int64(0)
				for i := range 5 {
					plain += x.values[i][j]
				}
				if sum[j] != plain<<44>>44 {
					t.Fatalf("%d answers, client %d lies: wrong sum", answers, liar)
				}
			}
		}
	}
}
