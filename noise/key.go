// Package noise draws the randomness that protects: one cryptographic stream, and the samplers fed by it.
//
// Everything random comes from an AES-256-CTR stream under a 32-byte key. Keys are derived per purpose, round and client,
// so no two uses share a stream and a run can be replayed from one key. A seeded simulation is private only while
// its seed is secret; a real client takes its key from the system's generator with [NewKey].
package noise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Key is the secret that a stream grows from. It prints as "noise.Key(hidden)".
type Key [32]byte

// NewKey reads a key from random. A generator that fails is an error: there is no fallback.
func NewKey(random io.Reader) (Key, error) {
	var k Key
	if _, err := io.ReadFull(random, k[:]); err != nil {
		return Key{}, fmt.Errorf("noise: the random generator failed: %w", err)
	}
	return k, nil
}

// Seeded is the key of a simulation. The seed has 64 bits at the most, so it hides nothing from someone who tries them all.
func Seeded(seed uint64) Key {
	return Key(sha256.Sum256(binary.BigEndian.AppendUint64([]byte("hubbub simulation seed "), seed)))
}

// Derive gives the key for one purpose, e.g. k.Derive("server noise", round). Different arguments give unrelated keys.
func (k Key) Derive(purpose string, numbers ...uint64) Key {
	mac := hmac.New(sha256.New, k[:])
	// The length goes first so that no purpose and number list can spell another one.
	message := binary.BigEndian.AppendUint64(nil, uint64(len(purpose)))
	message = append(message, purpose...)
	for _, n := range numbers {
		message = binary.BigEndian.AppendUint64(message, n)
	}
	mac.Write(message)
	return Key(mac.Sum(nil))
}

// String hides the key, so that no log line or error can show it.
func (k Key) String() string { return "noise.Key(hidden)" }

// GoString hides the key from %#v as well.
func (k Key) GoString() string { return k.String() }

// Format hides the key from every verb, %x among them.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }
