package secagg

import "hubbub/internal/kernel"

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

// padded reports whether bits are set behind the last value.
func padded(packed []byte, n, bits int) bool {
	used := n * bits % 8
	return used != 0 && packed[len(packed)-1]>>used != 0
}
