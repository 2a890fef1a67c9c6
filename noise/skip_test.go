package noise

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSkippingIsReadingAndThrowingAway(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	skips, reads := Seeded(5).Stream(), Seeded(5).Stream()
	var a, b [6000]byte
	for i := range 3000 {
		n := 16 * r.IntN(1+5000/16>>(i%9))
		if r.IntN(2) == 0 {
			skips.Skip(n)
			reads.Fill(b[:n])
			continue
		}
		skips.Fill(a[:n])
		reads.Fill(b[:n])
		if !bytes.Equal(a[:n], b[:n]) {
			t.Fatalf("step %d: the streams parted", i)
		}
	}
}

func TestARestartedStreamIsANewOne(t *testing.T) {
	used, fresh := Seeded(5).Stream(), Seeded(6).Stream()
	for range 77 {
		used.Uint64()
	}
	used.Restart(Seeded(6))
	for range 300 {
		if a, b := used.Uint64(), fresh.Uint64(); a != b {
			t.Fatalf("%x, a new stream gives %x", a, b)
		}
	}
}

func TestDerivedKeysAreHMACsOfTheirPurpose(t *testing.T) {
	for _, purpose := range []string{"", "noise", strings.Repeat("long ", 100)} {
		for _, numbers := range [][]uint64{nil, {7}, {1, 1 << 60, 3}} {
			k := Seeded(3)
			mac := hmac.New(sha256.New, k[:])
			message := binary.BigEndian.AppendUint64(nil, uint64(len(purpose)))
			message = append(message, purpose...)
			for _, n := range numbers {
				message = binary.BigEndian.AppendUint64(message, n)
			}
			mac.Write(message)
			if got := k.Derive(purpose, numbers...); !bytes.Equal(got[:], mac.Sum(nil)) {
				t.Errorf("%.10q %v: another key", purpose, numbers)
			}
		}
	}
}

func TestAKeyPerClientAllocatesNothing(t *testing.T) {
	k, s := Seeded(1), Seeded(1).Stream()
	client := uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		client++
		s.Restart(k.Derive("client", 3, client))
		s.Uint64()
	}); n > 0 && fastCipher() {
		t.Errorf("%g allocations", n)
	}
}

// fastCipher reports whether a stream is made without the standard library, whose cipher lives on the heap.
func fastCipher() bool {
	s := Seeded(1).Stream()
	return testing.AllocsPerRun(1, func() { s.Restart(Key{}) }) == 0
}
