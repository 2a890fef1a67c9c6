package noise

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func (a uint128) big() *big.Int {
	x := new(big.Int).SetUint64(a.hi)
	return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(a.lo))
}

func TestAliasColumnsHoldExactlyTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columnBits := uint(rapid.IntRange(1, 6).Draw(t, "columnBits"))
		n := rapid.IntRange(2, 1<<columnBits).Draw(t, "n")
		weights := make([]uint128, n)
		var total uint128
		for i := 1; i < n; i++ { // each below 2^128/n, and some far below, so that the first gets the rest
			shift := uint(rapid.IntRange(7, 127).Draw(t, "shift"))
			weights[i] = uint128{rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}.shiftRight(shift)
			total = total.add(weights[i])
		}
		if total == (uint128{}) {
			weights[1].lo, total.lo = 1, 1
		}
		weights[0] = uint128{}.sub(total)

		threshold, alias := aliases(weights, columnBits)
		share := uint128{0, 1}.shiftLeft(128 - columnBits)
		got := make([]*big.Int, 1<<columnBits)
		for i := range got {
			got[i] = new(big.Int)
		}
		for c := range threshold {
			if share.less(threshold[c]) {
				t.Fatalf("column %d holds more than its share", c)
			}
			got[c].Add(got[c], threshold[c].big())
			got[alias[c]].Add(got[alias[c]], share.sub(threshold[c]).big())
		}
		for i := range got {
			want := new(big.Int)
			if i < n {
				want = weights[i].big()
			}
			if got[i].Cmp(want) != 0 {
				t.Fatalf("value %d has %v units, not %v", i, got[i], want)
			}
		}
	})
}

// TestOpenDrawsAreDecidedByTheFullThreshold makes draws that meet their threshold, from none to all of a block, and compares with the
// definition: the column's own value if the first bits and 128 more, as one number, are below the whole threshold.
func TestOpenDrawsAreDecidedByTheFullThreshold(t *testing.T) {
	narrow, err := NewSkellam(50)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := NewDiscreteGaussian(1e7)
	if err != nil {
		t.Fatal(err)
	}
	shifted, err := NewPoisson(100)
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]*table{"narrow": narrow.table, "wide": wide.table, "without sign": shifted.table} {
		for _, length := range []int{1, 5, 63, 64, 65, 1000, blockSize} {
			for _, every := range []int{1, 2, 64, 100, 3000} { // one draw in so many is open
				random := Seeded(uint64(length + every)).Stream()
				var b block
				random.read(b.words[:])
				size := 4
				if table.narrow == nil {
					size = 8
				}
				word := func(i int) uint64 {
					if size == 4 {
						return uint64(binary.LittleEndian.Uint32(b.words[4*i:]))
					}
					return binary.LittleEndian.Uint64(b.words[8*i:])
				}
				entry := func(w uint64) (column, first, alias uint64) {
					if column = w >> (uint(8*size) - table.columnBits); size == 4 {
						e := table.narrow.Entries[column]
						return column, uint64(e >> 16), uint64(e & 0xffff)
					}
					return column, table.wide[column] >> 32, table.wide[column] & 0xffffffff
				}
				firstMask := uint64(1)<<(4*size) - 1
				for i := every / 2; i < length; i += every {
					w := word(i)
					_, first, _ := entry(w)
					w = w&^(firstMask<<1) | first<<1
					if size == 4 {
						binary.LittleEndian.PutUint32(b.words[4*i:], uint32(w))
					} else {
						binary.LittleEndian.PutUint64(b.words[8*i:], w)
					}
				}

				key := Seeded(uint64(every))
				further := key.Stream()
				want := make([]int64, length)
				for i := range want {
					w := word(i)
					column, threshold, alias := entry(w)
					first := w >> 1 & firstMask
					own := first < threshold
					if first == threshold {
						own = uint128{further.Uint64(), further.Uint64()}.less(table.rest[column])
					}
					value := int64(alias)
					if own {
						value = int64(column)
					}
					if w&table.signMask == 1 {
						value = -value
					}
					want[i] = value + table.lowest
				}

				got := make([]int64, length)
				if size == 4 {
					table.narrow.Add(got, b.words[:], b.open[:])
				} else {
					table.addWide(got, b.words[:], b.open[:])
				}
				table.decide(got, key.Stream(), &b)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d draws, one in %d open: not what the definition gives", name, length, every)
				}
				if !bytes.Equal(b.open[:], make([]byte, len(b.open))) {
					t.Errorf("%s: %d draws, one in %d open: some are still open", name, length, every)
				}
			}
		}
	}
}

// TestDrawsTakeTheSameBytesWhateverTheyAre: where the stream stands afterwards tells nothing of what was drawn.
func TestDrawsTakeTheSameBytesWhateverTheyAre(t *testing.T) {
	s, err := NewSkellam(50)
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{0, 1, 3, 4, 5, 100, blockSize, blockSize + 1, 3*blockSize + 17} {
		expected := 0
		for left := length; left > 0; left -= blockSize {
			n := min(left, blockSize)
			expected += roundUp16(4*n) + 16*min(n, refineSlots)
		}
		for seed := range uint64(30) {
			random := Seeded(seed).Stream()
			s.Add(make([]int64, length), random)
			fresh := Seeded(seed).Stream()
			fresh.read(make([]byte, expected))
			if random.Uint64() != fresh.Uint64() {
				t.Fatalf("%d draws from seed %d did not take %d bytes", length, seed, expected)
			}
		}
	}
}

func TestAddAddsToWhatIsThere(t *testing.T) {
	s, err := NewBinomial(40, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	zero, filled := make([]int64, 5000), make([]int64, 5000)
	for i := range filled {
		filled[i] = int64(i) * 1e12
	}
	s.Add(zero, Seeded(3).Stream())
	s.Add(filled, Seeded(3).Stream())
	for i := range filled {
		if filled[i] != zero[i]+int64(i)*1e12 {
			t.Fatalf("element %d is %d", i, filled[i])
		}
	}
}

func TestReadContinuesTheStreamWhereverItStands(t *testing.T) {
	whole := make([]byte, 1<<15)
	Seeded(5).Stream().read(whole)
	s := Seeded(5).Stream()
	at := 0
	for i, size := range []int{16, 0, 496, 512, 1024, 32, 2000 - 2000%16, 8192, 1008, 4096, 16} {
		piece := make([]byte, size)
		s.read(piece)
		if !bytes.Equal(piece, whole[at:at+size]) {
			t.Fatalf("read %d, of %d bytes, is not the next part of the stream", i, size)
		}
		at += size
		if got := s.Uint64(); got != binary.LittleEndian.Uint64(whole[at:]) {
			t.Fatalf("number after read %d is not the next part of the stream", i)
		}
		at += 8
	}
}
