package mechanism

import (
	"fmt"
	"math"
	"sync"

	"hubbub/internal/kernel"
	"hubbub/noise"
)

// Encoding says how an update becomes integers of a few bits. Everybody in a run uses the same.
type Encoding struct {
	Dimension   int     // weights in an update; required
	Clip        float64 // bound on an update's norm; required
	Granularity float64 // the step between two integers, in the unit of the weights; required
	Bits        int     // bits per coordinate: integers are sent modulo 2^Bits; required
	Rotate      bool    // flatten updates first: fewer bits hold their sum
	// RotationKey gives the signs that all share. It is not secret, but the bound on overflows assumes updates that were not made
	// to fit the signs. Privacy does not depend on them.
	RotationKey noise.Key
	// AllowOverflow runs with too few bits. Sums that leave the range come back wrong, by a multiple of 2^Bits; privacy
	// does not suffer, since taking the remainder looks at nothing but the noised sum.
	AllowOverflow bool
}

const (
	maxDimension = 1 << 26
	maxL2        = 1 << 30 // of clip/granularity: 32 more bits for the fraction fit an int64
	maxClients   = 1 << 20
	blockLength  = 1 << 11 // coordinates that go through rounding, noise and sum while they are in the first cache
	// clipSlack is what the clip keeps back for float64 rounding: measuring the norm of 2^26 coordinates is off by 2^-27 at
	// the most, so that the exact numbers which are rounded obey the bound.
	clipSlack = 0x1p-20
)

func (e Encoding) check() error {
	switch {
	case e.Dimension < 1 || e.Dimension > maxDimension:
		return fmt.Errorf("mechanism: dimension %d outside [1, %d]", e.Dimension, maxDimension)
	case !(e.Clip > 0 && e.Clip <= math.MaxFloat32):
		return fmt.Errorf("mechanism: clip %g outside (0, 3.4e38]", e.Clip)
	case !(e.Granularity > 0 && e.Granularity <= math.MaxFloat32):
		return fmt.Errorf("mechanism: granularity %g outside (0, 3.4e38]", e.Granularity)
	case e.l2() > maxL2:
		return fmt.Errorf("mechanism: granularity %g is too fine for clip %g: clip/granularity %g exceeds 2^30", e.Granularity, e.Clip, e.l2())
	case e.Bits < 2 || e.Bits > maxBits:
		return fmt.Errorf("mechanism: %d bits outside [2, %d]", e.Bits, maxBits)
	case e.Rotate && e.RotationKey == (noise.Key{}):
		return fmt.Errorf("mechanism: rotation needs a rotation key that all clients and the server share")
	}
	return nil
}

// l2 is the clip in steps of the grid.
func (e Encoding) l2() float64 { return e.Clip / e.Granularity }

// width is the number of integers in a contribution: the dimension, or with rotation the next power of two.
func (e Encoding) width() int {
	if e.Rotate {
		return powerOfTwo(e.Dimension)
	}
	return e.Dimension
}

// codec turns an update into integers and their sum back into a mean. It is safe for concurrent use.
type codec struct {
	Encoding
	rotation *rotation // nil: none
	limit    int64     // squared norm that conditional rounding keeps; 0: stochastic rounding
	reach    float64   // no coordinate is larger, in steps
	// clipTo gives the factor that makes x fit its bound, in steps of the grid. x is rotated; square is its squared norm.
	clipTo     func(x []float32, square float64) float64
	editsX     bool // clipTo changes x too: give it a copy
	scratch    sync.Pool
	half, mask int64 // 2^(Bits-1), 2^Bits - 1
}

type scratch struct {
	floats []float32
	ints   []int64
	coins  coins
}

func newCodec(e Encoding) *codec {
	c := &codec{Encoding: e, reach: e.l2(), half: 1 << (e.Bits - 1), mask: 1<<e.Bits - 1}
	if e.Rotate {
		c.rotation = newRotation(e.Dimension, e.RotationKey)
	}
	c.clipTo = func(_ []float32, square float64) float64 {
		return clipFactor(square, e.Clip*(1-clipSlack)) / e.Granularity
	}
	c.scratch.New = func() any { return &scratch{} }
	return c
}

// prepare rotates and clips an update with this squared norm: what is to be rounded is scale·x, within the runs that are left. After a
// rotation the norm is measured again, on the very numbers that are rounded, so that no float error of the rotation can exceed the bound.
func (c *codec) prepare(s *scratch, update []float32, runs Runs, square float64) (x []float32, left Runs, scale float64) {
	x = update
	if c.rotation != nil {
		s.floats = grown(s.floats, c.rotation.width)
		// Bring it within the clip first: a huge update must not overflow float32 on its way.
		c.rotation.forward(s.floats, update, runs, clipFactor(square, c.Clip))
		x, runs, square = s.floats, nil, kernel.SumSquares(s.floats)
	} else if c.editsX {
		s.floats = grown(s.floats, len(update))
		runs.copy(s.floats, update)
		x, runs = s.floats, nil
	}
	return x, runs, c.clipTo(x, square)
}

func grown[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// encode rounds the update, adds a share of noise unless share is nil, and adds the integers to sum: modulo 2^Bits, as they are sent, or
// whole, where nothing is sent. The sum is the same modulo 2^Bits.
func (c *codec) encode(sum []int64, update []float32, runs Runs, square float64, whole bool, share sampler, random *noise.Stream) {
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	x, runs, scale := c.prepare(s, update, runs, square)
	if c.limit > 0 {
		s.ints = grown(s.ints, len(x))
		s.coins.roundConditional(s.ints, x, runs, scale, c.limit, random)
	} else {
		s.ints = grown(s.ints, min(len(x), blockLength))
	}
	for at := 0; at < len(x); at += blockLength {
		end := min(at+blockLength, len(x))
		block := s.ints[:end-at]
		if c.limit > 0 {
			block = s.ints[at:end]
		} else {
			s.coins.roundBlock(block, x[at:end], at, runs, scale, random)
		}
		c.add(sum[at:end], block, at, runs, whole, share, random)
	}
}

// add adds the block that begins at coordinate at to sum.
func (c *codec) add(sum, block []int64, at int, runs Runs, whole bool, share sampler, random *noise.Stream) {
	if runs == nil {
		if share != nil {
			share.Add(block, random)
		}
		half, mask := c.half, c.mask
		if whole {
			half, mask = 0, -1 // modulo 2^64
		}
		kernel.AddWrapped(sum, block, half, mask)
		return
	}
	for from, to := range runs.within(at, at+len(block)) {
		kernel.AddWrapped(sum[from-at:to-at], block[from-at:to-at], 0, -1) // modulo 2^64
	}
	if share != nil {
		share.Add(sum, random)
	}
}

// decode unwraps the sum of contributions and turns it into a mean.
func (c *codec) decode(mean []float32, sum []int64, divisor float64) {
	scale := c.Granularity / divisor
	if c.rotation == nil {
		kernel.Unwrap(mean[:len(sum)], sum, c.half, c.mask, scale)
		return
	}
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	s.floats = grown(s.floats, c.rotation.width)
	y := s.floats[:len(sum)]
	kernel.Unwrap(y, sum, c.half, c.mask, 1)
	c.rotation.backward(mean, y, scale)
}
