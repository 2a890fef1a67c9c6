package secagg_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"hubbub/secagg"
)

// Who vanishes when decides how a round ends, and a few comparisons of counts say how: the machines must come to the same. 60 rounds with
// settings and schedules from one seed.
func TestTheOutcomeFollowsFromTheCounts(t *testing.T) {
	random := rand.New(seeded(2024))
	ended := map[bool]int{}
	for round := range 60 {
		n := 3 + random.IntN(8)
		p := secagg.Params{Cohort: n, MinSurvivors: 3 + random.IntN(n-2), Dim: 1 + random.IntN(300), Bits: 1 + random.IntN(secagg.MaxBits), Chunk: secagg.ChunkUnit}
		p.Threshold = 2 + random.IntN(p.MinSurvivors-1)
		vanish := map[secagg.Phase][]int{}
		left, contributed := all(n), []int(nil)
		opens := true
		for phase := secagg.Advertise; phase < secagg.Done; phase++ {
			for _, i := range slices.Clone(left) {
				if random.IntN(14) == 0 {
					vanish[phase] = append(vanish[phase], i)
					left = without(left, i)
				}
			}
			if phase == secagg.Upload {
				contributed = left
			}
			least := p.MinSurvivors
			if phase > secagg.Upload {
				least = p.Threshold
			}
			opens = opens && len(left) >= least
		}
		f := federate(t, p, nil, uint64(round))
		_, sum, err := f.run(vanish)
		ended[opens]++
		switch {
		case opens && err != nil:
			t.Errorf("round %d, %v: %v", round, vanish, err)
		case opens && !slices.Equal(sum, f.plainSum(contributed)):
			t.Errorf("round %d, %v: wrong sum", round, vanish)
		case !opens && !errors.Is(err, secagg.ErrAbandoned):
			t.Errorf("round %d, %v: too few are left and the error is %v", round, vanish, err)
		}
	}
	if ended[true] < 10 || ended[false] < 10 {
		t.Errorf("%d rounds opened and %d abandoned: the schedules try too little of one", ended[true], ended[false])
	}
}

// The bytes of a round are a function of the seeds alone. Whoever changes this value changes what clients and servers of different versions say
// to each other, and must raise the version in the strings that everything is bound to ("hubbub secagg 1").
func TestTheWireFormatIsFixed(t *testing.T) {
	const want = "7bec27213ccc78174ccaa2f8732a740043abfb8e0e2396096e34efc7f1cddb92"
	p := setting(4, 200, 13)
	p.Layers, p.MinSurvivors = 1, 3
	f := federate(t, p, marker, 1)
	hash := sha256.New()
	record := func(message []byte) []byte { hash.Write(message); return message }
	for i, c := range f.clients {
		if err := f.server.Handle(f.id(i), record(c.Advertise())); err != nil {
			t.Fatal(err)
		}
	}
	f.gone[3] = true
	for phase := range secagg.Done {
		if phase == secagg.Upload {
			for i, c := range f.clients[:3] {
				for chunk, values := range [][]int64{f.vectors[i][:128], f.vectors[i][128:]} {
					message, err := c.MaskedChunk(chunk, values)
					if err != nil {
						t.Fatal(err)
					}
					record(message)
				}
				if err := f.server.Uploaded(f.id(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		out, err := f.server.Close(phase)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Send {
			if i := f.byID[m.To]; i < 3 || phase < secagg.Share {
				answer, err := f.clients[i].Handle(record(m.Body))
				if err != nil {
					t.Fatal(err)
				}
				if answer != nil {
					if err := f.server.Handle(m.To, record(answer)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if out.Unmasking != nil {
			record(out.Unmasking.Encode())
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("the messages of a round hash to %s, not %s", got, want)
	}
}
