// Package noise draws the randomness that protects: one cryptographic stream, and the samplers fed by it.
//
// Everything random comes from an AES-256-CTR stream under a 32-byte key. Keys are derived per purpose, round and client,
// so no two uses share a stream and a run can be replayed from one key. A seeded simulation is private only while
// its seed is secret; a real client takes its key from the system's generator with [NewKey].
//
// The integer samplers ([Skellam], [DiscreteGaussian], [Poisson], [Binomial]) write their law down beforehand, in whole
// multiples of 2^-128, and draw from that by integer arithmetic alone: no sample passes through a float, so its
// low bits tell nothing (Mironov 2012). Distance says how far in total variation one draw may be from the ideal law
// if the stream's bits are uniform: below 2^-107 at every variance. Distances add up over draws, and tau in all adds
// (1 + e^epsilon)·tau to delta.
//
// Their Add does the same work whatever it draws: the same instructions, branches and bytes of the stream, but for an event
// of probability below 2^-54 in each block of 4096 draws, which takes a little longer. So the time of a call is no
// measure of its noise (Jin, McMurtry, Rubinstein, Ohrimenko 2022, "Are We There Yet? Timing and Floating-Point Attacks on
// Differential Privacy Systems"). Which places of a table are read does depend on the draw: somebody who shares the
// processor's caches may learn of it.
//
// A sampler takes from 0.1 ms (variance 1) to a second (variance 1e9) to make, and never changes afterwards: make it
// once and let goroutines share it, each with its own stream. The same key gives the same samples on every processor.
package noise

import (
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

// Derive gives the key for one purpose, e.g. k.Derive("server noise", round). Different arguments give unrelated keys: they are
// HMAC-SHA256 under k (RFC 2104), written out so that a key per client allocates nothing.
func (k Key) Derive(purpose string, numbers ...uint64) Key {
	var space [3 * sha256.BlockSize]byte
	message := k.pad(space[:0], 0x36)
	// The length goes first so that no purpose and number list can spell another one.
	message = binary.BigEndian.AppendUint64(message, uint64(len(purpose)))
	message = append(message, purpose...)
	for _, n := range numbers {
		message = binary.BigEndian.AppendUint64(message, n)
	}
	inner := sha256.Sum256(message)
	var outer [2 * sha256.BlockSize]byte
	return sha256.Sum256(append(k.pad(outer[:0], 0x5c), inner[:]...))
}

// pad appends the key, filled up with zeros to a block of the hash, each byte combined with a constant.
func (k Key) pad(to []byte, constant byte) []byte {
	for _, b := range k {
		to = append(to, b^constant)
	}
	for range sha256.BlockSize - len(k) {
		to = append(to, constant)
	}
	return to
}

// String hides the key, so that no log line or error can show it.
func (k Key) String() string { return "noise.Key(hidden)" }

// GoString hides the key from %#v as well.
func (k Key) GoString() string { return k.String() }

// Format hides the key from every verb, %x among them.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, k.String()) }
