package shamir

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// corrupted gives shares of a secret of which some are wrong, each in one to five limbs, and whose.
func corrupted(t *testing.T, random *rand.Rand, n, threshold, came, errors int) (secret [SecretSize]byte, q *Quorum, values []Value, wrong []int) {
	t.Helper()
	secret = secretOf(seeded(byte(random.IntN(256))))
	shares, err := Split(secret, n, threshold, seeded(byte(random.IntN(256))))
	if err != nil {
		t.Fatal(err)
	}
	random.Shuffle(n, func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
	indices := make([]int, came)
	values = make([]Value, came)
	for i := range indices {
		indices[i], values[i] = shares[i].Index, shares[i].Value
	}
	for _, i := range random.Perm(came)[:errors] {
		for range 1 + random.IntN(limbs) {
			values[i][random.IntN(limbs)] = random.Uint64N(prime)
		}
		wrong = append(wrong, indices[i])
	}
	slices.Sort(wrong)
	if q, err = NewQuorum(indices, n, threshold); err != nil {
		t.Fatal(err)
	}
	return secret, q, values, wrong
}

func TestHalfOfTheSurplusMayBeWrong(t *testing.T) {
	random := rand.New(seeded(60))
	for range 400 {
		n := 1 + random.IntN(30)
		threshold := 1 + random.IntN(n)
		came := threshold + random.IntN(n-threshold+1)
		secret, q, values, wrong := corrupted(t, random, n, threshold, came, random.IntN((came-threshold)/2+1))
		got, found, err := q.Correct(values)
		slices.Sort(found)
		if err != nil || got != secret || !slices.Equal(found, wrong) {
			t.Fatalf("n=%d t=%d m=%d: wrong shares %v, found %v, error %v", n, threshold, came, wrong, found, err)
		}
	}
}

// Random errors beyond half of the surplus are not corrected, and with a surplus of at least one not taken for right either.
func TestMoreErrorsAreRefused(t *testing.T) {
	random := rand.New(seeded(61))
	for range 200 {
		n := 3 + random.IntN(28)
		threshold := 1 + random.IntN(n-1)
		came := threshold + 1 + random.IntN(n-threshold)
		least := (came-threshold)/2 + 1
		_, q, values, wrong := corrupted(t, random, n, threshold, came, least+random.IntN(came-least+1))
		if _, found, err := q.Correct(values); !errors.Is(err, ErrInconsistent) {
			t.Fatalf("n=%d t=%d m=%d with %d wrong: found %v, error %v", n, threshold, came, len(wrong), found, err)
		}
	}
}

// The limit is a true one: whoever chooses more than half of the surplus together can lead to another secret.
func TestChosenErrorsBeyondTheLimitGiveAnotherSecret(t *testing.T) {
	const n, threshold = 5, 2
	mine, theirs := secretOf(seeded(62)), secretOf(seeded(63))
	honest, err := Split(mine, n, threshold, seeded(64))
	if err != nil {
		t.Fatal(err)
	}
	forged, err := Split(theirs, n, threshold, seeded(65))
	if err != nil {
		t.Fatal(err)
	}
	values := []Value{honest[0].Value, forged[1].Value, forged[2].Value, forged[3].Value, forged[4].Value}
	q, err := NewQuorum([]int{1, 2, 3, 4, 5}, n, threshold)
	if err != nil {
		t.Fatal(err)
	}
	if got, wrong, err := q.Correct(values); err != nil || got != theirs || !slices.Equal(wrong, []int{1}) {
		t.Errorf("wrong %v, error %v", wrong, err)
	}
}

func TestCorrectChecksItsInputToo(t *testing.T) {
	_, q, values, _ := corrupted(t, rand.New(seeded(66)), 6, 3, 6, 0)
	if _, _, err := q.Correct(values[1:]); !errors.Is(err, ErrCount) {
		t.Errorf("a value too few: %v", err)
	}
	values[2][1] = prime
	if _, _, err := q.Correct(values); !errors.Is(err, ErrValue) {
		t.Errorf("a limb that is the prime: %v", err)
	}
}

func BenchmarkCorrect(b *testing.B) {
	shares, err := Split(secretOf(seeded(22)), 256, 129, seeded(23))
	if err != nil {
		b.Fatal(err)
	}
	indices, values := make([]int, 230), make([]Value, 230)
	for i := range indices {
		indices[i], values[i] = shares[i].Index, shares[i].Value
	}
	for i := range 20 {
		values[7*i][0] ^= 1
	}
	q, err := NewQuorum(indices, 256, 129)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, wrong, err := q.Correct(values); err != nil || len(wrong) != 20 {
			b.Fatal(wrong, err)
		}
	}
}
