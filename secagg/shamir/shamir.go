// Package shamir splits a 32-byte secret into n shares so that any t of them give it back and t-1 say nothing about it.
//
// A secret is cut into five limbs; each is the value at zero of a polynomial of degree t-1 over the field of 2^61-1
// elements, with uniform coefficients, and the share of index i is the values at i. For all secrets and all sets of t-1
// indices, those shares are uniform and independent of the secret: this holds against any computing power, if the
// random bytes are uniform.
//
// A share carries no proof. t shares of which one is wrong give a wrong secret, and mostly nothing shows it: who must
// know has to authenticate the shares, or compare the secret with something public. More than t shares are
// checked against each other: if they do not all lie on one polynomial, [ErrInconsistent] is returned, which says that one is
// wrong and not which. [Quorum.Correct] finds out, while at most half of the surplus is wrong.
//
// The work done does not depend on secrets, shares or random bytes; it depends on n, t and the indices, which are public.
//
// [S79] Shamir, How to Share a Secret, CACM 22(11), 1979
package shamir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	SecretSize = 32        // bytes of a secret
	ValueSize  = limbs * 8 // bytes of a share's value when encoded
	MaxShares  = 1 << 14   // n may not be larger: indices this small keep the arithmetic short

	limbs    = 5
	limbBits = 52 // four limbs of 52 bits and one of 48 hold 256
	limbMask = 1<<limbBits - 1
)

// The refusals that a caller may want to tell apart, with errors.Is.
var (
	ErrSetting      = errors.New("shamir: no such sharing")
	ErrIndex        = errors.New("shamir: bad share index")
	ErrCount        = errors.New("shamir: wrong number of shares")
	ErrValue        = errors.New("shamir: bad share value")
	ErrInconsistent = errors.New("shamir: the shares do not fit together: at least one is wrong")
	ErrRandom       = errors.New("shamir: the random generator failed")
)

// Share is what one holder keeps of a secret.
type Share struct {
	Index int // 1 to n
	Value Value
}

// Split shares a secret among n holders, t of whom can restore it. The shares have the indices 1 to n, in order.
func Split(secret [SecretSize]byte, n, t int, random io.Reader) ([]Share, error) {
	if err := checkSetting(n, t); err != nil {
		return nil, err
	}
	// coefficients[0] is the secret, the others are uniform.
	coefficients := make([]Value, t)
	defer clear(coefficients)
	coefficients[0] = cut(secret)
	if err := uniform(coefficients[1:], random); err != nil {
		return nil, err
	}
	shares := make([]Share, n)
	for i := range shares {
		shares[i] = Share{i + 1, evaluate(coefficients, uint64(i+1))}
	}
	return shares, nil
}

// Combine restores a secret from at least t shares of a sharing among n. All of them are used: surplus shares that
// disagree are [ErrInconsistent]. For many secrets from the same holders, [NewQuorum] does the common work once.
func Combine(shares []Share, n, t int) ([SecretSize]byte, error) {
	indices := make([]int, len(shares))
	values := make([]Value, len(shares))
	for i, s := range shares {
		indices[i], values[i] = s.Index, s.Value
	}
	defer clear(values)
	q, err := NewQuorum(indices, n, t)
	if err != nil {
		return [SecretSize]byte{}, err
	}
	return q.Combine(values)
}

func checkSetting(n, t int) error {
	if n < 1 || n > MaxShares {
		return fmt.Errorf("%w: %d shares, outside [1, %d]", ErrSetting, n, MaxShares)
	}
	if t < 1 || t > n {
		return fmt.Errorf("%w: threshold %d outside [1, %d], the number of shares", ErrSetting, t, n)
	}
	return nil
}

// evaluate is Horner's rule at a small x, five limbs at a time so that the processor overlaps their multiplications.
func evaluate(coefficients []Value, x uint64) Value {
	top := len(coefficients) - 1
	sum := coefficients[top]
	for k := top - 1; k >= 0; k-- {
		c := &coefficients[k]
		sum[0] = multiplyAdd(sum[0], x, c[0])
		sum[1] = multiplyAdd(sum[1], x, c[1])
		sum[2] = multiplyAdd(sum[2], x, c[2])
		sum[3] = multiplyAdd(sum[3], x, c[3])
		sum[4] = multiplyAdd(sum[4], x, c[4])
	}
	for l := range sum {
		sum[l] = canonical(sum[l])
	}
	return sum
}

// uniform fills values with uniform elements of the field: 61 random bits, drawn again when they are the prime itself.
func uniform(values []Value, random io.Reader) error {
	buffer := make([]byte, len(values)*ValueSize)
	defer clear(buffer)
	if _, err := io.ReadFull(random, buffer); err != nil {
		return fmt.Errorf("%w: %w", ErrRandom, err)
	}
	for i := range values {
		for l := range values[i] {
			word := buffer[(i*limbs+l)*8:][:8]
			for {
				values[i][l] = binary.LittleEndian.Uint64(word) & prime
				if values[i][l] != prime { // else, with probability 2^-61, once more
					break
				}
				if _, err := io.ReadFull(random, word); err != nil {
					return fmt.Errorf("%w: %w", ErrRandom, err)
				}
			}
		}
	}
	return nil
}
