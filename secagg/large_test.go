package secagg

import (
	"runtime"
	"slices"
	"testing"
)

// The last chunk of the longest vector costs what the first one does: nobody makes what comes before it, or holds it.
func TestTheLastOfManyChunksStandsAlone(t *testing.T) {
	for _, bits := range []int{20, 40} {
		p := Params{Cohort: 3, Threshold: 2, MinSurvivors: 3, Dim: MaxDim, Bits: bits}
		x := seat(t, p, 4)
		last := p.Chunks() - 1
		sums, err := x.server.Aggregator(last, last+1)
		x.must(err)
		plain := make([]int64, p.ChunkLen(last))
		u := &Unmasking{root: x.server.cohort.root, survivors: set{true, true, true}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i, c := range x.clients {
			values := make([]int64, len(plain))
			for j := range values {
				values[j] = int64(i*j) % 1000
				plain[j] += values[j]
			}
			message, err := c.MaskedChunk(last, values)
			x.must(err)
			x.must(sums.Add(i, message))
			u.masks = append(u.masks, signedSeed{c.self, true})
		}
		sum, err := sums.Sum(last, u, nil)
		x.must(err)
		runtime.ReadMemStats(&after)
		if !slices.Equal(sum, plain) {
			t.Errorf("%d bits: wrong sum in chunk %d", bits, last)
		}
		// three vectors of a chunk for each of three clients, and the sum: far below the 800 MB of one vector
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(30*8*DefaultChunk); used > most {
			t.Errorf("%d bits: %d bytes were allocated, at most %d are expected", bits, used, most)
		}
	}
}

// What a client sends besides its vector is keys and shares; the vector itself is packed without loss.
func TestBytesOnTheWire(t *testing.T) {
	p := Params{Cohort: 100, Threshold: 67, MinSurvivors: 67, Dim: 100_000, Bits: 17}
	total := 0
	for i := range p.Chunks() {
		total += p.ChunkSize(i)
	}
	if exact := p.Dim * p.Bits / 8; total < exact || total > exact+exact/100 {
		t.Errorf("%d bytes for a vector of %d", total, exact)
	}
	if shares := headerSize + 99*boxSize(&p); shares != 33+99*96 {
		t.Errorf("%d bytes of shares", shares)
	}
}
