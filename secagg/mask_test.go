package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// The dumb version: the standard library's stream from its beginning, word by word.
func TestAMaskIsTheCipherStreamOfItsSeed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var seed Seed
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		from, n := ChunkUnit*random.IntN(5), 1+random.IntN(700)
		block, err := aes.NewCipher(seed[:])
		if err != nil {
			t.Fatal(err)
		}
		stream := make([]byte, 8*(from+n))
		cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(stream, stream)
		subtract := random.IntN(2) == 1
		v32, v64 := make([]uint32, n), make([]uint64, n)
		for i := range n {
			v32[i], v64[i] = random.Uint32(), random.Uint64()
		}
		got32, got64 := append([]uint32(nil), v32...), append([]uint64(nil), v64...)
		addMask(got32, &seed, from, subtract)
		addMask(got64, &seed, from, subtract)
		for i := range n {
			m32, m64 := binary.LittleEndian.Uint32(stream[4*(from+i):]), binary.LittleEndian.Uint64(stream[8*(from+i):])
			if subtract {
				m32, m64 = -m32, -m64
			}
			if got32[i] != v32[i]+m32 || got64[i] != v64[i]+m64 {
				t.Fatalf("element %d of %d from %d differs", i, n, from)
			}
		}
	}
}
