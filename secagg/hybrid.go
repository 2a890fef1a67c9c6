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

// pairSeed is the seed of the mask that two clients have in common, from the mask secret of one, and the box that it was sent by
// the other; both ends find the same.
func pairSeed(p *Params, key agreementKey, secret *Seed, theirs *advert, box []byte, root *[32]byte, mine, other int) (Seed, error) {
	shared, err := agree(key.x25519, &theirs.mask)
	if err != nil {
		return Seed{}, refuse(err, "client %s", theirs.id)
	}
	if p.Hybrid {
		kem, err := key.kem.Decapsulate(box[mlkem.CiphertextSize768:][:mlkem.CiphertextSize768])
		if err != nil {
			return Seed{}, refuse(ErrSeal, "from client %s", theirs.id)
		}
		covered := Seed(box[prefixSize-32 : prefixSize])
		parts := [2]Seed{part(secret, root, mine, other), cover(kem, root, other, mine, &covered)}
		if other < mine {
			parts[0], parts[1] = parts[1], parts[0]
		}
		shared = append(append(shared, parts[0][:]...), parts[1][:]...)
	}
	return derive(shared, root, "pair", min(mine, other), max(mine, other)), nil
}

// adds says whether the first of two clients adds their common mask; the other subtracts it [BIKMMPRSS17, section 4].
func adds(mine, other int) bool { return mine > other }

// sealBox appends a box to a neighbour: the prefix, then the plain text sealed, bound to the prefix too. agreed is the X25519 secret of the
// two sealing keys, mask the sender's mask secret.
func sealBox(dst []byte, p *Params, agreed, mask *Seed, to *advert, root *[32]byte, mine, other int, plain []byte) []byte {
	shared := append([]byte(nil), agreed[:]...)
	bound := sealedTo(root, mine, other)
	if p.Hybrid {
		forSeal, ciphertext := encapsulate(to.sealKEM)
		shared = append(shared, forSeal...)
		start := len(dst)
		dst = append(dst, ciphertext...)
		forCover, ciphertext := encapsulate(to.maskKEM)
		contributed := part(mask, root, mine, other)
		covered := cover(forCover, root, mine, other, &contributed)
		dst = append(append(dst, ciphertext...), covered[:]...)
		bound = append(bound, dst[start:]...)
	}
	seal := derive(shared, root, "seal", mine, other)
	return sealing(&seal).Seal(dst, sealNonce[:], plain, bound)
}

// openBox opens a box of a neighbour.
func openBox(p *Params, agreed *Seed, key agreementKey, from *advert, root *[32]byte, mine, other int, box []byte) ([]byte, error) {
	shared := append([]byte(nil), agreed[:]...)
	bound := sealedTo(root, other, mine)
	if p.Hybrid {
		kem, err := key.kem.Decapsulate(box[:mlkem.CiphertextSize768])
		if err != nil {
			return nil, refuse(ErrSeal, "from client %s", from.id)
		}
		shared = append(shared, kem...)
		bound = append(bound, box[:prefixSize]...)
		box = box[prefixSize:]
	}
	seal := derive(shared, root, "seal", other, mine)
	plain, err := sealing(&seal).Open(nil, sealNonce[:], box, bound)
	if err != nil {
		return nil, refuse(ErrSeal, "from client %s", from.id)
	}
	return plain, nil
}
