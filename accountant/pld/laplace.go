package pld

import "math"

// Laplace is the pair of the Laplace mechanism for a query of sensitivity one, with noise of the given scale.
func Laplace(scale float64) (Pair, error) {
	if err := checkNoise("Laplace scale", scale); err != nil {
		return Pair{}, err
	}
	return Pair{law: laplace{scale}, symmetric: true, atoms: [2]float64{-1 / scale, 1 / scale}}, nil
}

// SubsampledLaplace is [Laplace] under [Poisson] sampling.
func SubsampledLaplace(scale, rate float64) (Pair, error) {
	p, err := Laplace(scale)
	if err != nil {
		return Pair{}, err
	}
	return Poisson(p, rate)
}

// laplace is noise around one against noise around zero: L = (2x-1)/scale between them, and constant outside, which
// gives an atom at either end.
type laplace struct{ scale float64 }

func (l laplace) tails(loss float64) tails {
	switch {
	case loss >= 1/l.scale:
		return tails{pBelow: 1, qBelow: 1}
	case loss < -1/l.scale:
		return tails{pAbove: 1, qAbove: 1}
	}
	x := (loss*l.scale + 1) / 2
	pBelow := math.Exp((x-1)/l.scale) / 2
	qAbove := math.Exp(-x/l.scale) / 2
	return tails{pAbove: 1 - pBelow, pBelow: pBelow, qAbove: qAbove, qBelow: 1 - qAbove}
}
