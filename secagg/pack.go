package secagg

import (
	"encoding/binary"

	"hubbub/internal/kernel"
)

// word is what sums are kept in: 32 bits for a modulus up to 2^32, 64 above. Arithmetic wraps around, which 2^b divides.
type word = kernel.Word

// pack appends the low bits of each value, lowest bit first, without gaps; the bits that fill the last byte are zero.
func pack[W word](dst []byte, values []W, bits int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, kernel.PackedSize(len(values), bits))...)
	kernel.Pack(dst[start:], values, bits)
	return dst
}

// addPacked adds packed values to dst, or subtracts them. packed has the size for len(dst) values.
func addPacked[W word](dst []W, packed []byte, bits int, subtract bool) {
	if words, ok := any(dst).([]uint32); ok && bits == 32 {
		addWords(words, packed, subtract)
		return
	}
	var unpacked [1024]W // stays in the first cache; so many values end with a whole byte
	for len(dst) > 0 {
		n := min(len(dst), len(unpacked))
		kernel.Unpack(unpacked[:n], packed, bits)
		if subtract {
			for i, x := range unpacked[:n] {
				dst[i] -= x
			}
		} else {
			for i, x := range unpacked[:n] {
				dst[i] += x
			}
		}
		dst, packed = dst[n:], packed[kernel.PackedSize(n, bits):]
	}
}

// addWords is addPacked for the common case in which nothing has to be unpacked; half the time of the general way.
func addWords(dst []uint32, packed []byte, subtract bool) {
	sign := uint32(0)
	if subtract {
		sign = ^sign // (x ^ sign) - sign is then -x
	}
	for len(dst) >= 4 && len(packed) >= 16 { // four at a time: one bounds check and one branch for all of them
		dst[0] += (binary.LittleEndian.Uint32(packed[0:4]) ^ sign) - sign
		dst[1] += (binary.LittleEndian.Uint32(packed[4:8]) ^ sign) - sign
		dst[2] += (binary.LittleEndian.Uint32(packed[8:12]) ^ sign) - sign
		dst[3] += (binary.LittleEndian.Uint32(packed[12:16]) ^ sign) - sign
		dst, packed = dst[4:], packed[16:]
	}
	for i := range dst {
		dst[i] += (binary.LittleEndian.Uint32(packed[4*i:4*i+4]) ^ sign) - sign
	}
}

// padded reports whether bits are set behind the last value.
func padded(packed []byte, n, bits int) bool {
	used := n * bits % 8
	return used != 0 && packed[len(packed)-1]>>used != 0
}
