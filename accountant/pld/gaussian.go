package pld

import (
	"fmt"
	"math"
)

// Gaussian is the pair of the Gaussian mechanism: N(1, z²) against N(0, z²), where z = noiseMultiplier is the standard
// deviation of the noise divided by the sensitivity.
func Gaussian(noiseMultiplier float64) (Pair, error) {
	if err := checkNoise("noise multiplier", noiseMultiplier); err != nil {
		return Pair{}, err
	}
	return Pair{law: gaussian{1 / noiseMultiplier}, symmetric: true}, nil
}

// checkNoise keeps noise, over sensitivity, to the range in which a grid of losses makes sense: below it nothing is hidden,
// above it nothing is left to see.
func checkNoise(what string, noise float64) error {
	if !(noise >= 1e-9 && noise <= 1e9) {
		return fmt.Errorf("pld: %s %g outside 1e-9 to 1e9", what, noise)
	}
	return nil
}

// SubsampledGaussian is [Gaussian] under [Poisson] sampling.
func SubsampledGaussian(noiseMultiplier, rate float64) (Pair, error) {
	p, err := Gaussian(noiseMultiplier)
	if err != nil {
		return Pair{}, err
	}
	return Poisson(p, rate)
}

// gaussian is N(mu, 1) against N(0, 1): L = mu·x - mu²/2.
type gaussian struct{ mu float64 }

func (g gaussian) tails(loss float64) tails {
	pAbove, pBelow := normalTails(loss/g.mu - g.mu/2)
	qAbove, qBelow := normalTails(loss/g.mu + g.mu/2)
	return tails{pAbove, pBelow, qAbove, qBelow}
}

// normalTails returns the standard normal masses above and below x, the smaller one to full relative precision.
func normalTails(x float64) (above, below float64) {
	small := math.Erfc(math.Abs(x)/math.Sqrt2) / 2
	if x >= 0 {
		return small, 1 - small
	}
	return 1 - small, small
}
