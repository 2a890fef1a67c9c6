package noise

import (
	"encoding/binary"
	"math"
	"math/bits"

	"hubbub/internal/kernel"
)

// Stream is an endless cryptographic sequence of bits. It is not safe for concurrent use: derive a key per goroutine.
type Stream struct {
	ctr    kernel.Keystream
	buffer [2 * kernel.Chunk]byte
	next   int    // first unused byte of buffer
	work   *block // of the samplers; made when first needed
}

// Stream starts the AES-256-CTR stream of the key, counter zero.
func (k Key) Stream() *Stream {
	s := new(Stream)
	s.Restart(k)
	return s
}

// Restart makes s the stream of another key, from its start. It spares the memory of a new one.
func (s *Stream) Restart(k Key) {
	s.ctr.Start(k)
	s.next = len(s.buffer)
}

// Uint64 gives the next 64 bits.
func (s *Stream) Uint64() uint64 {
	if s.next == len(s.buffer) {
		s.ctr.Fill(s.buffer[:])
		s.next = 0
	}
	x := binary.LittleEndian.Uint64(s.buffer[s.next:])
	s.next += 8
	return x
}

// Fill overwrites dst, a multiple of 16 bytes, with the next bytes of the stream.
func (s *Stream) Fill(dst []byte) {
	if len(dst)%16 != 0 {
		panic("noise: internal error: part of a cipher block asked for")
	}
	s.read(dst)
}

// read is Fill for callers inside.
func (s *Stream) read(dst []byte) {
	n := copy(dst, s.buffer[s.next:])
	s.next += n
	dst = dst[n:]
	whole := len(dst) &^ (kernel.Chunk - 1) // past the buffer
	s.ctr.Fill(dst[:whole])
	if dst = dst[whole:]; len(dst) > 0 {
		s.refill()
		copy(dst, s.buffer[kernel.Chunk:])
		s.next += len(dst)
	}
}

// direct is the cipher at the very place where the stream is, for kernels that encrypt as they draw; nil if that is inside a block, or
// if they do not.
func (s *Stream) direct() *kernel.Keystream {
	unused := len(s.buffer) - s.next
	if unused%16 != 0 || !s.ctr.Fast() {
		return nil
	}
	if unused > 0 {
		s.ctr.Move(-int64(unused / 16))
		s.next = len(s.buffer)
	}
	return &s.ctr
}

// refill makes one chunk only, in the buffer's second half: whoever reads or skips many bytes may not want the ones behind them.
func (s *Stream) refill() {
	s.ctr.Fill(s.buffer[kernel.Chunk:])
	s.next = kernel.Chunk
}

// Skip passes over the next bytes, a multiple of 16, without the work of making them.
func (s *Stream) Skip(bytes int) {
	if bytes%16 != 0 || bytes < 0 {
		panic("noise: internal error: part of a cipher block passed over")
	}
	left := len(s.buffer) - s.next
	if bytes <= left {
		s.next += bytes
		return
	}
	bytes -= left
	if bytes%16 == 0 && s.ctr.Fast() { // to the very block, and nothing is encrypted that may not be wanted
		s.ctr.Move(int64(bytes / 16))
		s.next = len(s.buffer)
		return
	}
	s.ctr.Move(int64(bytes / kernel.Chunk * (kernel.Chunk / 16)))
	s.next = len(s.buffer)
	if rest := bytes % kernel.Chunk; rest > 0 {
		s.refill()
		s.next += rest
	}
}

// scratch is working space that lives as long as the stream, so that a small draw does not pay for a large one.
func (s *Stream) scratch() *block {
	if s.work == nil {
		s.work = new(block)
	}
	return s.work
}

// Below gives a uniform number in [0, n). It rejects instead of reducing, so no value is favoured. n must be positive.
func (s *Stream) Below(n uint64) uint64 {
	if n == 0 {
		panic("noise: internal error: Below(0)")
	}
	// Lemire 2019, "Fast Random Integer Generation in an Interval": the low word says whether to draw again.
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// Float64 gives a uniform number in [0, 1) with 53 bits. It is for shuffles and coins, never for noise that must be exact.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Coin is true with probability p, to within 2^-53.
func (s *Stream) Coin(p float64) bool { return s.Float64() < p }

// Heads tosses n coins as [Stream.Coin] does, from the same bits, and appends the numbers of those that are true to list.
func (s *Stream) Heads(list []int, n int, p float64) []int {
	limit := uint64(0) // whole numbers below p·2^53 are those below the next whole number
	if p > 0 {
		limit = uint64(math.Ceil(min(p, 1) * 0x1p53))
	}
	words := s.scratch().words[:]
	for at := 0; at < n; {
		some := words[:min(len(words), 8*(n-at))]
		s.read(some)
		for i := 0; i+8 <= len(some); i += 8 {
			if binary.LittleEndian.Uint64(some[i:])>>11 < limit {
				list = append(list, at+i/8)
			}
		}
		at += len(some) / 8
	}
	return list
}

// Shuffle permutes the numbers in place, every order equally likely.
func (s *Stream) Shuffle(numbers []int) {
	for i := len(numbers) - 1; i > 0; i-- {
		j := s.Below(uint64(i) + 1)
		numbers[i], numbers[j] = numbers[j], numbers[i]
	}
}
