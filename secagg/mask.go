package secagg

import "hubbub/internal/kernel"

// addMask adds elements [from, from+len(dst)) of a seed's mask to a vector, or subtracts them. from is a multiple of ChunkUnit.
//
// A mask is the AES-256-CTR stream of the seed, counter zero first, read as little-endian words: element i of the vector is masked
// by word i, modulo 2^b. Words have 32 bits for b up to 32, else 64.
func addMask[W word](dst []W, seed *Seed, from int, subtract bool) {
	stream := kernel.NewKeystream(*seed)
	switch dst := any(dst).(type) {
	case []uint32:
		stream.Seek(uint64(from) * 4 / kernel.Chunk)
		stream.AddMasked32(dst, 1<<32-1, subtract)
	case []uint64:
		stream.Seek(uint64(from) * 8 / kernel.Chunk)
		stream.AddMasked64(dst, 1<<64-1, subtract)
	}
}
