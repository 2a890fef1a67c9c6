package accountant

import (
	"fmt"
	"math"
)

func (SMM) rdp(orders []float64) []float64                 { return filled(len(orders), math.Inf(1)) }
func (DiscreteGaussian) rdp(orders []float64) []float64    { return filled(len(orders), math.Inf(1)) }
func (DiscreteGaussianSum) rdp(orders []float64) []float64 { return filled(len(orders), math.Inf(1)) }
func (Binomial) rdp(orders []float64) []float64            { return filled(len(orders), math.Inf(1)) }
func (CPSGD) rdp(orders []float64) []float64               { return filled(len(orders), math.Inf(1)) }

func closedEpsilon(a About, delta float64, _ []float64) (Bound, error) {
	return Bound{}, fmt.Errorf("accountant: %s has no closed form (%w)", a.Event.kind(), ErrNotApplicable)
}

func closedDelta(a About, epsilon float64) (Bound, error) {
	return Bound{}, fmt.Errorf("accountant: %s has no closed form (%w)", a.Event.kind(), ErrNotApplicable)
}
