package kernel

import (
	"encoding/binary"
	"fmt"
)

// Word is a number that [Pack] takes.
type Word interface{ uint32 | uint64 }

// PackedSize is the number of bytes that n numbers of so many bits take.
func PackedSize(n, bits int) int { return (n*bits + 7) / 8 }

// Pack writes the lowest bits of each number, 1 to 64 of them, one after the other, the lowest bit first, to the first
// [PackedSize] bytes of dst. Bits that are left over in the last byte are zero.
func Pack[T Word](dst []byte, src []T, bits int) {
	dst = dst[:PackedSize(len(src), checkBits(bits))]
	switch bits {
	case 8:
		for i, v := range src[:len(dst)] {
			dst[i] = byte(v)
		}
	case 16:
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:2*i+2], uint16(v))
		}
	case 32:
		for i, v := range src {
			binary.LittleEndian.PutUint32(dst[4*i:4*i+4], uint32(v))
		}
	default:
		packAny(dst, src, uint(bits))
	}
}

func packAny[T Word](dst []byte, src []T, bits uint) {
	mask := ^uint64(0) >> (64 - bits)
	var word uint64 // what is not written yet
	var held uint   // bits of it, below 64
	for _, v := range src {
		x := uint64(v) & mask
		word |= x << held
		if held += bits; held >= 64 {
			binary.LittleEndian.PutUint64(dst, word)
			dst = dst[8:]
			held -= 64
			word = x >> (bits - held) // a shift by 64 gives zero
		}
	}
	for i := range dst {
		dst[i] = byte(word >> (8 * i))
	}
}

// Unpack undoes [Pack] for len(dst) numbers. It reports whether the bits that are left over in the last byte are zero: Pack writes
// nothing else. Numbers that do not fit T lose their upper bits.
func Unpack[T Word](dst []T, src []byte, bits int) bool {
	src = src[:PackedSize(len(dst), checkBits(bits))]
	switch bits {
	case 8:
		for i, v := range src[:len(dst)] {
			dst[i] = T(v)
		}
	case 16:
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint16(src[2*i : 2*i+2]))
		}
	case 32:
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint32(src[4*i : 4*i+4]))
		}
	default:
		unpackAny(dst, src, uint(bits))
	}
	used := uint(len(dst)*bits) % 8
	return used == 0 || src[len(src)-1]>>used == 0
}

func unpackAny[T Word](dst []T, src []byte, bits uint) {
	mask := ^uint64(0) >> (64 - bits)
	i, at := 0, uint(0) // the next number, and the bit where it begins
	if bits <= 57 {     // then it lies within eight bytes, wherever it begins
		for ; i < len(dst) && at/8+8 <= uint(len(src)); i++ {
			dst[i] = T(binary.LittleEndian.Uint64(src[at/8:]) >> (at % 8) & mask)
			at += bits
		}
	}
	for ; i < len(dst); i++ {
		var bytes [16]byte
		copy(bytes[:], src[at/8:])
		low, high := binary.LittleEndian.Uint64(bytes[:]), binary.LittleEndian.Uint64(bytes[8:])
		dst[i] = T((low>>(at%8) | high<<(64-at%8)) & mask)
		at += bits
	}
}

func checkBits(bits int) int {
	if bits < 1 || bits > 64 {
		panic(fmt.Sprintf("kernel: internal error: numbers of %d bits", bits))
	}
	return bits
}
