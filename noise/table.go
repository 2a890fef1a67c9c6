package noise

import (
	"encoding/binary"
	"math/bits"

	"hubbub/internal/kernel"
)

// table draws from a law by Walker's alias method (Walker 1977), with thresholds of 128 bits read lazily.
//
// There are 2^columnBits columns of equal probability. A draw picks a column, and then either the column's own value or its
// alias: the own value if a uniform number lies below the column's threshold. The first 16 bits of that number (32 in a wide
// table) nearly always decide; where they equal the threshold's, 128 more bits are drawn. All of it is integers: the table
// IS the law in units of 2^-128.
type table struct {
	columnBits uint
	signMask   uint64 // 1: bit 0 of a draw is the sign of a symmetric law; 0: no sign
	lowest     int64  // the value of column 0
	narrow     *kernel.Aliased
	wide       []uint64  // if there are too many columns: threshold's first 32 bits, alias (32 bits)
	rest       []uint128 // of the thresholds, after the first bits
}

const (
	maxNarrowBits = 15 // a 32-bit draw holds column, 16 bits to compare, and a sign

	// A block is what is drawn and refined together: 16 KB of draws, so that they stay in the first cache.
	blockSize = 4096

	// refineSlots is how often a block takes 128 further bits, needed or not. A narrow draw needs them with probability
	// 2^-16, so a block needs more than 8 with probability below (2^-4)^9/9! = 2^-54.
	refineSlots = 8
)

func newTable(l law) *table {
	t := &table{lowest: l.lowest, columnBits: max(1, uint(bits.Len(uint(len(l.weights)-1))))}
	if l.symmetric {
		t.signMask = 1
	}
	threshold, alias := aliases(l.weights, t.columnBits)
	firstBits := uint(32)
	if t.columnBits <= maxNarrowBits {
		firstBits = 16
		t.narrow = &kernel.Aliased{Bits: t.columnBits, SignMask: uint32(t.signMask), Lowest: t.lowest}
	}
	t.rest = make([]uint128, len(threshold))
	for c, whole := range threshold {
		whole = whole.shiftLeft(t.columnBits) // a column's share is 2^(128-columnBits) units: now a fraction of 2^128
		first := whole.shiftRight(128 - firstBits).lo
		t.rest[c] = whole.shiftLeft(firstBits)
		if t.narrow != nil {
			t.narrow.Entries = append(t.narrow.Entries, uint32(first<<16)|alias[c])
		} else {
			t.wide = append(t.wide, first<<32|uint64(alias[c]))
		}
	}
	return t
}

// aliases fills 2^columnBits columns of 2^(128-columnBits) units each, exactly: column c holds threshold[c] units of value
// c and the rest of value alias[c].
func aliases(weights []uint128, columnBits uint) (threshold []uint128, alias []uint32) {
	n := 1 << columnBits
	share := uint128{0, 1}.shiftLeft(128 - columnBits)
	left := make([]uint128, n)
	copy(left, weights)
	threshold, alias = make([]uint128, n), make([]uint32, n)
	var small, large []uint32
	for c := range left {
		if left[c].less(share) {
			small = append(small, uint32(c))
		} else {
			large = append(large, uint32(c))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		threshold[s], alias[s] = left[s], l
		left[l] = left[l].sub(share.sub(left[s]))
		if left[l].less(share) {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// The units sum to n shares, so what remains is columns that are full of their own value.
	for _, c := range append(small, large...) {
		threshold[c], alias[c] = uint128{}, c
	}
	return threshold, alias
}

// add adds one draw to each element.
func (t *table) add(dst []int64, random *Stream) {
	b := random.scratch()
	for len(dst) > 0 {
		n := min(len(dst), blockSize)
		t.addBlock(dst[:n], random, b)
		dst = dst[n:]
	}
}

// block is the working space of one block of draws.
type block struct {
	words  [8 * blockSize]byte   // the draws, little endian: 4 bytes each from a narrow table, 8 from a wide one
	open   [blockSize/8 + 8]byte // a bit for each draw that its first bits left undecided; the last group of 64 stays zero
	refine [16 * refineSlots]byte
}

// group is the open draws 64·g to 64·g + 63.
func (b *block) group(g int) uint64 { return binary.LittleEndian.Uint64(b.open[8*g:]) }

func (t *table) addBlock(dst []int64, random *Stream, b *block) {
	clear(b.open[:])
	if t.narrow != nil {
		whole := 0
		if cipher := random.direct(); cipher != nil {
			whole = len(dst) &^ (kernel.Chunk/4 - 1)
			t.narrow.Draw(cipher, dst[:whole], b.words[:], b.open[:])
		}
		random.read(b.words[4*whole : roundUp16(4*len(dst))])
		t.narrow.Add(dst[whole:], b.words[4*whole:], b.open[whole/8:])
	} else {
		random.read(b.words[:roundUp16(8*len(dst))])
		t.addWide(dst, b.words[:], b.open[:])
	}
	t.decide(dst, random, b)
}

// decide settles the draws that are open. Its work depends on the number of draws only, but once in 2^54 blocks.
func (t *table) decide(dst []int64, random *Stream, b *block) {
	slots := min(len(dst), refineSlots)
	random.read(b.refine[:16*slots])

	// List the groups of 64 that have an open draw, without a branch on whether they do.
	const emptyGroup = blockSize / 64
	var list [blockSize/64 + refineSlots + 1]int
	count := 0
	for g := range (len(dst) + 63) / 64 {
		open := b.group(g)
		list[count] = g
		count += int((open | -open) >> 63)
	}
	for i := range refineSlots + 1 {
		list[count+i] = emptyGroup
	}
	at := 0
	for slot := range slots {
		fresh := b.refine[16*slot:]
		at += t.refine(dst, b, list[at], binary.LittleEndian.Uint64(fresh), binary.LittleEndian.Uint64(fresh[8:]))
	}
	for at < count { // once in 2^54 blocks
		at += t.refine(dst, b, list[at], random.Uint64(), random.Uint64())
	}
}

// Reads are whole AES blocks, so that a stream stays aligned.
func roundUp16(n int) int { return (n + 15) &^ 15 }

// refine decides the first open draw of a group with 128 further bits, and returns 1 if it was the group's last. An empty
// group costs the same and changes nothing.
func (t *table) refine(dst []int64, b *block, group int, hi, lo uint64) (done int) {
	open := b.group(group)
	apply := (open | -open) >> 63
	i := (group*64 + bits.TrailingZeros64(open|1<<63)) * int(apply)
	left := open & (open - apply)
	binary.LittleEndian.PutUint64(b.open[8*group:], left)

	var column, alias, sign uint64
	if t.narrow != nil {
		w := uint64(binary.LittleEndian.Uint32(b.words[4*i:]))
		column, sign = w>>(32-t.columnBits), w&t.signMask
		alias = uint64(t.narrow.Entries[column] & 0xffff)
	} else {
		w := binary.LittleEndian.Uint64(b.words[8*i:])
		column, sign = w>>(64-t.columnBits), w&t.signMask
		alias = t.wide[column] & 0xffffffff
	}
	// The draw gave the alias. Below the threshold it should have been the column's own value.
	rest := t.rest[column]
	_, borrow := bits.Sub64(lo, rest.lo, 0)
	_, below := bits.Sub64(hi, rest.hi, borrow)
	change := (column - alias) & -(apply & below)
	dst[i] += int64((change ^ -sign) + sign)
	return int(apply &^ ((left | -left) >> 63))
}

// addWide is [kernel.Aliased.Add] for draws of 64 bits: column, 32 bits to compare, sign.
func (t *table) addWide(dst []int64, words []byte, open []byte) {
	words = words[:8*len(dst)]
	for i := range dst {
		w := binary.LittleEndian.Uint64(words[8*i:])
		column := w >> (64 - t.columnBits)
		entry := t.wide[column]
		first, threshold := w>>1&0xffffffff, entry>>32
		value := int64(entry & 0xffffffff)
		own := -int64((first - threshold) >> 63)
		value ^= (value ^ int64(column)) & own
		sign := -int64(w & t.signMask)
		dst[i] += (value ^ sign) - sign + t.lowest
		open[i/8] |= byte(((first ^ threshold) - 1) >> 63 << (i % 8))
	}
}
