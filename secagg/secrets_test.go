package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// A secret in a log is a secret lost: every way of printing is tried on everything that holds one.
func TestNothingPrintsASecret(t *testing.T) {
	x := gather(t, Params{Cohort: 3, Threshold: 2, MinSurvivors: 3, Dim: 10, Bits: 20})
	c := x.clients[0]
	u := &Unmasking{masks: []signedSeed{{c.self, true}}, layers: []Seed{c.mask}}
	config := ClientConfig{Key: ed25519.NewKeyFromSeed(c.self[:])}
	spellings := func(s Seed) []string {
		return []string{hex.EncodeToString(s[:4]), strings.ToUpper(hex.EncodeToString(s[:4])), strings.Trim(fmt.Sprint(s[:4]), "[]"),
			fmt.Sprintf("%#x, %#x, %#x", s[0], s[1], s[2]), string(s[:4])}
	}
	for _, holder := range []any{c.self, &c.self, c.layer, *c, c, *u, u, c.circle[1].pair, config, &config, x.server, *x.server} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q", "%b", "%o"} {
			printed := fmt.Sprintf(verb, holder)
			for _, secret := range []Seed{c.self, c.mask, c.seal, c.circle[1].pair} {
				for _, spelling := range spellings(secret) {
					if strings.Contains(printed, spelling) {
						t.Errorf("%T printed with %s shows a secret", holder, verb)
					}
				}
			}
		}
		encoded, err := json.Marshal(holder)
		if err != nil {
			continue
		}
		for _, spelling := range spellings(c.self) {
			if strings.Contains(string(encoded), spelling) {
				t.Errorf("%T as JSON shows a secret", holder)
			}
		}
	}
}

func TestAFailingGeneratorEndsTheRound(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	config := ClientConfig{Params: Params{Cohort: 3, Threshold: 2, MinSurvivors: 3, Dim: 10, Bits: 20}, Policy: Policy{MinSurvivors: 3}, Key: key}
	broken := errors.New("no entropy")
	for _, bytes := range []int64{0, 1, 32, 100, 159} {
		random := io.MultiReader(io.LimitReader(rand.NewChaCha8([32]byte{}), bytes), iotest.ErrReader(broken))
		c, err := NewClient(config, random)
		if !errors.Is(err, ErrRandom) || !errors.Is(err, broken) || c != nil {
			t.Errorf("after %d bytes: client %v, error %v", bytes, c != nil, err)
		}
	}
	if _, err := NewClient(config, io.LimitReader(rand.NewChaCha8([32]byte{}), 160)); err != nil {
		t.Errorf("160 bytes are all that it needs: %v", err)
	}
}

// The table of low-order points is what crypto/ecdh refuses to agree with, and a few random keys are not in it.
func TestLowOrderKeysAreThoseWithoutASecret(t *testing.T) {
	secret := Seed{1, 2, 3}
	if len(lowOrder) != 7 {
		t.Fatalf("%d points in the table, 7 are known", len(lowOrder))
	}
	for point := range lowOrder {
		if _, err := agree(private(&secret), &point); !errors.Is(err, ErrKey) {
			t.Errorf("%x agrees on a secret", point)
		}
		if err := point.check(); !errors.Is(err, ErrKey) {
			t.Errorf("%x is accepted", point)
		}
		point[31] |= 0x80 // X25519 ignores this bit
		if err := point.check(); !errors.Is(err, ErrKey) {
			t.Errorf("%x is accepted", point)
		}
	}
	for i := range 100 {
		key, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{byte(i)}, 32))
		if err != nil {
			t.Fatal(err)
		}
		point := publicKey(key.PublicKey().Bytes())
		if err := point.check(); err != nil {
			t.Errorf("%x: %v", point, err)
		}
	}
}
