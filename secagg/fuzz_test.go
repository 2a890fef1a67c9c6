package secagg

import (
	"bytes"
	"crypto/ed25519"
	"math/rand/v2"
	"testing"
)

// Every decoder is fed what a stranger might send. What it accepts must encode back to the same bytes, so nothing has two spellings.

// exchange is a round of real messages, from which the fuzzers start.
type exchange struct {
	p       Params
	context [32]byte
	server  *Server
	clients []*Client
	ids     []ID
	outputs []Output // of closed phases
	answers [Unmask + 1][]byte
	chunk   []byte
	opened  *Unmasking
}

func converse(tb testing.TB, p Params) *exchange {
	tb.Helper()
	x := &exchange{p: p, context: p.context()}
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	var err error
	x.server, err = NewServer(p, nil)
	must(err)
	var noise LayerNoise
	if p.Layers > 0 {
		noise = func(layer int, seed Seed, dst []int64) { dst[0] += int64(layer) }
	}
	for i := range p.Cohort {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 16))
		c, err := NewClient(ClientConfig{Params: p, Policy: Policy{MinSurvivors: 3}, Key: key, Noise: noise}, rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), 9}))
		must(err)
		x.clients, x.ids = append(x.clients, c), append(x.ids, ID(key.Public().(ed25519.PublicKey)))
		x.answers[Advertise] = c.Advertise()
		must(x.server.Handle(x.ids[i], x.answers[Advertise]))
	}
	byID := map[ID]*Client{}
	for i, id := range x.ids {
		byID[id] = x.clients[i]
	}
	for phase := Advertise; ; phase++ {
		if phase == Upload {
			sums, err := x.server.Aggregator(0, p.Chunks())
			must(err)
			for i, c := range x.clients[:len(x.clients)-1] { // the last drops out
				place, _ := x.server.Place(x.ids[i])
				for j := range p.Chunks() {
					x.chunk, err = c.MaskedChunk(j, make([]int64, p.ChunkLen(j)))
					must(err)
					must(sums.Add(place, x.chunk))
				}
				must(x.server.Uploaded(x.ids[i]))
			}
		}
		out, err := x.server.Close(phase)
		must(err)
		x.outputs = append(x.outputs, out)
		if out.Unmasking != nil {
			x.opened = out.Unmasking
			return x
		}
		for _, m := range out.Send {
			answer, err := byID[m.To].Handle(m.Body)
			must(err)
			if answer != nil {
				x.answers[phase+1] = answer
				must(x.server.Handle(m.To, answer))
			}
		}
	}
}

func small() Params {
	return Params{Round: [32]byte{5}, Cohort: 5, Threshold: 3, MinSurvivors: 4, Dim: 200, Bits: 13, Chunk: ChunkUnit, Layers: 2}
}

// large is the smallest cohort whose graph is not complete.
func large() Params {
	return Params{Round: [32]byte{6}, Cohort: CompleteUpTo + 1, MinSurvivors: CompleteUpTo - 3, Dim: 3, Bits: 5}
}

var largeExchange *exchange

// converseLarge is made once: it takes a second.
func converseLarge(tb testing.TB) *exchange {
	if largeExchange == nil {
		largeExchange = converse(tb, large())
	}
	return largeExchange
}

func FuzzParams(f *testing.F) {
	f.Add(small().Encode())
	f.Add(large().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodeParams(data)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Encode(), data) {
			t.Errorf("%x decodes and encodes to %x", data, p.Encode())
		}
		if err := p.Check(); err != nil {
			t.Errorf("decoded what is refused: %v", err)
		}
	})
}

func FuzzAdvert(f *testing.F) {
	p := small()
	hybrid := p
	hybrid.Hybrid = true
	f.Add(converse(f, p).answers[Advertise], false)
	f.Add(converse(f, hybrid).answers[Advertise], true)
	f.Fuzz(func(t *testing.T, data []byte, kem bool) {
		p := p
		p.Hybrid = kem
		context := p.context()
		a, err := decodeAdvert(&p, &context, data)
		if err != nil {
			return
		}
		if again := append(header(kindAdvert, &context, 0), a.encode(&p)...); !bytes.Equal(again, data) {
			t.Errorf("%x decodes and encodes to %x", data, again)
		}
	})
}

func FuzzCohort(f *testing.F) {
	complete, regular := converse(f, small()), converseLarge(f)
	f.Add(complete.outputs[Advertise].Send[0].Body, false)
	f.Add(regular.outputs[Advertise].Send[0].Body, true)
	f.Fuzz(func(t *testing.T, data []byte, wide bool) {
		x := complete
		if wide {
			x = regular
		}
		self := x.outputs[Advertise].Send[0].To
		c, place, err := decodeCohort(&x.p, &x.context, self, data)
		if err != nil {
			return
		}
		if c.adverts[place].id != self {
			t.Error("another client's place")
		}
		if wide { // the hashes of a proof are not kept: what was shown must be the same
			if _, n, m := c.root, len(data), len(regular.outputs[Advertise].Send[0].Body); n != m {
				t.Errorf("%d bytes were accepted, the message has %d", n, m)
			}
			return
		}
		if again := c.encodeFor(&x.p, &x.context, place, nil); !bytes.Equal(again, data) {
			t.Errorf("%x decodes and encodes to %x", data, again)
		}
	})
}

func FuzzChunk(f *testing.F) {
	x := converse(f, small())
	f.Add(x.chunk)
	f.Fuzz(func(t *testing.T, data []byte) {
		root := x.server.cohort.root
		i, packed, err := decodeChunk(&x.p, &root, data)
		if err != nil {
			return
		}
		values := make([]uint32, x.p.ChunkLen(i))
		addPacked(values, packed, x.p.Bits, false)
		if again := pack(appendNumber(header(kindChunk, &root, 0), i), values, x.p.Bits); !bytes.Equal(again, data) {
			t.Errorf("%x decodes and encodes to %x", data, again)
		}
	})
}

func FuzzUnmasking(f *testing.F) {
	x := converse(f, small())
	f.Add(x.opened.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := DecodeUnmasking(x.p, data)
		if err != nil {
			return
		}
		if !bytes.Equal(u.Encode(), data) {
			t.Error("what decodes encodes to other bytes")
		}
	})
}

// The other messages hold nothing but what their length says, and are decoded where they are handled: whatever comes, in whatever phase, a machine
// answers or refuses, and after a refusal it still takes the right message.
func FuzzClientHandle(f *testing.F) {
	x := converse(f, small())
	for _, out := range x.outputs[:4] {
		for _, m := range out.Send[:2] {
			f.Add(m.Body, uint8(0))
			f.Add(m.Body, uint8(2))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, before uint8) {
		fresh := replay(t, x, int(before%5))
		var next []byte
		for _, m := range x.outputs[min(int(before%5), 3)].Send {
			if m.To == x.ids[0] {
				next = m.Body
			}
		}
		if _, err := fresh.Handle(data); err != nil && before%5 < 4 {
			if _, err := fresh.Handle(next); err != nil {
				t.Errorf("after a refused message the right one is refused: %v", err)
			}
		}
	})
}

// replay is client 0 again, after so many messages of the server.
func replay(t *testing.T, x *exchange, messages int) *Client {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	c, err := NewClient(ClientConfig{Params: x.p, Policy: Policy{MinSurvivors: 3}, Key: key, Noise: func(layer int, seed Seed, dst []int64) { dst[0] += int64(layer) }},
		rand.NewChaCha8([32]byte{0, 0, 9}))
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range x.outputs {
		if i == messages {
			break
		}
		for _, m := range out.Send {
			if m.To == x.ids[0] {
				if _, err := c.Handle(m.Body); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i+1 == int(Upload) {
			for j := range x.p.Chunks() {
				if _, err := c.MaskedChunk(j, make([]int64, x.p.ChunkLen(j))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return c
}

func FuzzServerHandle(f *testing.F) {
	x := converse(f, small())
	for _, answer := range x.answers {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := NewServer(x.p, nil)
		if err != nil {
			t.Fatal(err)
		}
		// in each phase: a stranger's bytes under the name of client 0, then its own
		if s.Handle(x.ids[0], data) != nil {
			if err := s.Handle(x.ids[0], x.clients[0].Advertise()); err != nil {
				t.Errorf("after a refused message the right one is refused: %v", err)
			}
		}
		for i := 1; i < x.p.Cohort; i++ {
			if err := s.Handle(x.ids[i], x.clients[i].Advertise()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Close(Advertise); err != nil {
			t.Fatal(err)
		}
		s.Handle(x.ids[0], data)
		for i, c := range x.clients {
			if err := s.Handle(x.ids[i], c.answers[kindCohort].out); err != nil && i > 0 {
				t.Fatal(err)
			}
		}
		if _, err := s.Close(Share); err != nil {
			t.Fatal(err)
		}
		for i := range x.clients[:4] {
			if err := s.Uploaded(x.ids[i]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Close(Upload); err != nil {
			t.Fatal(err)
		}
		s.Handle(x.ids[0], data)
		for i, c := range x.clients[:4] {
			if err := s.Handle(x.ids[i], c.answers[kindSurvivors].out); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Close(Consent); err != nil {
			t.Fatal(err)
		}
		s.Handle(x.ids[0], data) // may be taken: wrong shares have the right form
		for i, c := range x.clients[1:4] {
			if err := s.Handle(x.ids[i+1], c.answers[kindRequest].out); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Close(Unmask); err != nil {
			t.Errorf("three right answers do not open the sum: %v", err)
		}
	})
}
