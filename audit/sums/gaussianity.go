package sums

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Gaussianity says how far the others' sum is from the Gaussian that Theorem 1 makes it in the limit, along the direction that an attack
// looks at.
type Gaussianity struct {
	Skewness float64 `json:"skewness"`
	Kurtosis float64 `json:"excess_kurtosis"`
	Mean     float64 `json:"mean"`      // in units of the estimated law: 0 if mean and
	Deviate  float64 `json:"deviation"` // covariance were estimated well, and 1
	// Kolmogorov is the largest difference between the empirical distribution function and the normal one of the same mean and variance.
	// A normal sample of this size stays below Expected with probability 0.95 (Lilliefors 1967).
	Kolmogorov float64 `json:"kolmogorov_distance"`
	Expected   float64 `json:"kolmogorov_normal_95"`
	// BerryEsseen bounds the distance of a sum of independent updates from the normal by the third moment of one (Shevtsova 2011).
	BerryEsseen float64 `json:"berry_esseen_bound"`
	// LargestShare is the part of the sum's variance that the most extreme sampled update has by itself: Lindeberg's condition asks that
	// it vanishes.
	LargestShare float64 `json:"largest_share_of_variance"`
}

// Diagnose looks at sums of scores, and at the scores of single updates, of which so many are in a sum.
func Diagnose(sums, singles []float64, clients int) (Gaussianity, error) {
	if len(sums) < 8 || len(singles) < 8 {
		return Gaussianity{}, fmt.Errorf("sums: %d sums and %d single scores: a diagnosis needs at least 8 of each", len(sums), len(singles))
	}
	mean, variance, third, fourth := moments(sums)
	if variance == 0 {
		return Gaussianity{}, fmt.Errorf("sums: all sums have the same score: %w", ErrLeaks)
	}
	g := Gaussianity{Mean: mean, Deviate: math.Sqrt(variance), Skewness: third / math.Pow(variance, 1.5), Kurtosis: fourth/(variance*variance) - 3}
	n := float64(len(sums))
	sorted := slices.Sorted(slices.Values(sums))
	law := distuv.Normal{Mu: mean, Sigma: g.Deviate}
	for i, x := range sorted {
		p := law.CDF(x)
		g.Kolmogorov = max(g.Kolmogorov, p-float64(i)/n, float64(i+1)/n-p)
	}
	g.Expected = .886 / math.Sqrt(n)
	mean, variance, _, _ = moments(singles)
	absolute, largest := 0.0, 0.0
	for _, x := range singles {
		size := math.Abs(x - mean)
		absolute += size * size * size / float64(len(singles))
		largest = max(largest, size*size)
	}
	g.BerryEsseen = min(1, .4748*absolute/(math.Pow(variance, 1.5)*math.Sqrt(float64(clients))))
	g.LargestShare = largest / (largest + variance*float64(clients-1))
	return g, nil
}

// moments are the mean and the second, third and fourth central moment.
func moments(x []float64) (mean, second, third, fourth float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		c := v - mean
		second += c * c / n
		third += c * c * c / n
		fourth += c * c * c * c / n
	}
	return mean, second, third, fourth
}
