package secagg

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Seed is 32 secret bytes. It prints as "secagg.Seed(secret)" in whatever way it is printed.
type Seed [32]byte

// String hides the seed, so that no log line or error can show it.
func (s Seed) String() string { return "secagg.Seed(secret)" }

// Format hides the seed from every verb, %x and %#v among them.
func (s Seed) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText hides the seed from encoders that find it inside something else.
func (s Seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// erase is the best that Go allows: copies that the compiler or the standard library made stay until they are overwritten.
func (s *Seed) erase() { clear(s[:]) }

func newSeed(random io.Reader) (Seed, error) {
	var s Seed
	if _, err := io.ReadFull(random, s[:]); err != nil {
		return Seed{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	return s, nil
}

// derive gives the seed for one purpose, bound to a salt (the hash of a context). Numbers have a fixed width and purposes are
// constants of this package none of which begins another, so different arguments give unrelated seeds.
func derive(secret []byte, salt *[32]byte, purpose string, numbers ...int) Seed {
	info := make([]byte, 0, len(purpose)+4*len(numbers))
	info = append(info, purpose...)
	for _, n := range numbers {
		info = binary.LittleEndian.AppendUint32(info, uint32(n))
	}
	key, err := hkdf.Key(sha256.New, secret, salt[:], string(info), len(Seed{}))
	if err != nil {
		panic("secagg: internal error: " + err.Error()) // 32 bytes are not too many
	}
	return Seed(key)
}
