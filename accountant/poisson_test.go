package accountant

import (
	"fmt"
	"math"
	"testing"
)

// numericalSampledGaussian integrates E_Q[(S/Q)^a] (forward) or E_Q[(Q/S)^(a-1)] (reverse) on a fine grid: the dumb
// version, good to about 1e-9 for the parameters below.
func numericalSampledGaussian(q, sigma, a float64, reverse bool) float64 {
	const step = 1e-2 // the trapezoid rule is exact to rounding for densities as smooth as these
	sum := 0.0
	for z := -20 * sigma; z < a+20*sigma; z += step * sigma {
		density := math.Exp(-z*z/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi))
		ratio := 1 - q + q*math.Exp((2*z-1)/(2*sigma*sigma))
		power := a
		if reverse {
			power = 1 - a
		}
		sum += density * math.Pow(ratio, power) * step * sigma
	}
	return math.Log(sum) / (a - 1)
}

func TestSampledGaussianAgreesWithNumericalIntegration(t *testing.T) {
	for _, sigma := range []float64{0.7, 1.1, 3} {
		for _, q := range []float64{0.004, 0.1, 0.5, 0.9} {
			for _, order := range []float64{1.25, 1.9, 2, 3, 4.9, 8, 16.5, 24} {
				t.Run(fmt.Sprintf("sigma %g, rate %g, order %g", sigma, q, order), func(t *testing.T) {
					got, err := RDP(About{Event: Poisson{q, Gaussian{sigma}}}, order)
					if err != nil {
						t.Fatal(err)
					}
					want := numericalSampledGaussian(q, sigma, order, false)
					if math.Abs(got-want) > 1e-7*want+1e-10 {
						t.Errorf("got %.12g, integration gives %.12g", got, want)
					}
					if back := numericalSampledGaussian(q, sigma, order, true); back > got {
						t.Errorf("reverse direction %.12g exceeds the bound %.12g", back, got)
					}
				})
			}
		}
	}
}
