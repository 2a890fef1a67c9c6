//go:build slow

package accountant

import (
	"math"
	"testing"
)

// All forty calibrations of paper 002, each solved from scratch.
func TestPaper002CalibrationsFromScratch(t *testing.T) {
	for _, row := range paper002 {
		for i, want := range row.rates {
			x, bound, err := Calibrate(Target{Epsilon: float64(i + 1), Delta: 1e-5}, func(x float64) (About, error) {
				return paper002Event(row.batch, Skellam{x, 50, 50, row.bound}), nil
			}, 1, 1e5)
			if err != nil || math.Abs(x/want-1) > 1e-5 || bound.Epsilon > float64(i+1) {
				t.Errorf("%s, batch %d, epsilon %d: rate %.8g with epsilon %.9g, %v; want %g", row.bound, row.batch, i+1, x, bound.Epsilon, err, want)
			}
		}
	}
}

// The certificate against a fine brute force, over many more rates and orders than the quick test.
func TestCertificateAgainstFineBruteForce(t *testing.T) {
	for _, rate := range []float64{0.1, 0.3, 1, 3, 8, 16.64, 22.38, 47.5, 90} {
		n := newSkellamNoise(rate)
		n.grow(230)
		for _, l2 := range []float64{0.05, 1, 5, 12.3} {
			rounded := newRoundedNoise(rate, l2)
			for _, a := range []float64{2, 3, 4, 6, 8, 12, 24} {
				certificate := rounded.certify(a)
				for i := 1; i <= 1500; i++ {
					x := l2 * float64(i*i) / (1500 * 1500)
					if x < 1e-4 {
						continue // the brute force loses its digits there
					}
					for _, reverse := range []bool{false, true} {
						if r := bruteRounded(n, x, a, reverse) / (x * x); !math.IsInf(r, 1) /* its own overflow */ && r > certificate*(1+1e-9)+1e-13/(x*x) {
							t.Fatalf("rate %g, l2 %g, order %g: at x = %g brute force finds %.12g, above the certificate %.12g", rate, l2, a, x, r, certificate)
						}
					}
				}
			}
		}
	}
}
