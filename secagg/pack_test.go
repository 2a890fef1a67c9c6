package secagg

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"hubbub/internal/kernel"
)

// The dumb version: one big number, value i shifted by i·b bits.
func TestPackingIsOneLongNumber(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for bits := 1; bits <= MaxBits; bits++ {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 31, 64, 65, 200, 1024, 1025} {
			values := make([]uint64, n)
			long := new(big.Int)
			for i := range values {
				values[i] = random.Uint64()
				v := new(big.Int).SetUint64(values[i] & (1<<bits - 1))
				long.Or(long, v.Lsh(v, uint(i*bits)))
			}
			want := long.FillBytes(make([]byte, kernel.PackedSize(n, bits)))
			slices.Reverse(want) // lowest byte first
			packed := pack(nil, values, bits)
			if !slices.Equal(packed, want) {
				t.Fatalf("%d values of %d bits: packed %x, want %x", n, bits, packed, want)
			}
			if padded(packed, n, bits) {
				t.Fatalf("%d values of %d bits: bits behind the last value", n, bits)
			}
			start := make([]uint64, n)
			for i := range start {
				start[i] = random.Uint64()
			}
			sum := slices.Clone(start)
			addPacked(sum, packed, bits, false)
			for i := range sum {
				if sum[i] != start[i]+values[i]&(1<<bits-1) {
					t.Fatalf("value %d of %d with %d bits was not added", i, n, bits)
				}
			}
			addPacked(sum, packed, bits, true)
			if !slices.Equal(sum, start) {
				t.Fatalf("%d values of %d bits: added, subtracted, and not back", n, bits)
			}
			if bits > 32 {
				continue
			}
			short := make([]uint32, n)
			for i := range short {
				short[i] = uint32(values[i])
			}
			if !slices.Equal(pack(nil, short, bits), packed) {
				t.Fatalf("%d values of %d bits: 32-bit words pack differently", n, bits)
			}
			clear(short)
			addPacked(short, packed, bits, false)
			for i := range short {
				if short[i] != uint32(values[i]&(1<<bits-1)) {
					t.Fatalf("value %d of %d with %d bits: 32-bit words unpack differently", i, n, bits)
				}
			}
			addPacked(short, packed, bits, true)
			if slices.ContainsFunc(short, func(x uint32) bool { return x != 0 }) {
				t.Fatalf("%d values of %d bits: 32-bit words added, subtracted, and not back", n, bits)
			}
		}
	}
}

func TestBitsBehindTheLastValueAreSeen(t *testing.T) {
	packed := pack(nil, []uint32{1, 2, 3}, 3) // nine bits
	for bit := 1; bit < 8; bit++ {
		bad := slices.Clone(packed)
		bad[1] |= 1 << bit
		if !padded(bad, 3, 3) {
			t.Errorf("bit %d behind the last value was not seen", bit)
		}
	}
}
