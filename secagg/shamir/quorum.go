package shamir

import "fmt"

// Quorum is a set of holders who restore secrets together. What depends on their indices alone, the Lagrange
// coefficients, is computed once; after that a secret costs a few multiplications for each share.
type Quorum struct {
	indices []int
	t       int
	atZero  []uint64 // the secret is the sum of atZero[i]·value[i] over the first t
	parity  []uint64 // weights of the checks between all shares; nil when there is no surplus
}

// NewQuorum prepares the restoring of secrets that were shared among n holders with threshold t, from the shares with these
// indices: at least t, each in [1, n], none twice.
func NewQuorum(indices []int, n, t int) (*Quorum, error) {
	if err := checkSetting(n, t); err != nil {
		return nil, err
	}
	if len(indices) < t || len(indices) > n {
		return nil, fmt.Errorf("%w: %d given, at least %d and at most %d needed", ErrCount, len(indices), t, n)
	}
	seen := make([]bool, n+1)
	for _, x := range indices {
		if !checkIndices {
			continue
		}
		if x < 1 || x > n {
			return nil, fmt.Errorf("%w: %d outside [1, %d]", ErrIndex, x, n)
		}
		if seen[x] {
			return nil, fmt.Errorf("%w: %d is there twice", ErrIndex, x)
		}
		seen[x] = true
	}
	q := &Quorum{indices: append([]int(nil), indices...), t: t}
	q.prepare()
	return q, nil
}

// prepare computes, for the points x_i,
//
//	atZero[i] = ∏ x_j / (x_i · ∏ (x_j - x_i))  over the first t points, j ≠ i in the lower product: Lagrange at 0
//	parity[i] = 1 / ∏ (x_j - x_i)              over all points, j ≠ i
//
// The values f(x_i) of a polynomial of degree below t over m points satisfy ∑ parity[i]·x_i^k·f(x_i) = 0 for
// k = 0 ... m-t-1, and nothing else does: these are the checks of a Reed-Solomon code.
func (q *Quorum) prepare() {
	m := len(q.indices)
	differences := make([]uint64, m) // ∏ (x_j - x_i)
	first := make([]uint64, q.t)
	all := uint64(1)
	for i, x := range q.indices {
		if i < q.t {
			first[i] = multiply(q.distances(i, 0, q.t), uint64(x))
			all = multiply(all, uint64(x))
		}
		if m > q.t {
			differences[i] = q.distances(i, 0, m)
		}
	}
	invert(first)
	for i := range first {
		first[i] = canonical(multiply(first[i], all))
	}
	q.atZero = first
	if m > q.t {
		invert(differences)
		q.parity = differences
	}
}

// distances is the product of x_j - x_i over j in [from, to) without i.
func (q *Quorum) distances(i, from, to int) uint64 {
	product, xi := uint64(1), uint64(q.indices[i])
	for j := from; j < to; j++ {
		if j != i {
			product = multiply(product, subtract(uint64(q.indices[j]), xi))
		}
	}
	return product
}

// Combine restores one secret; values belong to the indices of the quorum, in their order.
func (q *Quorum) Combine(values []Value) ([SecretSize]byte, error) {
	if len(values) != len(q.indices) {
		return [SecretSize]byte{}, fmt.Errorf("%w: %d values for a quorum of %d", ErrCount, len(values), len(q.indices))
	}
	for i := range values {
		if err := values[i].Check(); err != nil {
			return [SecretSize]byte{}, fmt.Errorf("share %d: %w", q.indices[i], err)
		}
	}
	if q.parity != nil && !q.consistent(values) {
		return [SecretSize]byte{}, ErrInconsistent
	}
	var secret Value
	for i, weight := range q.atZero {
		v := &values[i]
		for l := range secret {
			secret[l] = fold(secret[l] + multiply(weight, v[l]))
		}
	}
	for l := range secret {
		secret[l] = canonical(secret[l])
	}
	return join(secret)
}

// consistent reports whether all values lie on one polynomial of degree below t.
func (q *Quorum) consistent(values []Value) bool {
	wrong := uint64(0)
	for _, syndrome := range q.syndromes(values) {
		for _, limb := range syndrome {
			wrong |= limb
		}
	}
	return wrong == 0
}

// syndromes are the sums of parity[i]·x_i^k·f(x_i) for k = 0 ... m-t-1: all zero if the values lie on one polynomial, and otherwise a
// function of the errors alone.
func (q *Quorum) syndromes(values []Value) []Value {
	weighted := make([]Value, len(values)) // parity[i]·x_i^k·f(x_i)
	defer clear(weighted)
	for i, weight := range q.parity {
		for l := range weighted[i] {
			weighted[i][l] = multiply(weight, values[i][l])
		}
	}
	sums := make([]Value, len(values)-q.t)
	for k := range sums {
		sum := &sums[k]
		for i := range weighted {
			w, x := &weighted[i], uint64(q.indices[i])
			for l := range sum {
				sum[l] = fold(sum[l] + w[l])
				w[l] = multiplyAdd(w[l], x, 0)
			}
		}
		for l := range sum {
			sum[l] = canonical(sum[l])
		}
	}
	return sums
}
