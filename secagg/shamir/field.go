package shamir

import "math/bits"

// prime is 2^61 - 1, a Mersenne prime: reducing modulo it is a shift and an addition.
const prime = 1<<61 - 1

// Elements of the field are kept in [0, 2^61 + 2^15), where zero has two faces; canonical picks one. No step branches
// on an element, so the time of a calculation does not tell its values.

// fold brings any 64-bit number below 2^61 + 8.
func fold(a uint64) uint64 { return a&prime + a>>61 }

func canonical(a uint64) uint64 {
	a = fold(a)
	below := uint64(int64(a-prime) >> 63) // all ones if a < prime
	return a - prime&^below
}

func multiply(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return fold(lo&prime + (hi<<3 | lo>>61))
}

// multiplyAdd gives a·x + c for x of at most 14 bits.
func multiplyAdd(a, x, c uint64) uint64 {
	hi, lo := bits.Mul64(a, x)
	return fold(lo&prime + (hi<<3 | lo>>61) + c)
}

// subtract gives a - b for canonical a and b.
func subtract(a, b uint64) uint64 { return fold(a + prime - b) }

// invert replaces every element by its inverse at the price of one: Montgomery's trick. No element may be zero.
func invert(elements []uint64) {
	products := make([]uint64, len(elements)) // of all elements before
	product := uint64(1)
	for i, a := range elements {
		products[i] = product
		product = multiply(product, a)
	}
	inverse := power(product, prime-2) // Fermat
	for i := len(elements) - 1; i >= 0; i-- {
		elements[i], inverse = multiply(inverse, products[i]), multiply(inverse, elements[i])
	}
}

// power is used with public exponents only.
func power(a, exponent uint64) uint64 {
	result := uint64(1)
	for ; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			result = multiply(result, a)
		}
		a = multiply(a, a)
	}
	return result
}
