package kernel

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Chunk is the number of bytes that a [Keystream] makes at once.
const Chunk = 512

// Keystream is AES-256 in counter mode, counter zero first, big endian (NIST SP 800-38A).
type Keystream struct {
	block    cipher.Block  // nil if the fast version runs
	portable cipher.Stream // of block, at counter
	keys     [15][16]byte  // the fast version's
	counter  uint64        // of cipher blocks
}

// NewKeystream starts the stream of a key.
func NewKeystream(key [32]byte) *Keystream {
	k := new(Keystream)
	k.Start(key)
	return k
}

// Start begins the stream of another key, in the same memory.
func (k *Keystream) Start(key [32]byte) {
	if hasVAES {
		*k = Keystream{keys: roundKeys(key)}
		return
	}
	*k = *portableKeystream(key)
}

func portableKeystream(key [32]byte) *Keystream {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("kernel: internal error: " + err.Error()) // 32 bytes are a key
	}
	return &Keystream{block: block, portable: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

// Seek moves to the start of a chunk: byte chunk·[Chunk] of the stream.
func (k *Keystream) Seek(chunk uint64) {
	const blocks = Chunk / aes.BlockSize
	if chunk > math.MaxUint64/blocks {
		panic(fmt.Sprintf("kernel: internal error: the stream has no chunk %d", chunk))
	}
	k.seek(chunk * blocks)
}

func (k *Keystream) seek(block uint64) {
	k.counter = block
	if k.block != nil {
		first := make([]byte, aes.BlockSize)
		binary.BigEndian.PutUint64(first[8:], k.counter)
		k.portable = cipher.NewCTR(k.block, first)
	}
}

// Fast says if the cipher is this package's, not the standard library's, which is slower to move.
func (k *Keystream) Fast() bool { return k.block == nil }

// Move goes on, or back, by so many blocks of the cipher.
func (k *Keystream) Move(blocks int64) { k.seek(k.counter + uint64(blocks)) }

// Fill overwrites dst, a multiple of [Chunk] bytes, with the next bytes of the stream.
func (k *Keystream) Fill(dst []byte) {
	if len(dst)%Chunk != 0 {
		panic("kernel: internal error: part of a chunk asked for")
	}
	if len(dst) == 0 {
		return
	}
	if k.block != nil {
		clear(dst)
		k.portable.XORKeyStream(dst, dst)
	} else {
		keystreamFast(dst, &k.keys, k.counter)
	}
	k.counter += uint64(len(dst) / aes.BlockSize)
}

// roundKeys is the key expansion of AES-256 (FIPS 197, section 5.2).
func roundKeys(key [32]byte) (keys [15][16]byte) {
	var w [60]uint32
	for i := range 8 {
		w[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	roundConstant := uint32(1)
	for i := 8; i < len(w); i++ {
		t := w[i-1]
		switch i % 8 {
		case 0:
			t = subWord(bits.RotateLeft32(t, -8)) ^ roundConstant
			roundConstant <<= 1
		case 4:
			t = subWord(t)
		}
		w[i] = w[i-8] ^ t
	}
	for i, x := range w {
		binary.LittleEndian.PutUint32(keys[i/4][4*(i%4):], x)
	}
	return keys
}
