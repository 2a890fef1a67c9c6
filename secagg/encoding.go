package secagg

import "encoding/binary"

// Every message is a kind, the hash that it belongs to, and a body whose length follows from the parameters and the cohort alone. So
// a reader knows the length of what may come before it reads, nothing is allocated for lengths that a stranger
// wrote, and every message has exactly one encoding.
type kind byte

const (
	kindAdvert    kind = iota + 1 // client: my public keys
	kindCohort                    // server: everybody's public keys
	kindShares                    // client: my sealed shares
	kindDelivery                  // server: the shares sealed to you
	kindChunk                     // client: a chunk of my masked vector
	kindSurvivors                 // server: whose vectors came
	kindConsent                   // client: my signature of that set
	kindRequest                   // server: t signatures of that set; unmask it
	kindReveal                    // client: one share of each
)

const headerSize = 1 + 32

func header(k kind, tag *[32]byte, body int) []byte {
	return append(append(make([]byte, 0, headerSize+body), byte(k)), tag[:]...)
}

// kindOf is zero for no message of ours.
func kindOf(message []byte) kind {
	if len(message) < headerSize || message[0] > byte(kindReveal) {
		return 0
	}
	return kind(message[0])
}

// open checks a header and gives a reader of the body.
func open(message []byte, k kind, tag *[32]byte) (*reader, error) {
	if kindOf(message) != k {
		return nil, refuse(ErrMalformed, "%d bytes that are no message of kind %d", len(message), k)
	}
	if [32]byte(message[1:headerSize]) != *tag {
		return nil, ErrOtherRound
	}
	return &reader{rest: message[headerSize:]}, nil
}

// reader takes a message apart from its front. After the first shortage everything reads as zero and end reports it.
type reader struct {
	rest  []byte
	short bool
}

// take gives the next n bytes without copying them, nil if there are fewer.
func (r *reader) take(n int) []byte {
	if r.short || n > len(r.rest) {
		r.short = true
		return nil
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) hash() (h [32]byte) {
	copy(h[:], r.take(32))
	return h
}

func (r *reader) number() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// set reads n bits, lowest first; the bits that fill the last byte must be zero.
func (r *reader) set(n int) set {
	packed := r.take((n + 7) / 8)
	if packed == nil {
		return nil
	}
	s := make(set, n)
	for i := range s {
		s[i] = packed[i/8]>>(i%8)&1 == 1
	}
	if n%8 != 0 && packed[n/8]>>(n%8) != 0 {
		r.short = true
	}
	return s
}

// end refuses a message that was too short or is too long.
func (r *reader) end() error {
	if r.short {
		return refuse(ErrMalformed, "too short, or bits set that have no meaning")
	}
	if len(r.rest) > 0 {
		return refuse(ErrMalformed, "%d bytes too long", len(r.rest))
	}
	return nil
}

func appendNumber(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

// set is a set of clients: by their position in the cohort, or in a list of holders.
type set []bool

func (s set) count() int {
	n := 0
	for _, in := range s {
		if in {
			n++
		}
	}
	return n
}

func (s set) append(b []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, (len(s)+7)/8)...)
	for i, in := range s {
		if in {
			b[start+i/8] |= 1 << (i % 8)
		}
	}
	return b
}
