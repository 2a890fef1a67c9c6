package kernel

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// ctr is the standard library's stream from a byte on.
func ctr(key [32]byte, from, n int) []byte {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	out := make([]byte, from+n)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(out, out)
	return out[from:]
}

func TestMasksAreTheStandardLibrarysStreamFromAnyChunkOn(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 1000, 1024, 1025, 3000} {
		for _, chunk := range []int{0, 1, 7, 8, 300} {
			for _, bits := range []uint{1, 8, 20, 31, 32, 33, 61, 62, 64} {
				for _, subtract := range []bool{false, true} {
					key := [32]byte(randomBytes(uint64(n), 32))
					mask := uint64(1)<<bits - 1
					if bits == 64 {
						mask = ^uint64(0)
					}
					stream := ctr(key, chunk*Chunk, 8*n)
					start, start32 := make([]uint64, n+1), make([]uint32, n+1)
					for i := range start {
						start[i] = r.Uint64() & mask
						start32[i] = uint32(start[i])
					}
					want, want32 := slices.Clone(start), slices.Clone(start32)
					for i := range n {
						word, word32 := binary.LittleEndian.Uint64(stream[8*i:]), binary.LittleEndian.Uint32(stream[4*i:])
						if subtract {
							word, word32 = -word, -word32
						}
						want[i], want32[i] = (want[i]+word)&mask, (want32[i]+word32)&uint32(mask)
					}
					for name, k := range map[string]*Keystream{"chosen": NewKeystream(key), "portable": portableKeystream(key)} {
						got, got32 := slices.Clone(start), slices.Clone(start32)
						k.Fill(make([]byte, Chunk)) // Seek must forget where it was
						k.Seek(uint64(chunk))
						k.AddMasked64(got[:n], mask, subtract)
						k.Seek(uint64(chunk))
						if k.AddMasked32(got32[:n], uint32(mask), subtract); !slices.Equal(got, want) || !slices.Equal(got32, want32) {
							t.Fatalf("%s: %d words of %d bits from chunk %d on, subtract %v: not the definition's", name, n, bits, chunk, subtract)
						}
					}
				}
			}
		}
	}
}

func TestMaskingGoesOnWithTheNextChunk(t *testing.T) {
	key := [32]byte{9}
	for name, k := range map[string]*Keystream{"chosen": NewKeystream(key), "portable": portableKeystream(key)} {
		for _, step := range []struct{ words, chunks int }{{1, 1}, {128, 1}, {129, 2}, {1300, 11}, {5, 1}} {
			before := k.counter
			if k.block == nil {
				k.AddMasked32(make([]uint32, step.words), 1, false)
				if got := int(k.counter-before) / 32; got != step.chunks {
					t.Errorf("%s: %d words took %d chunks, want %d", name, step.words, got, step.chunks)
				}
			}
		}
	}
	const far = 1 << 50 // a chunk nobody gets to one by one
	a, b := NewKeystream(key), portableKeystream(key)
	a.Seek(far)
	b.Seek(far)
	x, y := make([]uint32, 1000), make([]uint32, 1000)
	for range 3 {
		a.AddMasked32(x, 1<<20-1, false)
		b.AddMasked32(y, 1<<20-1, false)
	}
	if !slices.Equal(x, y) {
		t.Error("the two versions go on differently")
	}
}

func TestAddingAndSubtractingAMaskLeavesTheVector(t *testing.T) {
	x := make([]uint32, 777)
	for i := range x {
		x[i] = uint32(i)
	}
	before := slices.Clone(x)
	k := NewKeystream([32]byte{3})
	k.AddMasked32(x, 1<<10-1, false)
	if slices.Equal(x, before) {
		t.Fatal("nothing was added")
	}
	k.Seek(0)
	if k.AddMasked32(x, 1<<10-1, true); !slices.Equal(x, before) {
		t.Error("the mask did not come off")
	}
}

// The standard library's stream and a plain loop are what the fused loop is compared with.
func BenchmarkMask32(b *testing.B) {
	const n = 1_000_000
	key, dst := [32]byte{1}, make([]uint32, n)
	b.Run("fused", func(b *testing.B) {
		b.SetBytes(4 * n)
		for b.Loop() {
			NewKeystream(key).AddMasked32(dst, 1<<20-1, false)
		}
	})
	b.Run("standard", func(b *testing.B) {
		b.SetBytes(4 * n)
		stream := make([]byte, 4*n)
		for b.Loop() {
			block, _ := aes.NewCipher(key[:])
			clear(stream)
			cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
			for i := range dst {
				dst[i] = (dst[i] + binary.LittleEndian.Uint32(stream[4*i:])) & (1<<20 - 1)
			}
		}
	})
	b.Run("blocked", func(b *testing.B) { // the standard library's again, but a few chunks at a time
		b.SetBytes(4 * n)
		for b.Loop() {
			portableKeystream(key).AddMasked32(dst, 1<<20-1, false)
		}
	})
}
