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
	sign := uint64(0)
	if subtract {
		sign = ^sign
	}
	mask := uint64(1)<<bits - 1
	i, at := 0, 0
	switch {
	case bits == 32: // the common case is worth a loop without shifts
		for len(packed) >= 4 && i < len(dst) {
			x := uint64(binary.LittleEndian.Uint32(packed))
			dst[i] += W((x ^ sign) - sign)
			packed, i = packed[4:], i+1
		}
		return
	case bits <= 57: // whatever the first bit is, the value lies within eight bytes
		for ; at/8+8 <= len(packed) && i < len(dst); i, at = i+1, at+bits {
			x := binary.LittleEndian.Uint64(packed[at/8:]) >> (at % 8) & mask
			dst[i] += W((x ^ sign) - sign)
		}
	default:
		for ; at/8+9 <= len(packed) && i < len(dst); i, at = i+1, at+bits {
			x := straddling(packed[at/8:], at%8) & mask
			dst[i] += W((x ^ sign) - sign)
		}
	}
	var tail [24]byte // the last values, with zeros behind them
	copy(tail[:], packed[at/8:])
	for at %= 8; i < len(dst); i, at = i+1, at+bits {
		x := straddling(tail[at/8:], at%8) & mask
		dst[i] += W((x ^ sign) - sign)
	}
}

// straddling reads 64 bits from any bit of the first byte on.
func straddling(b []byte, from int) uint64 {
	b = b[:9]
	return binary.LittleEndian.Uint64(b)>>from | uint64(b[8])<<(63-from)<<1 // nothing of the ninth when from is zero
}

// padded reports whether bits are set behind the last value.
func padded(packed []byte, n, bits int) bool {
	used := n * bits % 8
	return used != 0 && packed[len(packed)-1]>>used != 0
}
