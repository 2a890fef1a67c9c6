package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// A mask is the AES-256-CTR stream of a seed, counter zero first, read as little-endian words: element i of the vector is masked by
// word i, reduced modulo 2^b. Words have 32 bits for b up to 32, else 64.
//
// addMask adds elements [from, from+len(dst)) of a mask, or subtracts them. from is a multiple of ChunkUnit.
func addMask[W word](dst []W, seed *Seed, from int, subtract bool) {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("secagg: internal error: " + err.Error()) // 32 bytes are a key
	}
	var width = wordSize[W]()
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint64(iv[8:], uint64(from)*uint64(width)/aes.BlockSize)
	stream := cipher.NewCTR(block, iv[:])
	var buffer [8192]byte
	for len(dst) > 0 {
		n := min(len(dst), len(buffer)/width)
		part := buffer[:n*width]
		clear(part)
		stream.XORKeyStream(part, part)
		addWords(dst[:n], part, subtract)
		dst = dst[n:]
	}
}

func wordSize[W word]() int {
	if W(1)<<31<<1 == 0 {
		return 4
	}
	return 8
}

func addWords[W word](dst []W, stream []byte, subtract bool) {
	switch d := any(dst).(type) {
	case []uint32:
		if subtract {
			for i := range d {
				d[i] -= binary.LittleEndian.Uint32(stream[4*i:])
			}
		} else {
			for i := range d {
				d[i] += binary.LittleEndian.Uint32(stream[4*i:])
			}
		}
	case []uint64:
		if subtract {
			for i := range d {
				d[i] -= binary.LittleEndian.Uint64(stream[8*i:])
			}
		} else {
			for i := range d {
				d[i] += binary.LittleEndian.Uint64(stream[8*i:])
			}
		}
	}
}
