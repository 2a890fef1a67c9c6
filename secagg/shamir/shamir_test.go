package shamir

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func seeded(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func secretOf(random io.Reader) (s [SecretSize]byte) {
	io.ReadFull(random, s[:])
	return s
}

// dumb restores by the textbook formula in big integers, one limb at a time.
func dumb(t *testing.T, shares []Share) [SecretSize]byte {
	t.Helper()
	p := big.NewInt(prime)
	whole := new(big.Int)
	for l := limbs - 1; l >= 0; l-- {
		limb := new(big.Int)
		for i := range shares {
			term := new(big.Int).SetUint64(shares[i].Value[l])
			for j := range shares {
				if i != j {
					xi, xj := big.NewInt(int64(shares[i].Index)), big.NewInt(int64(shares[j].Index))
					term.Mul(term, xj)
					term.Mul(term, new(big.Int).ModInverse(new(big.Int).Sub(xj, xi), p))
				}
			}
			limb.Mod(limb.Add(limb, term), p)
		}
		whole.Lsh(whole, limbBits).Add(whole, limb)
	}
	var secret [SecretSize]byte
	whole.FillBytes(secret[:])
	for i, j := 0, SecretSize-1; i < j; i, j = i+1, j-1 { // limbs are little endian
		secret[i], secret[j] = secret[j], secret[i]
	}
	return secret
}

func TestAnyThresholdOfSharesRestoresAndAgreesWithTheTextbook(t *testing.T) {
	random := rand.New(seeded(1))
	for range 200 {
		n := 1 + random.IntN(24)
		threshold := 1 + random.IntN(n)
		secret := secretOf(seeded(byte(random.IntN(256))))
		shares, err := Split(secret, n, threshold, seeded(byte(random.IntN(256))))
		if err != nil {
			t.Fatal(err)
		}
		random.Shuffle(n, func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
		used := shares[:threshold+random.IntN(n-threshold+1)]
		got, err := Combine(used, n, threshold)
		if err != nil || got != secret {
			t.Fatalf("n=%d t=%d from %d shares: wrong secret, error %v", n, threshold, len(used), err)
		}
		if dumb(t, shares[:threshold]) != secret {
			t.Fatalf("n=%d t=%d: the textbook formula gives something else", n, threshold)
		}
	}
}

func TestSecretsAtTheEdgesSurvive(t *testing.T) {
	for name, fill := range map[string]byte{"all zeros": 0, "all ones": 0xff} {
		t.Run(name, func(t *testing.T) {
			secret := [SecretSize]byte(bytes.Repeat([]byte{fill}, SecretSize))
			shares, err := Split(secret, 5, 3, seeded(2))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Combine(shares[1:4], 5, 3); err != nil || got != secret {
				t.Fatalf("restored %x, error %v", got, err)
			}
		})
	}
}

// The sharing is part of a protocol's bytes: the same random bytes must give the same shares for ever. The hash is our own
// first result, whose shares the textbook formula above restores.
func TestSharesAreAFunctionOfTheRandomBytes(t *testing.T) {
	shares, err := Split(secretOf(seeded(3)), 7, 4, seeded(4))
	if err != nil {
		t.Fatal(err)
	}
	var encoded []byte
	for _, s := range shares {
		encoded = s.Value.Append(encoded)
	}
	const want = "73744edea2e62e18cca85f72b858d11c5f58955c402525ab180b3228d047c5db"
	if got := fmt.Sprintf("%x", sha256.Sum256(encoded)); got != want {
		t.Errorf("hash of the shares is %s, want %s", got, want)
	}
}

// Fewer than t shares fit every secret: for t-1 shares and any other secret there is a polynomial through both. Here that
// is shown by finding the t-th share that turns the same t-1 shares into a chosen secret.
func TestTooFewSharesFitEverySecret(t *testing.T) {
	const n, threshold = 6, 4
	truth := secretOf(seeded(5))
	shares, err := Split(truth, n, threshold, seeded(6))
	if err != nil {
		t.Fatal(err)
	}
	for seed := byte(10); seed < 20; seed++ {
		other := secretOf(seeded(seed))
		wanted := cut(other)
		q, err := NewQuorum([]int{2, 3, 5, 6}, n, threshold)
		if err != nil {
			t.Fatal(err)
		}
		values := []Value{shares[1].Value, shares[2].Value, shares[4].Value, {}}
		inverse := []uint64{q.atZero[3]}
		invert(inverse)
		for l := range wanted {
			rest := wanted[l]
			for i := range 3 {
				rest = subtract(canonical(rest), canonical(multiply(q.atZero[i], values[i][l])))
			}
			values[3][l] = canonical(multiply(rest, inverse[0]))
		}
		if got, err := q.Combine(values); err != nil || got != other {
			t.Fatalf("three shares did not fit secret of seed %d: %v", seed, err)
		}
	}
}

// Sample size 64,000 a secret; chi-square over 64 cells of the top bits of one share. The limit 120 at 63 degrees of freedom is
// exceeded with probability 2.0e-5 by a uniform law, so a false alarm has probability 8e-5 over the four cases.
func TestOneShareOfTwoLooksUniformWhateverTheSecret(t *testing.T) {
	for _, c := range []struct{ seed, fill byte }{{30, 0}, {31, 0xff}, {32, 0x55}, {33, 1}} {
		secret := [SecretSize]byte(bytes.Repeat([]byte{c.fill}, SecretSize))
		random := seeded(c.seed)
		const draws, cells = 64000, 64
		var counts [cells]int
		for range draws / limbs {
			shares, err := Split(secret, 2, 2, random)
			if err != nil {
				t.Fatal(err)
			}
			for _, limb := range shares[1].Value {
				counts[limb>>55]++
			}
		}
		chi := 0.0
		for _, k := range counts {
			d := float64(k) - draws/cells
			chi += d * d / (draws / cells)
		}
		if chi > 120 {
			t.Errorf("fill %#x: chi-square %.1f over 120", c.fill, chi)
		}
	}
}

func TestWrongInputsAreRefused(t *testing.T) {
	shares, err := Split(secretOf(seeded(7)), 5, 3, seeded(8))
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(s []Share) []Share) []Share { return change(append([]Share(nil), shares...)) }
	for _, c := range []struct {
		name   string
		shares []Share
		n, t   int
		want   error
	}{
		{"index zero", with(func(s []Share) []Share { s[0].Index = 0; return s }), 5, 3, ErrIndex},
		{"negative index", with(func(s []Share) []Share { s[0].Index = -1; return s }), 5, 3, ErrIndex},
		{"index past n", with(func(s []Share) []Share { s[0].Index = 6; return s }), 5, 3, ErrIndex},
		{"index equal to the prime, which is zero in the field", with(func(s []Share) []Share { s[0].Index = prime; return s }), 5, 3, ErrIndex},
		{"an index twice", with(func(s []Share) []Share { s[0] = s[1]; return s }), 5, 3, ErrIndex},
		{"too few shares", shares[:2], 5, 3, ErrCount},
		{"no shares", nil, 5, 3, ErrCount},
		{"more shares than holders", append(with(func(s []Share) []Share { return s }), Share{Index: 1}), 5, 3, ErrCount},
		{"a limb equal to the prime", with(func(s []Share) []Share { s[2].Value[1] = prime; return s }), 5, 3, ErrValue},
		{"a limb of 64 ones", with(func(s []Share) []Share { s[2].Value[4] = 1<<64 - 1; return s }), 5, 3, ErrValue},
		{"a surplus share with one wrong bit", with(func(s []Share) []Share { s[4].Value[2] ^= 1; return s }), 5, 3, ErrInconsistent},
		{"two shares exchanged", with(func(s []Share) []Share { s[0].Value, s[1].Value = s[1].Value, s[0].Value; return s }), 5, 3, ErrInconsistent},
		{"a lower threshold than was shared with", shares, 5, 2, ErrInconsistent},
		{"threshold zero", shares, 5, 0, ErrSetting},
		{"threshold over n", shares, 5, 6, ErrSetting},
		{"n zero", shares, 0, 0, ErrSetting},
		{"n over the maximum", shares, MaxShares + 1, 3, ErrSetting},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Combine(c.shares, c.n, c.t)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if got != [SecretSize]byte{} {
				t.Error("a refusal came with a secret")
			}
		})
	}
}

// Any wrong values in surplus shares are found, unless the wrong ones themselves lie on a polynomial.
func TestSurplusFindsEveryFewErrors(t *testing.T) {
	random := rand.New(seeded(9))
	for range 300 {
		n := 4 + random.IntN(16)
		threshold := 1 + random.IntN(n-2)
		shares, err := Split(secretOf(seeded(10)), n, threshold, seeded(byte(random.IntN(256))))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(n-threshold) { // up to n-t errors are always found: the code's distance is n-t+1
			s := &shares[random.IntN(n)]
			s.Value[random.IntN(limbs)] = random.Uint64N(prime)
		}
		if _, err := Combine(shares, n, threshold); !errors.Is(err, ErrInconsistent) {
			t.Fatalf("n=%d t=%d: errors went unseen: %v", n, threshold, err)
		}
	}
}

// This is the limit that the package states: without surplus a wrong share gives a wrong secret or, when a limb falls out of its
// range, an error; it never gives the right one.
func TestWithoutSurplusAWrongShareIsNotAlwaysSeen(t *testing.T) {
	secret := secretOf(seeded(11))
	shares, err := Split(secret, 2, 1, seeded(12)) // with threshold 1 a share is the secret itself
	if err != nil {
		t.Fatal(err)
	}
	shares[0].Value[0] ^= 1
	got, err := Combine(shares[:1], 2, 1)
	if err != nil || got == secret {
		t.Errorf("expected another secret without an error, got error %v", err)
	}
}

func TestAGeneratorThatFailsIsAnError(t *testing.T) {
	for name, random := range map[string]io.Reader{
		"at once":       strings.NewReader(""),
		"half way":      strings.NewReader(strings.Repeat("x", 100)),
		"when repeated": io.MultiReader(bytes.NewReader(bytes.Repeat([]byte{0xff}, 3*ValueSize))),
	} {
		if shares, err := Split([SecretSize]byte{1}, 5, 4, random); !errors.Is(err, ErrRandom) || shares != nil {
			t.Errorf("%s: shares %v, error %v", name, shares, err)
		}
	}
}

func TestThePrimeIsDrawnAgain(t *testing.T) {
	ones := bytes.Repeat([]byte{0xff}, 8)
	rest := bytes.Repeat([]byte{7}, ValueSize)
	shares, err := Split([SecretSize]byte{}, 1, 2-1, nil) // threshold 1 needs no randomness
	if err != nil || shares[0].Value != (Value{}) {
		t.Fatalf("threshold 1: %v", err)
	}
	shares, err = Split([SecretSize]byte{}, 2, 2, io.MultiReader(bytes.NewReader(ones), bytes.NewReader(rest)))
	if err != nil {
		t.Fatal(err)
	}
	for l, limb := range shares[0].Value { // the secret is zero, so the share at 1 is the coefficient
		if want := uint64(0x0707070707070707) & prime; limb != want {
			t.Errorf("limb %d is %#x, want %#x", l, limb, want)
		}
	}
}

func TestOneQuorumRestoresManySecrets(t *testing.T) {
	const n, threshold = 40, 25
	indices := []int{}
	for x := n; x > 5; x-- {
		indices = append(indices, x)
	}
	q, err := NewQuorum(indices, n, threshold)
	if err != nil {
		t.Fatal(err)
	}
	for seed := byte(40); seed < 60; seed++ {
		secret := secretOf(seeded(seed))
		shares, err := Split(secret, n, threshold, seeded(seed+100))
		if err != nil {
			t.Fatal(err)
		}
		values := make([]Value, len(indices))
		for i, x := range indices {
			values[i] = shares[x-1].Value
		}
		if got, err := q.Combine(values); err != nil || got != secret {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if _, err := q.Combine(values[1:]); !errors.Is(err, ErrCount) {
			t.Errorf("one value too few: %v", err)
		}
	}
}

func TestValuesStayHidden(t *testing.T) {
	v := Value{123456789, 2, 3, 4, 5}
	encoded, err := json.Marshal(struct{ Share Share }{Share{1, v}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(v), fmt.Sprintf("%d %x %#v %s", v, v, v, v), fmt.Sprintf("%+v", Share{1, v}), string(encoded)} {
		if strings.Contains(s, "123456789") || strings.Contains(s, "75bcd15") || !strings.Contains(s, "hidden") {
			t.Errorf("shows the value: %s", s)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	v := Value{1, 2, 3, 4, prime - 1}
	f.Add(v.Append(nil))
	f.Add(bytes.Repeat([]byte{0xff}, ValueSize))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		v, err := ParseValue(encoded)
		if err != nil {
			if !errors.Is(err, ErrValue) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if !bytes.Equal(v.Append(nil), encoded) {
			t.Fatal("the value encodes to other bytes")
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	random, secret := seeded(20), secretOf(seeded(21))
	for b.Loop() {
		if _, err := Split(secret, 100, 51, random); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCombine(b *testing.B) {
	shares, err := Split(secretOf(seeded(22)), 100, 51, seeded(23))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		shares int
	}{{"exact", 51}, {"surplus", 90}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Combine(shares[:c.shares], 100, 51); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("another secret of the same quorum", func(b *testing.B) {
		indices, values := make([]int, 51), make([]Value, 51)
		for i := range indices {
			indices[i], values[i] = shares[i].Index, shares[i].Value
		}
		q, err := NewQuorum(indices, 100, 51)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := q.Combine(values); err != nil {
				b.Fatal(err)
			}
		}
	})
}
