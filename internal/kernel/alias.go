package kernel

import (
	"crypto/aes"
	"encoding/binary"
)

// Aliased is a table of Walker's alias method (Walker 1977) as the inner loop reads it: 2^Bits columns of equal probability.
//
// A draw is a 32-bit word: its top Bits choose a column, bits 1 to 16 are compared with the column's threshold, and bit 0 is
// the sign of a symmetric law. Below the threshold the column's number is the result, otherwise the column's alias.
type Aliased struct {
	Entries  []uint32 // 2^Bits of them: threshold in the upper 16 bits, alias in the lower
	Bits     uint     // 1 to 15
	SignMask uint32   // 1: bit 0 of a draw is the sign; 0: there is none
	Lowest   int64    // added to every result
}

// Add adds one result to each element of dst from as many little endian words, and sets bit i%8 of open[i/8] where draw i
// equals its threshold, so that 16 bits could not decide it: there the alias was taken. len(open) is at least
// len(dst)/8 rounded up, and open must be zero.
func (a *Aliased) Add(dst []int64, words []byte, open []byte) {
	words, open = words[:4*len(dst)], open[:(len(dst)+7)/8]
	if len(a.Entries) != 1<<a.Bits || a.Bits < 1 || a.Bits > 15 {
		panic("kernel: internal error: a table of the wrong size")
	}
	whole := addAliasedFast(a, dst, words, open)
	a.addPlain(dst[whole:], words[4*whole:], open[whole/8:])
}

// Draw is Add with the next words of a stream, which it leaves in words. Elements come in whole chunks of them. Where the processor can, it
// encrypts the words of the next chunk while it looks up these.
func (a *Aliased) Draw(k *Keystream, dst []int64, words []byte, open []byte) {
	words = words[:4*len(dst)]
	done := 0
	if len(words) > Chunk {
		k.Fill(words[:Chunk])
		if drawAliasedFast(k, a, dst, words, open) {
			k.Move(int64(len(words)-Chunk) / aes.BlockSize)
			done = len(dst) - Chunk/4
		} else {
			k.Fill(words[Chunk:])
		}
	} else {
		k.Fill(words)
	}
	a.Add(dst[done:], words[4*done:], open[done/8:])
}

// addPlain is the definition that the faster versions are held against.
func (a *Aliased) addPlain(dst []int64, words []byte, open []byte) {
	shift := 32 - a.Bits
	for i := range dst {
		w := binary.LittleEndian.Uint32(words[4*i:])
		column := w >> shift
		entry := a.Entries[column]
		first, threshold := w>>1&0xffff, entry>>16
		value := entry & 0xffff
		own := -((first - threshold) >> 31) // all ones if first < threshold
		value ^= (value ^ column) & own
		sign := -int64(w & a.SignMask)
		dst[i] += (int64(value) ^ sign) - sign + a.Lowest
		open[i/8] |= byte(((first^threshold)-1)>>31) << (i % 8)
	}
}
