//go:build slow

package noise

import (
	"math"
	"testing"
)

// TestBatteryOfTenMillion is the battery with more draws and with the largest variances. The false alarms are as stated there.
func TestBatteryOfTenMillion(t *testing.T) {
	for _, s := range append(battery,
		skellamSubject(201, 0.05), skellamSubject(202, 5e6), skellamSubject(203, 5e8),
		gaussianSubject(211, 3), gaussianSubject(212, 1e9),
		poissonSubject(221, 1e7), poissonSubject(222, 1e9),
		binomialSubject(231, 4_000_000_000, 0.5), binomialSubject(232, 1<<40, 1e-6),
	) {
		t.Run(s.name, func(t *testing.T) { runBattery(t, s, 10_000_000) })
	}
}

// TestNormalOfSixteenMillion sees tails that a million draws hardly reach. False alarms as in the test of a million.
func TestNormalOfSixteenMillion(t *testing.T) {
	x := make([]float64, 1<<24)
	for _, seed := range []uint64{241, 242, 243, 244} {
		Seeded(seed).Stream().Gaussian(x)
		normalStatistics(x, func(what string, z float64) {
			if !(math.Abs(z) < alarm) {
				t.Errorf("seed %d: %s is off by %.1f standard errors", seed, what, z)
			}
		})
	}
}
