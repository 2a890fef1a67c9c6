package pld

import "fmt"

// Distribution is a continuous distribution on the line; those of gonum's distuv fit.
type Distribution interface {
	CDF(x float64) float64
	Survival(x float64) float64 // 1 - CDF, without the cancellation
}

// Continuous describes two distributions whose privacy loss ln(dP/dQ) is monotone.
type Continuous struct {
	P, Q Distribution
	// Threshold inverts the loss: the x at which it crosses a value, -Inf or +Inf where all x are on one side. It is
	// called with -Inf and +Inf too, and there separates what only Q or only P can give.
	Threshold func(loss float64) float64
	Falling   bool // the loss falls in x; false: it rises
}

// Pair makes the pair usable. How good it is depends on the relative precision of the distributions' tails, which
// should be some units of round-off.
func (c Continuous) Pair() (Pair, error) {
	if c.P == nil || c.Q == nil || c.Threshold == nil {
		return Pair{}, fmt.Errorf("pld: a continuous pair needs P, Q and the threshold")
	}
	return Pair{law: c}, nil
}

func (c Continuous) tails(loss float64) tails {
	x := c.Threshold(loss)
	if c.Falling {
		return tails{c.P.CDF(x), c.P.Survival(x), c.Q.CDF(x), c.Q.Survival(x)}
	}
	return tails{c.P.Survival(x), c.P.CDF(x), c.Q.Survival(x), c.Q.CDF(x)}
}
