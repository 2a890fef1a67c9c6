package secagg

import (
	"crypto/ecdh"
	"crypto/mlkem"
	"crypto/subtle"
)

// With Params.Hybrid every key that two clients agree on is derived from an X25519 secret and an ML-KEM-768 secret together (FIPS 203), so
// that who records a round today must break both one day. ML-KEM is no Diffie-Hellman: the sender of a box encapsulates to
// its receiver. For seals that is all. The mask of a pair must also be restored when one of the two is gone, from that client's
// shared secret alone. So each of the two contributes a part, derived from its own mask secret, and sends it to the other under a
// cover that the other's mask key opens:
//
//	box u -> v = ciphertext for the seal | ciphertext for the cover | part of u, covered | sealed shares
//	mask of u and v = HKDF(X25519, part of the lower, part of the higher)
//
// From the mask secret of v alone: the part of v follows, and the part of u is uncovered from the box u -> v, which the server carried.
//
// crypto/mlkem draws the randomness of an encapsulation from the system's generator: the one exception to what NewClient says.
const (
	coveredSize = mlkem.CiphertextSize768 + 32
	prefixSize  = mlkem.CiphertextSize768 + coveredSize
)

// boxPrefix is the length of what precedes the sealed shares in a box.
func boxPrefix(p *Params) int {
	if p.Hybrid {
		return prefixSize
	}
	return 0
}

// agreementKey is the secret half of one of a client's two keys.
type agreementKey struct {
	x25519 *ecdh.PrivateKey
	kem    *mlkem.DecapsulationKey768 // nil unless hybrid
}

func newAgreementKey(p *Params, context *[32]byte, secret *Seed) agreementKey {
	scalar := derive(secret[:], context, "x25519 key")
	k := agreementKey{x25519: private(&scalar)}
	if p.Hybrid {
		d, z := derive(secret[:], context, "ml-kem key", 0), derive(secret[:], context, "ml-kem key", 1)
		var err error
		if k.kem, err = mlkem.NewDecapsulationKey768(append(d[:], z[:]...)); err != nil {
			panic("secagg: internal error: " + err.Error()) // 64 bytes are a key
		}
	}
	return k
}

// public gives the public halves; the second is nil unless hybrid.
func (k agreementKey) public() (publicKey, []byte) {
	x := publicKey(k.x25519.PublicKey().Bytes())
	if k.kem == nil {
		return x, nil
	}
	return x, k.kem.EncapsulationKey().Bytes()
}

// encapsulate draws a secret for the owner of a key that was checked before.
func encapsulate(key []byte) (secret, ciphertext []byte) {
	k, err := mlkem.NewEncapsulationKey768(key)
	if err != nil {
		panic("secagg: internal error: " + err.Error())
	}
	return k.Encapsulate()
}

// part is what client mine contributes to its mask with other.
func part(secret *Seed, root *[32]byte, mine, other int) Seed {
	return derive(secret[:], root, "part of a mask", mine, other)
}

// cover hides a part under a secret, and uncovers it.
func cover(secret []byte, root *[32]byte, from, to int, part *Seed) (covered Seed) {
	pad := derive(secret, root, "cover of a part", from, to)
	subtle.XORBytes(covered[:], pad[:], part[:])
	return covered
}
