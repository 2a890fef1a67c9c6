package secagg

import (
	"hash/crc32"

	"hubbub/internal/kernel"
)

// Aggregator adds up the masked chunks of a range. Several of them, on one machine or many, can share a vector; each keeps the sum of every
// chunk of its range that has begun to arrive, and nothing of a single client but that its chunk came.
//
// A client that vanishes in the middle of its upload has chunks in some sums. They must be taken out with Remove before such a chunk can be
// unmasked, so whoever runs an aggregator keeps uploads until they are complete.
//
// Different chunks may be worked on at the same time, one chunk by one goroutine only.
type Aggregator struct {
	p           Params
	root        [32]byte
	clients     int
	first, last int // chunks [first, last)
	chunks      []partial
}

type partial struct {
	from   []uint32 // for each client 1 + a checksum of its chunk; 0: it did not come
	sum32  []uint32 // for up to 32 bits
	sum64  []uint64 // above
	opened bool
}

// Aggregator makes one for the chunks from first up to, not including, last. It is there once keys were shared.
func (s *Server) Aggregator(first, last int) (*Aggregator, error) {
	if s.cohort == nil {
		return nil, ErrEarly
	}
	return NewAggregator(s.p, s.cohort.root, len(s.cohort.adverts), first, last)
}

// Root is the hash that stands for the cohort, once keys were advertised.
func (s *Server) Root() (root [32]byte, clients int, ok bool) {
	if s.cohort == nil {
		return root, 0, false
	}
	return s.cohort.root, len(s.cohort.adverts), true
}

// NewAggregator makes an aggregator away from the server, from what Server.Root gives.
func NewAggregator(p Params, root [32]byte, clients, first, last int) (*Aggregator, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if first < 0 || last > p.Chunks() || first >= last {
		return nil, refuse(ErrParams, "chunks [%d, %d) of %d", first, last, p.Chunks())
	}
	if clients < p.MinSurvivors || clients > p.Cohort {
		return nil, refuse(ErrParams, "%d clients outside [%d, %d]", clients, p.MinSurvivors, p.Cohort)
	}
	return &Aggregator{p: p, root: root, clients: clients, first: first, last: last, chunks: make([]partial, last-first)}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// decodeChunk checks a chunk's message and gives its number and the packed values.
func decodeChunk(p *Params, root *[32]byte, message []byte) (int, []byte, error) {
	r, err := open(message, kindChunk, root)
	if err != nil {
		return 0, nil, err
	}
	number := r.number()
	if r.short || number >= uint32(p.Chunks()) {
		return 0, nil, refuse(ErrMalformed, "chunk %d of %d", number, p.Chunks())
	}
	i := int(number)
	packed := r.take(kernel.PackedSize(p.ChunkLen(i), p.Bits))
	if err := r.end(); err != nil {
		return 0, nil, err
	}
	if padded(packed, p.ChunkLen(i), p.Bits) {
		return 0, nil, refuse(ErrMalformed, "bits set behind the last value")
	}
	return i, packed, nil
}

func (a *Aggregator) find(place int, message []byte) (*partial, []byte, uint32, error) {
	if place < 0 || place >= a.clients {
		return nil, nil, 0, refuse(ErrUnknown, "client %d of %d", place, a.clients)
	}
	i, packed, err := decodeChunk(&a.p, &a.root, message)
	if err != nil {
		return nil, nil, 0, err
	}
	if i < a.first || i >= a.last {
		return nil, nil, 0, refuse(ErrMalformed, "chunk %d is not in [%d, %d)", i, a.first, a.last)
	}
	c := &a.chunks[i-a.first]
	if c.opened {
		return nil, nil, 0, refuse(ErrStale, "chunk %d was unmasked", i)
	}
	if c.from == nil {
		c.from = make([]uint32, a.clients)
		if a.p.Bits <= 32 {
			c.sum32 = make([]uint32, a.p.ChunkLen(i))
		} else {
			c.sum64 = make([]uint64, a.p.ChunkLen(i))
		}
	}
	check := crc32.Checksum(packed, castagnoli)
	return c, packed, max(1, check), nil
}

// Add takes a chunk of the client with that place in the cohort. A repeated chunk changes nothing; a different one is ErrConflict.
func (a *Aggregator) Add(place int, message []byte) error {
	c, packed, check, err := a.find(place, message)
	if err != nil {
		return err
	}
	switch c.from[place] {
	case 0:
		c.from[place] = check
		c.add(packed, a.p.Bits, false)
		return nil
	case check:
		return nil
	}
	return refuse(ErrConflict, "a chunk of client %d", place)
}

// Remove takes a chunk out again that was added before.
func (a *Aggregator) Remove(place int, message []byte) error {
	c, packed, check, err := a.find(place, message)
	if err != nil {
		return err
	}
	if c.from[place] != check {
		return refuse(ErrConflict, "client %d did not add this chunk", place)
	}
	c.from[place] = 0
	c.add(packed, a.p.Bits, true)
	return nil
}

func (c *partial) add(packed []byte, bits int, subtract bool) {
	if c.sum32 != nil {
		addPacked(c.sum32, packed, bits, subtract)
	} else {
		addPacked(c.sum64, packed, bits, subtract)
	}
}

// Has reports whether every chunk of the range came from a client.
func (a *Aggregator) Has(place int) bool {
	for i := range a.chunks {
		if c := &a.chunks[i]; c.from == nil || c.from[place] == 0 {
			return false
		}
	}
	return true
}

// Sum unmasks a chunk: the sum of the survivors' values modulo 2^b, each in [-2^(b-1), 2^(b-1)). It can be had once. noise is needed if
// the parameters have layers.
func (a *Aggregator) Sum(chunk int, u *Unmasking, noise LayerNoise) ([]int64, error) {
	if chunk < a.first || chunk >= a.last {
		return nil, refuse(ErrVector, "chunk %d is not in [%d, %d)", chunk, a.first, a.last)
	}
	if u.root != a.root {
		return nil, ErrOtherRound
	}
	if (len(u.layers) > 0) && noise == nil {
		return nil, refuse(ErrParams, "layers of noise are to be removed and no function draws them")
	}
	c := &a.chunks[chunk-a.first]
	if c.opened {
		return nil, refuse(ErrStale, "chunk %d was unmasked", chunk)
	}
	if c.from == nil {
		return nil, refuse(ErrIncomplete, "chunk %d: nothing came", chunk)
	}
	for place, survived := range u.survivors {
		if came := c.from[place] != 0; came != survived {
			return nil, refuse(ErrIncomplete, "chunk %d of client %d: came %t, survivor %t", chunk, place, came, survived)
		}
	}
	var sum []int64
	if c.sum32 != nil {
		sum = unmask(c.sum32, u, chunk*a.p.chunk(), a.p.Bits)
	} else {
		sum = unmask(c.sum64, u, chunk*a.p.chunk(), a.p.Bits)
	}
	u.removeLayers(sum, &a.p, chunk, noise)
	c.opened, c.sum32, c.sum64 = true, nil, nil
	return sum, nil
}
