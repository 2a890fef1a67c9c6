package kernel

import (
	"crypto/aes"
	"encoding/binary"
	"unsafe"
)

// AddMasked32 adds the next words of the stream, 32 bits each and little endian, to dst, or subtracts them. Results are taken
// modulo mask+1, a power of two. The stream moves on by whole chunks: what is left of the last one is lost.
func (k *Keystream) AddMasked32(dst []uint32, mask uint32, subtract bool) {
	if whole := len(dst) / (Chunk / 4); k.block == nil && whole > 0 {
		if subtract {
			subtractKeystream32(&dst[0], whole, &k.keys, k.counter, uint64(mask))
		} else {
			addKeystream32(&dst[0], whole, &k.keys, k.counter, uint64(mask))
		}
		k.counter += uint64(whole) * (Chunk / aes.BlockSize)
		dst = dst[whole*(Chunk/4):]
	}
	addMasked(k, dst, mask, subtract)
}

// AddMasked64 is [Keystream.AddMasked32] for words of 64 bits.
func (k *Keystream) AddMasked64(dst []uint64, mask uint64, subtract bool) {
	if whole := len(dst) / (Chunk / 8); k.block == nil && whole > 0 {
		if subtract {
			subtractKeystream64(&dst[0], whole, &k.keys, k.counter, mask)
		} else {
			addKeystream64(&dst[0], whole, &k.keys, k.counter, mask)
		}
		k.counter += uint64(whole) * (Chunk / aes.BlockSize)
		dst = dst[whole*(Chunk/8):]
	}
	addMasked(k, dst, mask, subtract)
}

// addMasked expands a few chunks, which stay in the first cache, and adds them.
func addMasked[T uint32 | uint64](k *Keystream, dst []T, mask T, subtract bool) {
	if len(dst) == 0 {
		return
	}
	size := unsafe.Sizeof(mask)
	sign := T(0)
	if subtract {
		sign = ^sign
	}
	var words [8 * Chunk]byte
	for len(dst) > 0 {
		some := dst[:min(len(dst), len(words)/int(size))]
		stream := words[:(len(some)*int(size)+Chunk-1)/Chunk*Chunk]
		k.Fill(stream)
		if size == 4 {
			for i := range some {
				word := T(binary.LittleEndian.Uint32(stream[4*i : 4*i+4]))
				some[i] = (some[i] + (word ^ sign) - sign) & mask
			}
		} else {
			for i := range some {
				word := T(binary.LittleEndian.Uint64(stream[8*i : 8*i+8]))
				some[i] = (some[i] + (word ^ sign) - sign) & mask
			}
		}
		dst = dst[len(some):]
	}
	clear(words[:])
}
