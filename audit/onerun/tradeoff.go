package onerun

import "math"

// Tradeoff is a trade-off function as this audit needs it: by which mass another input must reach an event that one input reaches
// with this probability; the inverse of one minus the function.
type Tradeoff func(probability float64) float64

// Gaussian is the trade-off of two normal laws mu apart.
func Gaussian(mu float64) Tradeoff {
	return func(x float64) float64 {
		switch {
		case x <= 0:
			return 0
		case x >= 1:
			return 1
		}
		// Phi(Phi^-1(x) - mu), by the upper tail where x is small.
		z := -math.Sqrt2 * math.Erfcinv(2*x)
		return math.Erfc((mu-z)/math.Sqrt2) / 2
	}
}

// EpsilonDelta is the trade-off of (epsilon, delta)-privacy.
func EpsilonDelta(epsilon, delta float64) Tradeoff {
	return func(x float64) float64 { return max(0, (x-delta)*math.Exp(-epsilon)) }
}

// Explained says whether a run with this trade-off function between a canary in and the same canary out may show so many
// correct guesses with a probability above level.
func (g Guesses) Explained(f Tradeoff, level float64) (bool, error) {
	if err := g.check(); err != nil {
		return false, err
	}
	return g.explained(f, level), nil
}

// explained follows [MMC24]. Let p_i be the probability of i correct guesses of r on m canaries, and
// R_i = sum over j >= i of (j/m)·p_j, H_i = sum over j >= i of ((r-j)/m)·p_j.
//
// Turning one coin over turns a correct guess on it into a wrong one: R_(i+1) is the chance that a random canary was guessed correctly
// together with at least i others, and H_i at least the chance that it was guessed wrongly, with as many others. So H_i is
// at least f of R_(i+1). If v or more are correct with probability level, R_v and H_v are at least what they are with all of that on
// v; the recursion takes the least of both from there down. In the end R_0 + H_0 = r/m: if the least exceeds it, f is ruled out.
func (g Guesses) explained(f Tradeoff, level float64) bool {
	m, r, v := float64(g.Canaries), float64(g.Guessed), g.Correct
	correct := level * float64(v) / m
	wrong := level * (r - float64(v)) / m
	for i := v - 1; i >= 0; i-- {
		more := max(wrong, f(correct))
		correct += float64(i) / (r - float64(i)) * (more - wrong)
		wrong = more
		if correct+wrong > r/m {
			return false
		}
	}
	return correct+wrong <= r/m
}
