package experiment

import (
	"fmt"
	"math"
	"slices"

	"hubbub/noise"
	"hubbub/statement"
)

// overClip is how many times the clip norm the target's update has: what is over must be taken off.
const overClip = 8

// sums plays games about the updates of clients: one client's update goes through the real mechanism, together with others'.
type sums struct {
	f         *Federation
	encoder   encoder
	update    []float32 // of the target, with
	otherwise []float32 // of the target, without
	others    int       // further contributors, whose updates are zero
	alone     bool      // the adversary sees the target's contribution, not a sum
	rate      float64   // chance that the target takes part
	absent    bool      // without it, the target does not take part at all
}

// newSums is for a mechanism on updates.
func newSums(f *Federation) (*sums, error) {
	client, ok := f.way.client.(updates)
	if !ok {
		return nil, fmt.Errorf("audit: internal error: %s has no mechanism on updates", f.Config.Privacy.Mechanism.Kind)
	}
	return &sums{f: f, encoder: client.mechanism, otherwise: make([]float32, f.Net.Size()), rate: 1}, nil
}

// round makes what is released of one round, from the keys that a run would use.
func (s *sums) round(t *table, mean []float32, update []float32, client func(n int) *noise.Stream, server *noise.Stream) error {
	sum := t.worker.sum
	clear(sum)
	if update != nil {
		if err := s.encoder.Contribute(sum, update, client(0)); err != nil {
			return err
		}
	}
	if !s.alone {
		nothing := t.worker.update
		for n := range s.others {
			if err := s.encoder.Contribute(sum, nothing, client(1+n)); err != nil {
				return err
			}
		}
		s.f.way.server.ServerNoise(sum, server)
	}
	s.f.way.server.Decode(mean, sum, 1)
	return nil
}

// target is the target's update in a trial; nil when it does not take part.
func (s *sums) target(with bool, random *noise.Stream) []float32 {
	in := s.rate == 1 || random.Coin(s.rate)
	switch {
	case with && in:
		return s.update
	case s.absent:
		return nil
	}
	return s.otherwise
}

// once is one round, seen as it is released.
func (s *sums) once(t *table, seen []float32, with bool) error {
	stream := func(int) *noise.Stream { return t.random }
	return s.round(t, seen, s.target(with, t.random), stream, t.random)
}

// twice is the difference of two rounds: the target's update is in the first only.
func (s *sums) twice(reuse bool) player {
	return func(t *table, seen []float32, with bool) error {
		f := *s.f // with keys of its own in each trial
		key, err := noise.NewKey(keys{t.random})
		if err != nil {
			return err
		}
		f.key = key
		second := make([]float32, len(seen))
		for i, out := range [][]float32{seen, second} {
			round := 1 + i
			update := s.otherwise
			if with && i == 0 {
				update = s.update
			}
			keyed := round
			if reuse {
				keyed = 1
			}
			client := func(n int) *noise.Stream { return f.clientKey(keyed, n).Derive("noise").Stream() }
			if err := s.round(t, out, update, client, f.serverKey(keyed).Stream()); err != nil {
				return err
			}
		}
		for i, v := range second {
			seen[i] -= v
		}
		return nil
	}
}

// keys reads keys from a stream.
type keys struct{ random *noise.Stream }

func (k keys) Read(p []byte) (int, error) {
	k.random.Fill(p)
	return len(p), nil
}

// masked is the target's contribution as secure aggregation shows it to the server: plus a mask, modulo 2^bits.
func (s *sums) masked(bits, maskBits int) player {
	return func(t *table, seen []float32, with bool) error {
		sum := t.worker.sum
		clear(sum)
		if err := s.encoder.Contribute(sum, s.target(with, t.random), t.random); err != nil {
			return err
		}
		for i, v := range sum {
			mask := int64(t.random.Uint64() >> (64 - maskBits))
			seen[i] = float32((v + mask) & (1<<bits - 1))
		}
		return nil
	}
}

// energy is the squared norm.
func energy(seen []float32) float64 {
	sum := 0.0
	for _, v := range seen {
		sum += float64(v) * float64(v)
	}
	return sum
}

// largest is the largest number that is seen: a mask that does not reach everywhere shows at its end.
func largest(seen []float32) float64 { return float64(slices.Max(seen)) }

// directions are updates that may be worst: along one coordinate, two, or all of them.
func directions(dimension int, norm float64) [][]float32 {
	var list [][]float32
	for _, n := range []int{1, 2, dimension} {
		x := make([]float32, dimension)
		for i := range n {
			x[i] = float32(norm / math.Sqrt(float64(n)))
		}
		list = append(list, x)
	}
	return list
}

// claim is the row of a statement for so many rounds in which the target took part.
func (f *Federation) claim(against statement.Adversary, rounds int) (statement.Row, error) {
	facts := f.Facts
	facts.Rounds = rounds
	facts.Took = make([]int, len(f.Parts))
	for i := range facts.Took {
		facts.Took[i] = rounds
	}
	return facts.Row(against, facts.Unit)
}
