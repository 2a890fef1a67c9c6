package noise

import (
	"math"
	"math/big"
)

// Skellam is the difference of two independent Poisson variables of the same rate: n draws of Skellam(rate/n) add up to
// one of Skellam(rate), which is what lets many clients share the noise of a sum.
//
// [AKL21] Agarwal, Kairouz, Liu, The Skellam Mechanism for Differentially Private Federated Learning, arXiv:2110.04995
type Skellam struct {
	rate     float64
	table    *table
	distance float64
}

// NewSkellam prepares the law of variance 2·rate, which must lie in [1e-9, 1e9].
func NewSkellam(rate float64) (*Skellam, error) {
	if err := checkVariance("skellam", "rate", rate, 2*rate); err != nil {
		return nil, err
	}
	ratios := besselRatios(rate)
	l := symmetricLaw(outward(func(i int) *big.Float { return &ratios[i] }))
	return &Skellam{rate, newTable(l), l.distance()}, nil
}

// Add adds one independent draw to each element of dst.
func (s *Skellam) Add(dst []int64, random *Stream) { s.table.add(dst, random) }

// Distance bounds the total variation distance of one draw from the ideal law.
func (s *Skellam) Distance() float64 { return s.distance }

// Variance is 2·rate.
func (s *Skellam) Variance() float64 { return 2 * s.rate }

// besselRatios gives p(k+1)/p(k) = I_{k+1}(2·rate)/I_k(2·rate) for k = 0, 1, ..., as many as [outward] asks for.
//
// The ratios obey r_{k-1} = 1/(2k/t + r_k), t = 2·rate, which is run downwards from a far k where r is taken as zero. A step
// multiplies an error by less than r², so the wrong start is forgotten: see [farEnough].
func besselRatios(rate float64) []big.Float {
	needed, far := farEnough(2 * rate)
	ratios := make([]big.Float, needed)
	twoOverT := newFloat().Quo(exact(1), exact(rate)) // 2/t
	r, step := newFloat(), newFloat()
	one := exact(1)
	for k := far; k > 0; k-- {
		step.Mul(twoOverT, newFloat().SetInt64(int64(k)))
		r.Quo(one, step.Add(step, r))
		if k-1 < needed {
			ratios[k-1].Set(r)
		}
	}
	return ratios
}

// farEnough says how many ratios [outward] may ask for, and from which k on the recurrence must run down so that none of
// them feels its start by more than 2^-190.
func farEnough(t float64) (needed, far int) {
	// r_k < t/(k + 1/2 + sqrt((k + 1/2)² + t²)): Amos 1974, "Computation of Modified Bessel Functions and Their
	// Ratios", Math. Comp. 28.
	logBound := func(k int) float64 {
		h := float64(k) + 0.5
		return math.Log2(t / (h + math.Hypot(h, t)))
	}
	for weight := 0.0; weight > -160; needed++ { // outward stops at 2^-132 times one minus the ratio, above 2^-24
		weight += logBound(needed)
	}
	far = needed
	for forgotten := 0.0; forgotten > -200; far++ {
		forgotten += 2 * logBound(far)
	}
	// The ratio at far lies in [0, 1], and a step down turns an interval [a, b] into [1/(c+b), 1/(c+a)], shorter by the
	// product of its new ends. So the length at needed is a bound on the error there, whatever the guesses above.
	for {
		a, b, length := 0.0, 1.0, 0.0
		for k := far; k >= needed; k-- {
			a, b = 1/(2*float64(k)/t+b), 1/(2*float64(k)/t+a)
			length += math.Log2(a) + math.Log2(b)
		}
		if length < -191 { // one bit for the roundings of this loop
			return needed, far
		}
		far += 8 + (far-needed)/4
	}
}
