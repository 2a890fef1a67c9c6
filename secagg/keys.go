package secagg

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
)

// ID is a client's enrolled Ed25519 public key: its name in every round.
type ID [ed25519.PublicKeySize]byte

// String is the beginning of the key, for people.
func (id ID) String() string { return hex.EncodeToString(id[:6]) }

// Roster is the set of clients that may take part.
type Roster map[ID]bool

// verify checks a signature under the name of a client.
func (id ID) verify(message []byte, signature *[64]byte) bool {
	return ed25519.Verify(id[:], message, signature[:])
}

// publicKey is an X25519 public key.
type publicKey [32]byte

func private(secret *Seed) *ecdh.PrivateKey {
	key, err := ecdh.X25519().NewPrivateKey(secret[:])
	if err != nil {
		panic("secagg: internal error: " + err.Error()) // any 32 bytes are a key
	}
	return key
}

// lowOrder lists the x-coordinates of small order and their second spellings: with them the agreed secret is zero whatever the other key.
// Bernstein, "Curve25519: new Diffie-Hellman speed records", and cr.yp.to/ecdh.html#validate. A test asks crypto/ecdh.
var lowOrder = func() map[publicKey]bool {
	points := map[publicKey]bool{}
	for _, x := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		var p publicKey
		hex.Decode(p[:], []byte(x))
		points[p] = true
	}
	return points
}()

// check refuses keys that agree on nothing secret, and a top bit that X25519 ignores: it would let one key pass for two.
func (k *publicKey) check() error {
	if k[31]&0x80 != 0 {
		return refuse(ErrKey, "not canonical")
	}
	if enforced(checkKeyOrder) && lowOrder[*k] {
		return refuse(ErrKey, "of low order")
	}
	return nil
}

// agree is the Diffie-Hellman secret of a private and another client's public key.
func agree(mine *ecdh.PrivateKey, theirs *publicKey) ([]byte, error) {
	key, err := ecdh.X25519().NewPublicKey(theirs[:])
	if err != nil {
		return nil, refuse(ErrKey, "%v", err)
	}
	shared, err := mine.ECDH(key)
	if !enforced(checkKeyOrder) && err != nil {
		return make([]byte, 32), nil // what X25519 gives
	}
	if err != nil {
		return nil, refuse(ErrKey, "%v", err)
	}
	return shared, nil
}

// commitment lets everybody recognise a seed that is restored later. The seed is uniform, so the hash hides it.
func commitment(context *[32]byte, seed *Seed) [32]byte {
	h := sha256.New()
	h.Write([]byte("hubbub secagg 1 self mask\x00"))
	h.Write(context[:])
	h.Write(seed[:])
	return [32]byte(h.Sum(nil))
}
