package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/mlkem"

	"hubbub/secagg/shamir"
)

// A box carries shares from one client to another through the server, which cannot open it.

// plainSize is the length of what is sealed to one holder: its shares of the mask key, of the self mask and of each layer.
func plainSize(p *Params) int { return (2 + p.Layers) * shamir.ValueSize }

func boxSize(p *Params) int { return boxPrefix(p) + plainSize(p) + sealOverhead }

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

// A sealing key seals one message, so that its nonce may be fixed: it is derived for one pair, one direction and one cohort.
func sealing(key *Seed) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("secagg: internal error: " + err.Error()) // 32 bytes are a key
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("secagg: internal error: " + err.Error()) // AES has the right block
	}
	return aead
}

const sealOverhead = 16

var sealNonce [12]byte

// sealedTo is what a seal is bound to besides its key.
func sealedTo(root *[32]byte, from, to int) []byte {
	return appendNumber(appendNumber(append([]byte("hubbub secagg 1 share\x00"), root[:]...), from), to)
}
