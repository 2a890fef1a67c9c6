package shamir

// Correct restores a secret although some shares are wrong, and says whose, by index: it is the decoding of a Reed-Solomon code. Of m
// shares (m-t)/2 may be wrong, in whatever way; then the secret is right and exactly those are named. With more wrong ones the answer
// is [ErrInconsistent], or, if they were chosen together, possibly another secret: who must know compares it with something
// public. The work is that of m² multiplications. Its time tells how many shares are wrong, which is no secret.
func (q *Quorum) Correct(values []Value) (secret [SecretSize]byte, wrong []int, err error) {
	secret, err = q.Combine(values)
	if err != ErrInconsistent || q.parity == nil {
		return secret, nil, err
	}
	bad := make([]bool, len(values))
	syndromes := q.syndromes(values)
	for l := range limbs {
		series := make([]uint64, len(syndromes))
		for k := range syndromes {
			series[k] = syndromes[k][l]
		}
		locator := berlekampMassey(series)
		errors := len(locator) - 1
		if 2*errors > len(series) {
			return [SecretSize]byte{}, nil, ErrInconsistent
		}
		for i, x := range q.indices { // the locator is ∏ (1 - x_i·z) over the wrong shares
			if zeroAtInverse(locator, uint64(x)) {
				bad[i] = true
				errors--
			}
		}
		if errors != 0 {
			return [SecretSize]byte{}, nil, ErrInconsistent
		}
	}
	var indices []int
	var good []Value
	for i, x := range q.indices {
		if bad[i] {
			wrong = append(wrong, x)
		} else {
			indices, good = append(indices, x), append(good, values[i])
		}
	}
	defer clear(good)
	if 2*len(wrong) > len(values)-q.t { // limb by limb few enough, together too many
		return [SecretSize]byte{}, nil, ErrInconsistent
	}
	rest := &Quorum{indices: indices, t: q.t}
	rest.prepare()
	if secret, err = rest.Combine(good); err != nil {
		return [SecretSize]byte{}, nil, err
	}
	return secret, wrong, nil
}

// berlekampMassey gives the shortest recurrence c[0] = 1, c[1], ..., c[L] with ∑ c[j]·s[n-j] = 0 for all n >= L [M69].
//
// [M69] Massey, Shift-Register Synthesis and BCH Decoding, IEEE Trans. Information Theory 15(1), 1969
func berlekampMassey(s []uint64) []uint64 {
	current, before := []uint64{1}, []uint64{1}
	length, shift, last := 0, 1, uint64(1)
	for n := range s {
		discrepancy := s[n]
		for j := 1; j <= length && j < len(current); j++ {
			discrepancy = fold(discrepancy + multiply(current[j], s[n-j]))
		}
		if discrepancy = canonical(discrepancy); discrepancy == 0 {
			shift++
			continue
		}
		factor := canonical(multiply(discrepancy, power(last, prime-2)))
		next := make([]uint64, max(len(current), len(before)+shift))
		copy(next, current)
		for j, b := range before {
			next[j+shift] = canonical(subtract(next[j+shift], canonical(multiply(factor, b))))
		}
		if 2*length <= n {
			length, before, last, shift = n+1-length, current, discrepancy, 1
		} else {
			shift++
		}
		current = next
	}
	for len(current) < length+1 {
		current = append(current, 0)
	}
	return current[:length+1]
}

// zeroAtInverse reports whether a polynomial is zero at 1/x.
func zeroAtInverse(polynomial []uint64, x uint64) bool {
	sum := uint64(0)
	for _, c := range polynomial { // x^L times its value
		sum = multiplyAdd(sum, x, c)
	}
	return canonical(sum) == 0
}
