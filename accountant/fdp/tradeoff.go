package fdp

import (
	"fmt"
	"math"
)

// Function is a trade-off function: convex, not rising, and at most 1 - alpha. Beta is rounded down and is defined for
// alpha in [0, 1]; [Beta] checks that.
type Function interface {
	Beta(alpha float64) float64
}

// Beta is the smallest type II error at type I error alpha.
func Beta(f Function, alpha float64) (float64, error) {
	if !(alpha >= 0 && alpha <= 1) {
		return 0, fmt.Errorf("fdp: type I error %g outside [0, 1]", alpha)
	}
	return f.Beta(alpha), nil
}

// Gaussian is G_mu, the trade-off function of N(0, 1) and N(mu, 1).
func Gaussian(mu float64) (Function, error) {
	if err := checkMu(mu); err != nil {
		return nil, err
	}
	return gaussian{mu}, nil
}

type gaussian struct{ mu float64 }

// Beta rejects above the point that alpha lies above.
func (g gaussian) Beta(alpha float64) float64 {
	switch {
	case alpha <= 0:
		return 1
	case alpha >= 1:
		return 0
	}
	return down(survival(g.mu - quantile(alpha)))
}

// EpsilonDelta is the trade-off function that (epsilon, delta)-privacy means [DRS22, Section 2].
func EpsilonDelta(epsilon, delta float64) (Function, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta <= 1) {
		return nil, fmt.Errorf("fdp: delta %g outside [0, 1]", delta)
	}
	return epsilonDelta{epsilon, delta}, nil
}

type epsilonDelta struct{ epsilon, delta float64 }

// Beta is the larger one of two lines, mirrored at the diagonal.
func (f epsilonDelta) Beta(alpha float64) float64 {
	beta := math.Exp(-f.epsilon) * (1 - f.delta - alpha)
	if alpha > 0 {
		beta = max(beta, 1-f.delta-math.Exp(f.epsilon)*alpha)
	} else {
		beta = 1 - f.delta // e^epsilon may be infinite
	}
	return down(max(0, beta))
}

// Envelope is what several guarantees of one mechanism say together: the largest beta.
type Envelope []Function

// Beta is the largest of all.
func (e Envelope) Beta(alpha float64) float64 {
	var beta float64
	for _, f := range e {
		beta = max(beta, f.Beta(alpha))
	}
	return beta
}

// Inverse exchanges the two errors: it is the trade-off function of the same pair in the other direction.
type Inverse struct{ Of Function }

// Beta is the smallest alpha at which the other function has fallen to the given one.
func (f Inverse) Beta(alpha float64) float64 {
	if f.Of.Beta(0) <= alpha {
		return 0
	}
	low, _ := bisect(0, 1, func(x float64) bool { return f.Of.Beta(x) <= alpha })
	return down(low)
}

// Symmetrized is the best trade-off function that holds in both directions if f holds in one of them: the largest convex
// function below f and its inverse.
type Symmetrized struct {
	f, inverse Function
	x, y       float64 // the line of slope -1 runs from (x, y) to (y, x)
}

// Symmetrize finds the point of f whose tangent has slope -1.
func Symmetrize(f Function) Symmetrized {
	low, high := 0., 1.
	for range 100 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if f.Beta(a)+a <= f.Beta(b)+b {
			high = b
		} else {
			low = a
		}
	}
	return symmetrizeAt(f, (low+high)/2)
}

func symmetrizeAt(f Function, x float64) Symmetrized {
	y := f.Beta(x)
	if x <= y {
		return Symmetrized{f, Inverse{f}, x, y}
	}
	return Symmetrized{Inverse{f}, f, y, x}
}

// Beta follows f, then the line, then the inverse.
func (s Symmetrized) Beta(alpha float64) float64 {
	switch {
	case alpha <= s.x:
		return s.f.Beta(alpha)
	case alpha < s.y:
		return down(s.x + s.y - alpha)
	}
	return s.inverse.Beta(alpha)
}

// DeltaOf is the smallest delta for which f implies (epsilon, delta)-privacy, rounded up: the largest
// 1 - f(alpha) - e^epsilon·alpha [DRS22, Proposition 2.12]. f should be symmetric; else only one direction is meant.
func DeltaOf(f Function, epsilon float64) (float64, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	slope := math.Exp(epsilon)
	gain := func(alpha float64) float64 { return 1 - f.Beta(alpha) - slope*alpha }
	low, high := 0., 1. // the best alpha lies between them, for gain is concave
	for range 90 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if gain(a) >= gain(b) {
			high = b
		} else {
			low = a
		}
	}
	// Nothing between them gains more than beta at the upper and alpha at the lower end.
	return min(1, max(0, (1-f.Beta(high)-slope*low)+1e-13)), nil
}

// EpsilonOf is the smallest epsilon for which f implies (epsilon, delta)-privacy, rounded up. It is +Inf where none does.
func EpsilonOf(f Function, delta float64) (float64, error) {
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	enough := func(epsilon float64) bool {
		d, err := DeltaOf(f, epsilon)
		return err == nil && d <= delta
	}
	if enough(0) {
		return 0, nil
	}
	const most = 700 // beyond it e^epsilon overflows
	if !enough(most) {
		return math.Inf(1), nil
	}
	_, epsilon := bisect(0, most, enough)
	return epsilon, nil
}

// down rounds a type II error against us.
func down(beta float64) float64 { return min(1, max(0, beta*(1-outward))) }
