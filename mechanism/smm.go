package mechanism

import (
	"fmt"
	"math"

	"hubbub/accountant"
)

// SMMConfig describes an [SMM] mechanism. Encoding.Clip must be zero: C and Linf take its place.
type SMMConfig struct {
	Encoding
	Crowd
	Rate float64 // L, the total of Shares shares; required
	C    float64 // bound on the sum of x² + p - p², x being a coordinate in steps and p its fraction; required
	Linf float64 // bound on a coordinate in steps, a whole number; required
}

// SMM is the Skellam mixture mechanism, the successor of paper 002: stochastic rounding and Skellam noise as in [Skellam], but
// clipped in the norm in which its proof charges, x² + p - p², which is the mean square of what x is rounded to. For small
// coordinates that is |x|, far more than x².
//
// Guarantee: as for [Skellam], with the price that Event names.
//
// [SMM] Bao et al., Skellam mixture mechanism: a novel approach to federated learning with differential privacy, VLDB 2022
type SMM struct {
	*Integer
	event accountant.SMM
}

// NewSMM checks its settings; past here nothing re-checks.
func NewSMM(c SMMConfig) (*SMM, error) {
	event, err := c.Event()
	if err != nil {
		return nil, err
	}
	codec := newCodec(c.encoding())
	codec.editsX, codec.reach = true, min(c.Linf, math.Sqrt(c.C))
	codec.clipTo = func(x []float32, _ float64) float64 {
		clampTo(x, c.Linf*c.Granularity*(1-clipSlack))
		return mixtureFactor(x, 1/c.Granularity, c.C*(1-clipSlack)) / c.Granularity
	}
	base, err := newSkellamNoise(codec, c.Crowd, c.Rate)
	if err != nil {
		return nil, err
	}
	return &SMM{Integer: base, event: event}, nil
}

// encoding has the L2 clip that follows from c: x² is never more than x² + p - p².
func (c SMMConfig) encoding() Encoding {
	e := c.Encoding
	e.Clip = e.Granularity * math.Sqrt(c.C)
	return e
}

// Event is the price of one round, for a calibration to try: it checks all but the bits.
func (c SMMConfig) Event() (accountant.SMM, error) {
	var none accountant.SMM
	switch {
	case c.Clip != 0:
		return none, fmt.Errorf("mechanism: clip %g: the Skellam mixture mechanism is clipped by c and linf, leave clip out", c.Clip)
	case !(c.C > 0 && c.C <= 1<<40):
		return none, fmt.Errorf("mechanism: c %g outside (0, 2^40]", c.C)
	case !(c.Linf >= 1 && c.Linf <= maxL2 && c.Linf == math.Trunc(c.Linf)):
		return none, fmt.Errorf("mechanism: linf %g must be a whole number of steps in [1, 2^30]", c.Linf)
	case !(c.Granularity > 0):
		return none, fmt.Errorf("mechanism: granularity %g outside (0, 3.4e38]", c.Granularity)
	}
	if err := checkRate(c.Rate); err != nil {
		return none, err
	}
	if err := check(c.encoding(), c.Crowd); err != nil {
		return none, err
	}
	return accountant.SMM{Rate: c.Rate, C: c.C, Linf: c.Linf}, nil
}

// Event is the price of one round.
func (s *SMM) Event() accountant.Event { return s.event }

func clampTo(x []float32, limit float64) {
	bound := float32(limit)
	for i, v := range x {
		x[i] = max(-bound, min(bound, v))
	}
}

// mixtureNorm is the sum of x² + p - p² over steps·x: between whole numbers n it is the straight line from n² to (n+1)².
func mixtureNorm(x []float32, steps float64) float64 {
	var sums [4]float64 // additions that need not wait for each other
	for ; len(x) >= 4; x = x[4:] {
		sums[0] += mixtureSquare(x[0], steps)
		sums[1] += mixtureSquare(x[1], steps)
		sums[2] += mixtureSquare(x[2], steps)
		sums[3] += mixtureSquare(x[3], steps)
	}
	for _, v := range x {
		sums[0] += mixtureSquare(v, steps)
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}

func mixtureSquare(v float32, steps float64) float64 {
	a := math.Abs(float64(v)) * steps
	if a <= 1 { // as nearly all are after a rotation
		return a
	}
	n := float64(int64(a))
	return n*n + (2*n+1)*(a-n)
}

// mixtureFactor is the largest factor up to 1 with mixtureNorm(factor·x) <= c, to within a millionth, rounded down.
//
// The norm grows with the factor, from 0 on: the bracket [lo, hi] is narrowed by straight lines between its ends, which a few
// steps suffice for (the "Illinois" variant of the false position, so that both ends move). They aim at the middle of what will do: where
// no coordinate exceeds a step the norm is a straight line itself, and the first step is the last.
func mixtureFactor(x []float32, steps, c float64) float64 {
	lo, hi := 0.0, 1.0
	whole := mixtureNorm(x, steps)
	if whole <= c {
		return 1
	}
	aim := c * (1 - 0.5e-6)
	below, above := -aim, whole-aim
	last := 0
	for range 200 {
		mid := lo + (hi-lo)*below/(below-above)
		if !(mid > lo && mid < hi) {
			mid = (lo + hi) / 2
		}
		norm := mixtureNorm(x, steps*mid)
		switch off := norm - aim; {
		case norm <= c && norm > c*(1-1e-6):
			return mid
		case off > 0:
			hi, above = mid, off
			if last == 1 {
				below /= 2
			}
			last = 1
		default:
			lo, below = mid, off
			if last == -1 {
				above /= 2
			}
			last = -1
		}
	}
	return lo // below the bound, whatever happened
}
