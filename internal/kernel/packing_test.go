package kernel

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// packed is the definition: the numbers are the digits, lowest first, of one large number.
func packed(src []uint64, bits int) []byte {
	sum := new(big.Int)
	for i := len(src) - 1; i >= 0; i-- {
		sum.Or(sum.Lsh(sum, uint(bits)), new(big.Int).SetUint64(src[i]))
	}
	out := sum.FillBytes(make([]byte, PackedSize(len(src), bits)))
	slices.Reverse(out)
	return out
}

func TestPackingIsOneLargeNumberAndComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for bits := 1; bits <= 64; bits++ {
		for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 64, 65, 200} {
			src := make([]uint64, n)
			for i := range src {
				src[i] = r.Uint64() >> (64 - bits)
			}
			want := packed(src, bits)
			got := bytes.Repeat([]byte{0xee}, len(want)+2)
			if Pack(got, src, bits); !bytes.Equal(got[:len(want)], want) || got[len(want)] != 0xee {
				t.Fatalf("%d numbers of %d bits: %x, want %x", n, bits, got, want)
			}
			back := make([]uint64, n)
			if !Unpack(back, want, bits) || !slices.Equal(back, src) {
				t.Fatalf("%d numbers of %d bits do not come back", n, bits)
			}
			if bits > 32 {
				continue
			}
			narrow, back32 := make([]uint32, n), make([]uint32, n)
			for i := range src {
				narrow[i] = uint32(src[i])
			}
			if Pack(got, narrow, bits); !bytes.Equal(got[:len(want)], want) {
				t.Fatalf("%d uint32 of %d bits: %x, want %x", n, bits, got, want)
			}
			if !Unpack(back32, want, bits) || !slices.Equal(back32, narrow) {
				t.Fatalf("%d uint32 of %d bits do not come back", n, bits)
			}
		}
	}
}

func TestUpperBitsDoNotSpillIntoTheNeighbour(t *testing.T) {
	for _, bits := range []int{3, 8, 16, 32, 50} {
		got, want := make([]byte, PackedSize(3, bits)), make([]byte, PackedSize(3, bits))
		Pack(got, []uint64{1<<63 | 1, 1<<63 | 2, 1<<63 | 3}, bits)
		if Pack(want, []uint64{1, 2, 3}, bits); !bytes.Equal(got, want) {
			t.Errorf("%d bits: %x, want %x", bits, got, want)
		}
	}
}

// What Unpack accepts, Pack writes: one encoding for each vector.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{0xff, 0x01}, uint8(9))
	f.Add([]byte{0xff, 0xff}, uint8(9))
	f.Add(bytes.Repeat([]byte{0xa5}, 100), uint8(62))
	f.Fuzz(func(t *testing.T, src []byte, b uint8) {
		bits := int(b)%64 + 1
		n := len(src) * 8 / bits
		src = src[:PackedSize(n, bits)]
		dst, again := make([]uint64, n), make([]byte, len(src))
		canonical := Unpack(dst, src, bits)
		Pack(again, dst, bits)
		if canonical != bytes.Equal(src, again) {
			t.Fatalf("%d bits: accepted %v, packing again gives %x for %x", bits, canonical, again, src)
		}
	})
}

func BenchmarkPacking(b *testing.B) {
	const n = 1 << 16
	src, src32 := make([]uint64, n), make([]uint32, n)
	for i := range src {
		src[i], src32[i] = rand.Uint64(), rand.Uint32()
	}
	for _, bits := range []int{8, 13, 16, 20, 32, 62} {
		dst := make([]byte, PackedSize(n, bits))
		measure := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/bits=%d", name, bits), func(b *testing.B) {
				b.SetBytes(int64(len(dst))) // packed bytes
				for b.Loop() {
					f()
				}
			})
		}
		measure("pack64", func() { Pack(dst, src, bits) })
		measure("unpack64", func() { Unpack(src, dst, bits) })
		if bits <= 32 {
			measure("pack32", func() { Pack(dst, src32, bits) })
			measure("unpack32", func() { Unpack(src32, dst, bits) })
		}
	}
}
