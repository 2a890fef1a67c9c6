package secagg

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever a stranger writes into a message, a party refuses it by name, stays as it was, and allocates no more than a
// small multiple of what was sent.
func TestMessagesOfEveryShapeAreRefused(t *testing.T) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	context := s.p.context()
	for _, c := range s.clients {
		if err := s.server.Handle(c.advert.id, c.Advertise()); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.server.Close(Advertise)
	if err != nil {
		t.Fatal(err)
	}
	honest := out.Send[0].Body
	change := func(f func(m []byte) []byte) []byte { return f(append([]byte(nil), honest...)) }
	for _, c := range []struct {
		name    string
		message []byte
		want    error
	}{
		{"nothing", nil, ErrMalformed},
		{"one byte", []byte{1}, ErrMalformed},
		{"a kind that does not exist", change(func(m []byte) []byte { m[0] = 200; return m }), ErrMalformed},
		{"a kind that is for the server", change(func(m []byte) []byte { m[0] = byte(kindShares); return m }), ErrMalformed},
		{"another round", change(func(m []byte) []byte { m[1] ^= 1; return m }), ErrOtherRound},
		{"half of it", honest[:len(honest)/2], ErrMalformed},
		{"one byte more", change(func(m []byte) []byte { return append(m, 0) }), ErrMalformed},
		{"everything twice", change(func(m []byte) []byte { return append(m, m...) }), ErrMalformed},
		{"2^31 clients announced, none sent", appendNumber(header(kindCohort, &context, 0), 1<<31), ErrCohort},
		{"a cohort of nobody", appendNumber(header(kindCohort, &context, 0), 0), ErrCohort},
		{"a cohort of two", appendNumber(header(kindCohort, &context, 0), 2), ErrCohort},
		{"64 MiB of zeros", change(func(m []byte) []byte { return append(m, make([]byte, 64<<20)...) }), ErrMalformed},
		{"the shares before the cohort", change(func(m []byte) []byte { m[0] = byte(kindDelivery); return m }), ErrEarly},
		{"an unmask request before anything", change(func(m []byte) []byte { m[0] = byte(kindRequest); return m }), ErrEarly},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := s.clients[victim].Handle(c.message)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<16 {
				t.Errorf("%d bytes allocated for a refusal", spent)
			}
			if _, err := s.tell(victim, c.message); err == nil {
				t.Error("the second time it was taken")
			}
		})
	}
	if _, err := s.tell(victim, honest); err != nil {
		t.Errorf("after all that, the honest message: %v", err)
	}
}

func TestVectorsThatDoNotFitAreRefused(t *testing.T) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	if _, err := s.clients[victim].MaskedChunk(0, s.vectors[victim]); !errors.Is(err, ErrEarly) {
		t.Errorf("before any keys: %v", err)
	}
	s.upTo(Upload)
	c := s.clients[victim]
	for name, try := range map[string]func() error{
		"too short":        func() error { _, err := c.MaskedChunk(0, make([]int64, 4)); return err },
		"too long":         func() error { _, err := c.MaskedChunk(0, make([]int64, 6)); return err },
		"no such chunk":    func() error { _, err := c.MaskedChunk(1, make([]int64, 5)); return err },
		"a negative chunk": func() error { _, err := c.MaskedChunk(-1, make([]int64, 5)); return err },
	} {
		if err := try(); !errors.Is(err, ErrVector) {
			t.Errorf("%s: %v, want %v", name, err, ErrVector)
		}
	}
	first, err := c.MaskedChunk(0, s.vectors[victim])
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.MaskedChunk(0, s.vectors[victim]); err != nil || !bytes.Equal(first, again) {
		t.Errorf("a repeated upload differs: %v", err)
	}
	// Two vectors under one mask would tell their difference.
	if _, err := c.MaskedChunk(0, make([]int64, 5)); !errors.Is(err, ErrConflict) {
		t.Errorf("another vector under the same mask: %v", err)
	}
}

func TestTinyCohortsAreRefused(t *testing.T) {
	for _, n := range []int{0, 1, 2} {
		p := stageParams(5)
		p.Cohort = n
		if _, err := NewServer(p, nil); !errors.Is(err, ErrParams) {
			t.Errorf("a server for %d clients: %v", n, err)
		}
		if _, err := NewClient(ClientConfig{Params: p, Policy: Policy{MinSurvivors: 3}, Key: stageKey(0)}, stageSeeded(0)); !errors.Is(err, ErrParams) {
			t.Errorf("a client among %d: %v", n, err)
		}
	}
}

// There is no fallback, wherever the generator stops; and the error does not show what it gave before.
func TestAGeneratorThatFailsEndsTheClient(t *testing.T) {
	for _, after := range []int{0, 31, 32, 100, 159} {
		random := iotest.DataErrReader(strings.NewReader(strings.Repeat("x", after)))
		c, err := NewClient(ClientConfig{Params: stageParams(5), Policy: Policy{MinSurvivors: 3}, Key: stageKey(0)}, random)
		if c != nil || !errors.Is(err, ErrRandom) || strings.Contains(err.Error(), "xxx") {
			t.Errorf("after %d bytes: %v", after, err)
		}
	}
}
