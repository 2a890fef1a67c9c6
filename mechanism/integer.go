package mechanism

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hubbub/noise"
)

// Source says where the noise of a round comes from.
type Source string

// The sources.
const (
	// ByShares: every client adds its own share to its contribution. A cohort of n holds n/h of the total, h being the shares.
	// Whoever knows the total's law learns how many took part, so sampling the cohort amplifies nothing.
	ByShares Source = "shares"
	// Exact: the total is the same whoever took part, as a fixed committee of h noise givers makes it. Contributions carry no noise
	// of their own; ServerNoise stands for the committee.
	Exact Source = "exact"
	// InLayers: the total is the same whoever took part, because clients take back what too many of them added. Each contribution
	// carries its part by [Integer.Layers], which the caller adds.
	InLayers Source = "layers"
)

// Crowd says who makes the noise and how many updates a sum may hold.
type Crowd struct {
	Noise Source // default ByShares
	// Shares is h, the honest contributions that a sum holds for certain: the least number of survivors, less colluders. It is
	// fixed before the cohort is known, never the number that came. Under Exact it is the size of the committee.
	Shares  int
	Clients int // the largest cohort: its sum must fit the bits
}

func (c Crowd) check() error {
	switch {
	case c.Noise != "" && c.Noise != ByShares && !c.exact():
		return fmt.Errorf("mechanism: noise from %q is none of %q, %q, %q", c.Noise, ByShares, Exact, InLayers)
	case c.Shares < 1:
		return fmt.Errorf("mechanism: %d shares: at least 1 honest contribution must be certain, or nobody's noise is", c.Shares)
	case c.Clients < 1 || c.Clients > maxClients:
		return fmt.Errorf("mechanism: %d clients outside [1, %d]", c.Clients, maxClients)
	case !c.exact() && c.Shares > c.Clients:
		return fmt.Errorf("mechanism: %d shares exceed the largest cohort of %d clients", c.Shares, c.Clients)
	}
	return nil
}

// exact says whether the total is the same whoever took part.
func (c Crowd) exact() bool { return c.Noise == Exact || c.Noise == InLayers }

// mostShares is how many shares of noise a sum holds at the most.
func (c Crowd) mostShares() float64 {
	if c.exact() {
		return float64(c.Shares)
	}
	return float64(c.Clients)
}

// ErrOneByOne is returned where a sum of several updates is handed to a mechanism that must round each by itself.
var ErrOneByOne = errors.New("mechanism: this mechanism clips and rounds each update by itself: contribute them one by one")

// check is what all integer mechanisms ask of their settings.
func check(e Encoding, c Crowd) error {
	if err := e.check(); err != nil {
		return err
	}
	return c.check()
}

// sampler adds independent integers to dst.
type sampler interface {
	Add(dst []int64, random *noise.Stream)
	Distance() float64 // statistical distance of one number from its law
	Variance() float64
}

// Integer is what the integer mechanisms have in common: clip, rotate, round, noise, remainder modulo 2^Bits; and back.
// It is safe for concurrent use.
type Integer struct {
	codec *codec
	crowd Crowd
	share sampler // one client's, or one committee member's
	// together gives the law of n shares at once, if it is known; nil: they are drawn one after the other.
	together  func(n int) (sampler, error)
	committee sampler // the committee's noise at once; nil: drawn share by share
	// part gives the law of a part of the total; nil: its parts do not add up to it.
	part     func(of float64) (sampler, error)
	overflow float64
}

// newInteger checks that the sums fit their bits; part is the log moment generating function of all the noise in a sum.
func newInteger(c *codec, crowd Crowd, part func(t float64) float64) (*Integer, error) {
	s := sumSpread(c.Encoding, shape{reach: c.reach, biased: c.limit > 0, bent: c.editsX}, crowd.Clients, part)
	if err := s.check(c.Encoding); err != nil {
		return nil, err
	}
	return &Integer{codec: c, crowd: crowd, overflow: s.overflow(c.Bits)}, nil
}

// shape is what clipping and rounding leave of an update.
type shape struct {
	reach  float64 // the largest coordinate, in steps
	biased bool    // rounding is conditional
	bent   bool    // clipping is more than a factor that the norm decides
}

// sumSpread is how far a coordinate of a sum of n updates can lie from zero.
//
// All n updates may point the same way. Without rotation that may be along one coordinate. With it, a coordinate is a sum over
// the updates' coordinates under random signs, which is sub-Gaussian with variance (n·l2)²/width (Hoeffding 1963). Where updates
// are bent one by one, that holds for the sum of absolute values (Hölder), but for twice the probability. Unbiased rounding
// leaves each coordinate within an interval of length 1 around its mean: sub-Gaussian with variance 1/4, by Hoeffding's lemma.
// Biased rounding counts as a whole step. Where a rotation has made all coordinates small, rounding moves few of them: that is
// tried as well.
func sumSpread(e Encoding, u shape, clients int, part func(t float64) float64) spread {
	n := float64(clients)
	s := spread{width: e.width(), rest: []func(float64) float64{part}}
	// No coordinate exceeds the norm: in few dimensions that says more than the sub-Gaussian bound.
	if e.Rotate && s.width >= 64 {
		s.rest = append(s.rest, subGaussian(n*n*e.l2()*e.l2()/float64(s.width)))
		if u.bent {
			s.width *= 2
		}
	} else {
		s.certain = n * u.reach
	}
	if u.biased {
		s.certain += n
		return s
	}
	if tiny := e.rotatedReach(clients); e.Rotate && s.width >= 64 && tiny < 0.5 {
		// A number this close to an integer is seldom rounded away from it.
		other := s
		other.rest = append(slices.Clone(s.rest), roundingPart(n*tiny))
		other.doubt = rotatedDoubt
		s.or = &other
	}
	s.rest = append(s.rest, subGaussian(n/4))
	return s
}

// rotatedDoubt is the probability with which a coordinate of a rotated update may exceed its reach.
const rotatedDoubt = maxOverflow / 1000

// rotatedReach is what no coordinate of any of so many rotated updates exceeds but with probability rotatedDoubt: each is sub-Gaussian with
// variance l2²/width.
func (e Encoding) rotatedReach(clients int) float64 {
	width := float64(e.width())
	return e.l2() * math.Sqrt(2*math.Log(2*float64(clients)*width/rotatedDoubt)/width)
}

// ClipNorm is the L2 bound on one client's update.
func (m *Integer) ClipNorm() float64 { return m.codec.Clip }

// BitsPerWeight is the size of one coordinate of a contribution on its way to the server.
func (m *Integer) BitsPerWeight() int { return m.codec.Bits }

// Width is the number of integers in a contribution and in a sum: the dimension, or with rotation the next power of two.
func (m *Integer) Width() int { return m.codec.width() }

// Overflow bounds the chance that a round's sum leaves the range of its bits in any coordinate, for any updates within the clip.
func (m *Integer) Overflow() float64 { return m.overflow }

// Distance bounds the statistical distance of the noise in one round's sum from the law that its event prices: delta grows by
// (1 + e^epsilon) times as much in each round. In layers it is that of the total drawn at once: see [Layers.Distance].
func (m *Integer) Distance() float64 {
	if m.committee != nil && m.crowd.exact() {
		return m.committee.Distance() * float64(m.Width())
	}
	// Only the shares that are counted need to be right: what others add is post-processing.
	return m.share.Distance() * float64(m.Width()) * float64(m.crowd.Shares)
}

// NoiseVariance is the variance of the noise in each weight of the decoded sum of so many contributions. Rounding adds at most
// a quarter of the squared granularity for each of them.
func (m *Integer) NoiseVariance(contributors int) float64 {
	shares := float64(contributors)
	if m.crowd.exact() {
		shares = float64(m.crowd.Shares)
	}
	return shares * m.share.Variance() * m.codec.Granularity * m.codec.Granularity
}

// Contribute protects the update with the client's own noise, if it adds any, and adds it to sum. What a client sends is
// a contribution to a sum of zeros. An error means that nothing was added.
func (m *Integer) Contribute(sum []int64, update []float32, random *noise.Stream) error {
	return m.contribute(sum, update, nil, false, random, !m.crowd.exact())
}

// ContributeWithoutNoise leaves out the noise. It protects nothing by itself: a simulation adds the noise of all contributions
// later, with SharesNoise.
func (m *Integer) ContributeWithoutNoise(sum []int64, update []float32, random *noise.Stream) error {
	return m.contribute(sum, update, nil, false, random, false)
}

func (m *Integer) contribute(sum []int64, update []float32, runs Runs, whole bool, random *noise.Stream, noised bool) error {
	if len(sum) != m.Width() {
		return fmt.Errorf("mechanism: a sum of %d integers, contributions have %d", len(sum), m.Width())
	}
	square, err := m.measure(update, runs)
	if err != nil {
		return err
	}
	var share sampler
	if noised {
		share = m.share
	}
	m.codec.encode(sum, update, runs, square, whole, share, random)
	return nil
}

// measure gives the squared norm, and refuses what has none.
func (m *Integer) measure(update []float32, runs Runs) (float64, error) {
	if len(update) != m.codec.Dimension {
		return 0, fmt.Errorf("mechanism: an update of %d values, the model has %d", len(update), m.codec.Dimension)
	}
	// Squares of float32 numbers cannot overflow a float64, so the sum tells whether all were finite.
	square := runs.sumSquares(update)
	if math.IsNaN(square) || math.IsInf(square, 1) {
		return 0, ErrNotFinite
	}
	return square, nil
}

// ContributeClipped is Contribute for a caller that has clipped the update: one beyond the clip is refused.
func (m *Integer) ContributeClipped(sum []int64, update []float32, random *noise.Stream) error {
	square, err := m.measure(update, nil)
	if err != nil {
		return err
	}
	const float32Error = 1e-6
	if norm := math.Sqrt(square); norm > m.codec.Clip*(1+float32Error) {
		return fmt.Errorf("mechanism: an update passed as clipped has norm %.4g, the clip is %g: clip it, or use Contribute", norm, m.codec.Clip)
	}
	return m.Contribute(sum, update, random)
}

// ContributeSum refuses: rounding the sum of several updates is not the sum of their roundings.
func (m *Integer) ContributeSum([]int64, []float32) error { return ErrOneByOne }

// ServerNoise adds the noise of the committee under Exact. Shares are in the contributions already.
func (m *Integer) ServerNoise(sum []int64, random *noise.Stream) {
	switch {
	case m.crowd.Noise != Exact:
	case m.committee != nil:
		m.committee.Add(sum, random)
	default:
		for range m.crowd.Shares {
			m.share.Add(sum, random)
		}
	}
}

// SharesNoise adds the shares of so many contributors at once, with the law of their sum: to simulate contributions that were made
// without noise.
func (m *Integer) SharesNoise(sum []int64, contributors int, random *noise.Stream) error {
	if contributors < 0 || contributors > m.crowd.Clients {
		return fmt.Errorf("mechanism: %d contributors, the largest cohort has %d", contributors, m.crowd.Clients)
	}
	if contributors == 0 {
		return nil
	}
	if m.together != nil {
		all, err := m.together(contributors)
		if err != nil {
			return err
		}
		all.Add(sum, random)
		return nil
	}
	for range contributors {
		m.share.Add(sum, random)
	}
	return nil
}

// Decode turns a sum of contributions, of Width integers, into a mean of as many numbers as an update has.
func (m *Integer) Decode(mean []float32, sum []int64, divisor float64) {
	m.codec.decode(mean, sum, divisor)
}
