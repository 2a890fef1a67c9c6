package secagg

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"hubbub/internal/kernel"
	"hubbub/secagg/graph"
	"hubbub/secagg/shamir"
)

// Limits of what parameters may ask for.
const (
	MaxCohort = 1 << 17
	MaxBits   = 62
	MaxDim    = 100_000_000
	MaxChunk  = 1 << 24
	MaxLayers = 1 << 10

	// CompleteUpTo is the largest cohort in which everybody shares with everybody.
	CompleteUpTo = graph.CompleteUpTo
	// DefaultChunk is the number of elements of a chunk unless the parameters say otherwise: 256 KiB of 32-bit words.
	DefaultChunk = 1 << 16
	// ChunkUnit divides the number of elements of a chunk, so that every chunk of a mask begins at a chunk of the cipher's stream.
	ChunkUnit = 128
)

// Params is what a round is about. The server proposes them, a client checks them against its policy, and every key, seal and
// signature is bound to all of them.
//
// In a cohort above CompleteUpTo, degree and threshold follow from the number of clients that advertised keys, from Colluders and
// from MinSurvivors, by secagg/graph for 40 bits of security: nobody proposes them.
type Params struct {
	Round     [32]byte // names the round; never used twice
	ModelHash [32]byte // of the model that clients start from: one that was shown another model cannot take part

	Cohort       int // clients invited: at least 3
	Threshold    int // t: shares that restore a secret, and signatures that a client wants to see; 0 above CompleteUpTo
	MinSurvivors int // fewer contributions: the round is abandoned and nothing is unmasked; at least 3
	Colluders    int // c: clients that may side with the server

	Dim   int // elements of the vector
	Bits  int // b: sums are modulo 2^b
	Chunk int // elements of a chunk, a multiple of ChunkUnit; 0: DefaultChunk

	Layers int  // T: removable layers of noise, for up to T dropouts; 0: none
	Hybrid bool // keys stand on X25519 and ML-KEM-768 both, so that both must be broken; crypto/mlkem draws from the system's generator
}

const paramsSize = 2*32 + 8*4 + 1

// Check refuses what cannot work.
func (p Params) Check() error {
	for _, rule := range []struct {
		name            string
		value, min, max int
	}{
		{"cohort", p.Cohort, 3, MaxCohort},
		{"minimum of survivors", p.MinSurvivors, 3, p.Cohort},
		{"colluders", p.Colluders, 0, p.Cohort},
		{"dimension", p.Dim, 1, MaxDim},
		{"bits", p.Bits, 1, MaxBits},
		{"chunk", p.chunk(), ChunkUnit, MaxChunk},
		{"layers", p.Layers, 0, min(MaxLayers, p.Cohort)},
	} {
		if rule.value < rule.min || rule.value > rule.max {
			return refuse(ErrParams, "%s %d outside [%d, %d]", rule.name, rule.value, rule.min, rule.max)
		}
	}
	if p.chunk()%ChunkUnit != 0 {
		return refuse(ErrParams, "chunk %d is no multiple of %d", p.Chunk, ChunkUnit)
	}
	if !p.complete() {
		if p.Threshold != 0 {
			return refuse(ErrParams, "threshold %d for a cohort above %d, where it is computed: leave it out", p.Threshold, CompleteUpTo)
		}
		if _, err := p.plan(p.Cohort); err != nil {
			return refuse(ErrParams, "%w", err)
		}
	} else {
		if p.Threshold < 2 || p.Threshold > p.MinSurvivors {
			return refuse(ErrParams, "threshold %d outside [2, %d], the minimum of survivors", p.Threshold, p.MinSurvivors)
		}
		if p.Colluders >= p.Threshold {
			return refuse(ErrParams, "%d colluders hold the threshold of %d shares among themselves", p.Colluders, p.Threshold)
		}
	}
	if p.Layers > 0 && p.Cohort-p.MinSurvivors > p.Layers {
		return refuse(ErrParams, "%d layers of noise for up to %d dropouts: raise the layers or the minimum of survivors",
			p.Layers, p.Cohort-p.MinSurvivors)
	}
	return nil
}

// Neighbours is the number of clients that each shares masks with; 0 for impossible parameters.
func (p Params) Neighbours() int {
	plan, err := p.plan(p.Cohort)
	if err != nil {
		return 0
	}
	return plan.Degree
}

// SentBytes is what a client sends in a round in which nobody drops out: keys, sealed shares, the masked vector, a signature, and for each
// secret that it holds a share of that share, of the self mask and of the first layer that is removed. 0 for impossible parameters.
func (p Params) SentBytes() int {
	plan, err := p.plan(p.Cohort)
	if err != nil {
		return 0
	}
	perReveal := 1
	if p.Layers > 0 {
		perReveal = 2 // of the self mask, and of the first layer that is removed
	}
	sent := headerSize + advertSize(&p) + headerSize + plan.Degree*boxSize(&p) + headerSize + 64 + headerSize + plan.Shares*perReveal*shamir.ValueSize
	for i := range p.Chunks() {
		sent += p.ChunkSize(i)
	}
	return sent
}

// complete says whether everybody shares with everybody.
func (p Params) complete() bool { return p.Cohort <= CompleteUpTo }

func (p Params) chunk() int {
	if p.Chunk == 0 {
		return DefaultChunk
	}
	return p.Chunk
}

// Chunks is the number of chunks of a vector.
func (p Params) Chunks() int { return (p.Dim + p.chunk() - 1) / p.chunk() }

// ChunkLen is the number of elements of chunk i: all are equally long but the last.
func (p Params) ChunkLen(i int) int { return min(p.chunk(), p.Dim-i*p.chunk()) }

// ChunkSize is the number of bytes of the message that carries chunk i.
func (p Params) ChunkSize(i int) int {
	return headerSize + 4 + kernel.PackedSize(p.ChunkLen(i), p.Bits)
}

// Encode gives the one encoding of the parameters.
func (p Params) Encode() []byte {
	b := make([]byte, 0, paramsSize)
	b = append(b, p.Round[:]...)
	b = append(b, p.ModelHash[:]...)
	for _, n := range []int{p.Cohort, p.Threshold, p.MinSurvivors, p.Colluders, p.Dim, p.Bits, p.Chunk, p.Layers} {
		b = appendNumber(b, n)
	}
	if p.Hybrid {
		return append(b, 1)
	}
	return append(b, 0)
}

// DecodeParams reads what Encode wrote, and checks it.
func DecodeParams(encoded []byte) (Params, error) {
	var p Params
	if len(encoded) != paramsSize || encoded[paramsSize-1] > 1 {
		return p, refuse(ErrMalformed, "%d bytes are no parameters", len(encoded))
	}
	r := reader{rest: encoded}
	p.Round, p.ModelHash = r.hash(), r.hash()
	for _, n := range []*int{&p.Cohort, &p.Threshold, &p.MinSurvivors, &p.Colluders, &p.Dim, &p.Bits, &p.Chunk, &p.Layers} {
		*n = int(binary.LittleEndian.Uint32(r.take(4)) & (1<<31 - 1))
	}
	p.Hybrid = encoded[paramsSize-1] == 1
	if err := p.Check(); err != nil {
		return Params{}, err
	}
	if string(p.Encode()) != string(encoded) { // a top bit was set
		return Params{}, refuse(ErrMalformed, "a number of the parameters is past 2^31")
	}
	return p, nil
}

// Accept reads the parameters that a server proposes, for a client that was sent a model with this hash. The client computes the hash
// itself: a server that shows every client a model of its own, to read one of them out of the sum, proposes another.
func Accept(proposal []byte, model [32]byte) (Params, error) {
	p, err := DecodeParams(proposal)
	if err != nil {
		return Params{}, err
	}
	if p.ModelHash != model {
		return Params{}, refuse(ErrOtherRound, "the proposal is about another model than the one that came")
	}
	return p, nil
}

// context is the hash that stands for the parameters in everything that is signed, sealed or derived.
func (p Params) context() [32]byte {
	if !enforced(checkModel) {
		p.ModelHash = [32]byte{}
	}
	return sha256.Sum256(append([]byte("hubbub secagg 1 parameters\x00"), p.Encode()...))
}

// String names the setting, not the round.
func (p Params) String() string {
	threshold := fmt.Sprintf("threshold %d", p.Threshold)
	if plan, err := p.plan(p.Cohort); err == nil && !plan.Complete {
		threshold = fmt.Sprintf("%d neighbours each, threshold %d", plan.Degree, plan.Threshold)
	}
	return fmt.Sprintf("%d clients, %s, at least %d survivors, %d elements modulo 2^%d", p.Cohort, threshold, p.MinSurvivors, p.Dim, p.Bits)
}
