package secagg

import "encoding/binary"

// word is what sums are kept in: 32 bits for a modulus up to 2^32, 64 above. Arithmetic wraps around, which 2^b divides.
type word interface{ uint32 | uint64 }

func packedSize(n, bits int) int { return (n*bits + 7) / 8 }

// pack appends the low bits of each value, lowest bit first, without gaps; the bits that fill the last byte are zero.
func pack[W word](dst []byte, values []W, bits int) []byte {
	mask := uint64(1)<<bits - 1
	var buffer uint64
	fill := 0
	for _, v := range values {
		x := uint64(v) & mask
		buffer |= x << fill
		if fill += bits; fill >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, buffer)
			fill -= 64
			buffer = x >> (bits - fill)
		}
	}
	for ; fill > 0; fill -= 8 {
		dst = append(dst, byte(buffer))
		buffer >>= 8
	}
	return dst
}

// addPacked adds packed values to dst, or subtracts them. packed has the size for len(dst) values.
func addPacked[W word](dst []W, packed []byte, bits int, subtract bool) {
	sign := uint64(1)
	if subtract {
		sign = ^uint64(0)
	}
	mask := uint64(1)<<bits - 1
	i := 0
	for ; (i*bits)/8+9 <= len(packed); i++ {
		at := i * bits
		b := packed[at/8:]
		b = b[:9]
		x := binary.LittleEndian.Uint64(b) >> (at % 8)
		x |= uint64(b[8]) << (63 - at%8) << 1 // nothing when at%8 is zero
		dst[i] += W(sign * (x & mask))
	}
	var tail [24]byte // the last values, with zeros behind them
	from := i * bits / 8
	copy(tail[:], packed[min(from, len(packed)):])
	for ; i < len(dst); i++ {
		at := i*bits - 8*from
		b := tail[at/8:]
		x := binary.LittleEndian.Uint64(b) >> (at % 8)
		x |= uint64(b[8]) << (63 - at%8) << 1
		dst[i] += W(sign * (x & mask))
	}
}

// padded reports whether bits are set behind the last value.
func padded(packed []byte, n, bits int) bool {
	used := n * bits % 8
	return used != 0 && packed[len(packed)-1]>>used != 0
}
