package audit

import (
	"fmt"
	"math"
)

// Discriminant is a linear attack: it adds up the coordinates of an output, each weighted by how far the two inputs move it apart
// over its variance. For normal noise that does not correlate it is the likelihood ratio. It is learned on outputs that
// are not counted afterwards.
type Discriminant []float64

// Learn makes a discriminant from outputs of either kind, one after the other in one slice each.
func Learn(without, with []float32, dimension int) (Discriminant, error) {
	switch {
	case dimension < 1:
		return nil, fmt.Errorf("audit: dimension %d: at least 1", dimension)
	case len(without)%dimension != 0 || len(with)%dimension != 0:
		return nil, fmt.Errorf("audit: %d and %d numbers are not whole outputs of %d", len(without), len(with), dimension)
	case len(without) < 2*dimension || len(with) < 2*dimension:
		return nil, fmt.Errorf("audit: %d and %d outputs to learn from: at least 2 of either kind", len(without)/dimension, len(with)/dimension)
	}
	mean0, variance0 := moments(without, dimension)
	mean1, variance1 := moments(with, dimension)
	d := make(Discriminant, dimension)
	for i := range d {
		if v := (variance0[i] + variance1[i]) / 2; v > 0 {
			d[i] = (mean1[i] - mean0[i]) / v
		} else if mean1[i] != mean0[i] {
			d[i] = 1e12 / (mean1[i] - mean0[i]) // no noise there at all: nothing else matters
		}
		if math.IsNaN(d[i]) || math.IsInf(d[i], 0) {
			return nil, fmt.Errorf("audit: coordinate %d of the outputs is not finite", i)
		}
	}
	// Coordinates whose means differ no more than chance only add noise to the score.
	count := float64(min(len(without), len(with)) / dimension)
	for i := range d {
		if spread := math.Sqrt((variance0[i] + variance1[i]) / count); spread > 0 && math.Abs(mean1[i]-mean0[i]) < 3*spread {
			d[i] = 0
		}
	}
	return d, nil
}

// Score is the weighted sum of one output.
func (d Discriminant) Score(output []float32) float64 {
	sum := 0.0
	for i, w := range d {
		sum += w * float64(output[i])
	}
	return sum
}

func moments(outputs []float32, dimension int) (mean, variance []float64) {
	mean, variance = make([]float64, dimension), make([]float64, dimension)
	n := float64(len(outputs) / dimension)
	for i, v := range outputs {
		mean[i%dimension] += float64(v) / n
	}
	for i, v := range outputs {
		d := float64(v) - mean[i%dimension]
		variance[i%dimension] += d * d / (n - 1)
	}
	return mean, variance
}
