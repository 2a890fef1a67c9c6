package mechanism

import (
	"fmt"
	"math"
	"testing"

	"hubbub/accountant"
	"hubbub/noise"
)

// Corollary 1 of paper 002: "the error incurred by Algorithm 1 that satisfies (α, τ)-RDP is bounded by (1.09α + 0.91)/2 · dΔ₂²/τ", for
// 1 < α < 2nλ/Δ∞ + 1. The error is the mean squared distance of what is released from the sum, over all d coordinates.
//
// Theorem 1 gives the noise for (α, τ), and with it the bound is the error itself: 2nλ in each coordinate. Beside it the paper puts
// the Gaussian's error, which is α·dΔ₂²/(2τ), not (α-1)·dΔ₂²/(2τ) as printed: with the former the two are within a factor
// of 1.09 + 0.91/α, from 1.09 to 2; with the latter there is no such constant as α falls to 1.

// corollary1 is a point of the grid.
type corollary1 struct {
	clients, d int
	delta2     float64 // bound on a client's norm, which is that on a coordinate too
	alpha, tau float64
	trials     int
	seed       uint64
}

func (c corollary1) bound() float64 {
	return (1.09*c.alpha + 0.91) / 2 * float64(c.d) * c.delta2 * c.delta2 / c.tau
}

func (c corollary1) gaussian() float64 {
	return c.alpha * float64(c.d) * c.delta2 * c.delta2 / (2 * c.tau)
}

// rate is the least nλ for (α, τ) by one of the proofs.
func (c corollary1) rate(t *testing.T, bound accountant.SkellamBound) float64 {
	t.Helper()
	lo, hi := 1e-3, 1e7
	for range 60 {
		mid := math.Sqrt(lo * hi)
		linf := c.delta2 // integers: no coordinate exceeds the norm
		tau, err := accountant.RDP(accountant.About{Event: accountant.Skellam{Rate: mid, L2: c.delta2, Linf: linf, Bound: bound}}, c.alpha)
		if err == nil && tau <= c.tau {
			hi = mid
		} else { // or the order is beyond what the proof allows at this rate
			lo = mid
		}
	}
	return hi
}

// error runs Algorithm 1 on integer vectors and measures its mean squared error.
func (c corollary1) error(t *testing.T, rate float64) float64 {
	t.Helper()
	m := skellam(t, SkellamConfig{
		Encoding: Encoding{Dimension: c.d, Clip: c.delta2, Granularity: 1, Bits: 30},
		Crowd:    Crowd{Shares: c.clients, Clients: c.clients}, Rate: rate,
	})
	random := noise.Seeded(c.seed).Stream()
	truth, update, got := make([]float64, c.d), make([]float32, c.d), make([]float32, c.d)
	total := 0.0
	for trial := range c.trials {
		sum := make([]int64, c.d)
		clear(truth)
		for client := range c.clients {
			clear(update)
			// Whole numbers, well within the norm, so that neither clip nor rounding touches them.
			step := float32(math.Floor(c.delta2 / 2))
			update[(trial+client)%c.d], update[(trial+3*client+1)%c.d] = step, -step
			for i, x := range update {
				truth[i] += float64(x)
			}
			if err := m.Contribute(sum, update, random); err != nil {
				t.Fatal(err)
			}
		}
		m.Decode(got, sum, 1)
		for i := range got {
			total += (float64(got[i]) - truth[i]) * (float64(got[i]) - truth[i])
		}
	}
	return total / float64(c.trials)
}

// The squares of d·trials Skellam numbers of variance v = 2nλ have the standard deviation sqrt(2v² + v) each. A mean may be off by five
// standard errors: one false alarm in 1.7 million for each point of the grid.
func TestErrorOfAlgorithm1IsThatOfCorollary1(t *testing.T) {
	for _, c := range []corollary1{
		{clients: 10, d: 100, delta2: 4, alpha: 2, tau: 0.5, trials: 300, seed: 1},
		{clients: 10, d: 100, delta2: 4, alpha: 1.25, tau: 0.05, trials: 300, seed: 2},
		{clients: 3, d: 500, delta2: 2, alpha: 8, tau: 1, trials: 200, seed: 3},
		{clients: 40, d: 50, delta2: 20, alpha: 4, tau: 0.1, trials: 300, seed: 4},
		{clients: 40, d: 1000, delta2: 50, alpha: 16, tau: 2, trials: 20, seed: 5},
		{clients: 100, d: 20, delta2: 10, alpha: 32, tau: 0.2, trials: 500, seed: 6},
		{clients: 5, d: 1, delta2: 8, alpha: 3, tau: 0.3, trials: 20_000, seed: 7},
	} {
		name := fmt.Sprintf("%d clients, d %d, norm %g, order %g, tau %g", c.clients, c.d, c.delta2, c.alpha, c.tau)
		standardError := func(rate float64) float64 {
			v := 2 * rate
			return math.Sqrt((2*v*v + v) * float64(c.d) / float64(c.trials))
		}
		printed := c.rate(t, accountant.SkellamDSM)
		if !(c.alpha < 2*printed/c.delta2+1) {
			t.Fatalf("%s: the order is beyond the corollary's range", name)
		}
		if got := c.error(t, printed); math.Abs(got-c.bound()) > 5*standardError(printed) {
			t.Errorf("%s: error %.5g, the corollary says %.5g, standard error %.2g", name, got, c.bound(), standardError(printed))
		}
		// The exact divergence needs less noise for the same promise.
		exact := c.rate(t, accountant.SkellamExact)
		got := c.error(t, exact)
		if got > c.bound()-5*standardError(exact) {
			t.Errorf("%s: error %.5g with the exact price, not below the corollary's %.5g", name, got, c.bound())
		}
		if c.alpha >= 2 && 2*exact*float64(c.d) > c.gaussian()*1.0001 {
			t.Errorf("%s: the exact price asks for an error of %.5g, the Gaussian for %.5g", name, 2*exact*float64(c.d), c.gaussian())
		}
	}
}

// The reference beside it: Gaussian noise of the corrected error costs τ, of the printed error α/(α-1) times as much.
func TestGaussianReferenceOfCorollary1(t *testing.T) {
	for _, alpha := range []float64{1.01, 1.5, 2, 10} {
		c := corollary1{d: 10, delta2: 3, alpha: alpha, tau: 0.7}
		for _, reference := range []struct{ error, want float64 }{
			{c.gaussian(), c.tau},
			{(alpha - 1) * float64(c.d) * c.delta2 * c.delta2 / (2 * c.tau), c.tau * alpha / (alpha - 1)},
		} {
			sigma := math.Sqrt(reference.error / float64(c.d))
			got, err := accountant.RDP(accountant.About{Event: accountant.Gaussian{NoiseMultiplier: sigma / c.delta2}}, alpha)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got/reference.want-1) > 1e-9 {
				t.Errorf("order %g: Gaussian noise of error %.6g costs %.6g, want %.6g", alpha, reference.error, got, reference.want)
			}
		}
	}
}
