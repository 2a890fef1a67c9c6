package secagg_test

import (
	"slices"
	"time"

	"hubbub/internal/simnet"
	"hubbub/secagg"
)

const (
	repeatAfter = 500 * time.Millisecond // the server says again what was not answered
	phaseLasts  = 5 * time.Second        // then it goes on with those who came
)

// serverNode runs the server and its aggregator, and owns the deadlines.
type serverNode struct {
	w       *world
	server  *secagg.Server
	sums    *secagg.Aggregator
	ids     map[string]secagg.ID
	last    []secagg.Message
	uploads map[string]map[int][]byte // chunks, until a client's are complete
	ends    time.Time                 // of the phase
}

func newServerNode(w *world, now time.Time) (simnet.Node, simnet.Output) {
	s := &serverNode{w: w, ids: map[string]secagg.ID{}, uploads: map[string]map[int][]byte{}, ends: now.Add(phaseLasts)}
	for id, name := range w.names {
		s.ids[name] = id
	}
	var err error
	if s.server, err = secagg.NewServer(w.p, w.roster); err != nil {
		w.t.Fatal(err)
	}
	return s, simnet.Output{WakeAt: s.ends}
}

func (s *serverNode) Receive(now time.Time, from string, body []byte) simnet.Output {
	switch {
	case len(body) == 0:
		return simnet.Output{}
	case body[0] == 'c':
		s.chunk(from, body)
	default:
		s.w.refused(s.server.Handle(s.ids[from], body[1:]))
	}
	if arrived, expected := s.server.Arrived(); expected > 0 && arrived == expected {
		return s.close(now)
	}
	return simnet.Output{}
}

// chunk keeps a client's chunks until all are there: half an upload is never added.
func (s *serverNode) chunk(from string, body []byte) {
	message, whole := s.w.unframed(body)
	place, member := s.server.Place(s.ids[from])
	if !whole || !member || s.sums == nil || len(message) < 37 {
		return
	}
	chunks := s.uploads[from]
	if chunks == nil {
		chunks = map[int][]byte{}
		s.uploads[from] = chunks
	}
	chunks[int(message[33])] = slices.Clone(message) // chunk numbers are small here
	if len(chunks) < s.w.p.Chunks() || s.server.Phase() != secagg.Upload {
		return
	}
	for i := range s.w.p.Chunks() {
		if err := s.sums.Add(place, chunks[i]); err != nil {
			if !s.w.unguarded {
				s.w.t.Fatalf("an honest chunk: %v\n%s", err, s.w.net.Trace())
			}
			delete(s.uploads, from)
			return
		}
	}
	s.w.refused(s.server.Uploaded(s.ids[from]))
}

// Wake repeats, or ends the phase when its time is up.
func (s *serverNode) Wake(now time.Time) simnet.Output {
	if s.w.end != "" {
		return simnet.Output{}
	}
	if !now.Before(s.ends) {
		return s.close(now)
	}
	return s.say(now)
}

func (s *serverNode) say(now time.Time) simnet.Output {
	out := simnet.Output{WakeAt: now.Add(repeatAfter)}
	if out.WakeAt.After(s.ends) || len(s.last) == 0 {
		out.WakeAt = s.ends
	}
	for _, m := range s.last {
		out.Send = append(out.Send, simnet.Message{To: s.w.names[m.To], Body: m.Body})
	}
	return out
}

func (s *serverNode) close(now time.Time) simnet.Output {
	out, err := s.server.Close(s.server.Phase())
	if err != nil {
		s.w.refused(err)
		if s.server.Phase() != secagg.Abandoned {
			s.w.t.Fatalf("closing failed and the round goes on: %v", err)
		}
		s.w.finish("abandoned")
		return simnet.Output{}
	}
	if out.Unmasking != nil {
		s.release(out.Unmasking)
		return simnet.Output{}
	}
	if s.server.Phase() == secagg.Upload {
		if s.sums, err = s.server.Aggregator(0, s.w.p.Chunks()); err != nil {
			s.w.t.Fatal(err)
		}
	}
	s.last, s.ends = out.Send, now.Add(phaseLasts)
	return s.say(now)
}

// release opens the sum and compares it with what the onlooker adds up.
func (s *serverNode) release(u *secagg.Unmasking) {
	w := s.w
	var sum []int64
	for chunk := range w.p.Chunks() {
		var noise secagg.LayerNoise
		if w.p.Layers > 0 {
			noise = layerNoise
		}
		part, err := s.sums.Sum(chunk, u, noise)
		if err != nil {
			w.t.Fatalf("a round that is done has no sum: %v\n%s", err, w.net.Trace())
		}
		sum = append(sum, part...)
	}
	survivors := u.Survivors()
	want, count := make([]int64, w.p.Dim), 0
	for name, id := range s.ids {
		place, member := s.server.Place(id)
		if !member || !survivors[place] {
			continue
		}
		count++
		for i, v := range w.vectors[name] {
			want[i] += v
		}
	}
	if count < w.p.MinSurvivors {
		w.t.Fatalf("a sum over %d survivors was released, the minimum is %d", count, w.p.MinSurvivors)
	}
	for name, id := range s.ids { // of the layers, as many are left as clients are missing
		if place, member := s.server.Place(id); member && survivors[place] && w.p.Layers > 0 {
			for l := range w.p.Cohort - count {
				for i, v := range w.layers[name][l] {
					want[i] += v
				}
			}
		}
	}
	shift := 64 - w.p.Bits
	for i := range want {
		want[i] = want[i] << shift >> shift
	}
	if !slices.Equal(sum, want) {
		w.finish("a wrong sum")
		return
	}
	w.finish("sum")
}
