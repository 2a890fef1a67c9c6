package accountant

import (
	"fmt"

	"hubbub/accountant/fdp"
	"hubbub/accountant/pld"
)

// TradeoffBound is a proved point of a trade-off function: a test that raises false alarms at rate Alpha misses at rate Beta or more.
type TradeoffBound struct {
	Alpha      float64 `json:"alpha"`
	Beta       float64 `json:"beta"`
	Upper      float64 `json:"upper,omitempty"` // some test misses no more often than this; 0 when unknown
	Accountant string  `json:"accountant"`
	Mu         float64 `json:"mu,omitempty"`
}

// Tradeoff bounds the misses of any test that tells neighbours apart with a rate alpha of false alarms.
func Tradeoff(a About, alpha float64) (TradeoffBound, error) {
	if !(alpha >= 0 && alpha <= 1) {
		return TradeoffBound{}, fmt.Errorf("accountant: alpha %g outside [0, 1]", alpha)
	}
	a, err := a.resolve()
	if err != nil {
		return TradeoffBound{}, err
	}
	if mu, ok := asGaussian(a.Event); ok {
		beta := 1 - alpha
		if mu > 0 {
			f, err := fdp.Gaussian(mu)
			if err != nil {
				return TradeoffBound{}, fmt.Errorf("accountant: %w", err)
			}
			beta = f.Beta(alpha)
		}
		return TradeoffBound{Alpha: alpha, Beta: max(0, beta-slack), Upper: min(1, beta+slack), Accountant: string(ByFDP), Mu: mu}, nil
	}
	if list, err := terms(a.Event); err == nil {
		if b, err := pld.Tradeoff(list, alpha, pld.Options{}); err == nil {
			return TradeoffBound{Alpha: alpha, Beta: b.Lower, Upper: b.Upper, Accountant: string(ByPLD)}, nil
		}
	}
	return tradeoffByCurve(a, alpha)
}

// tradeoffByCurve is the envelope of all (epsilon, delta) that the other accountants prove.
func tradeoffByCurve(a About, alpha float64) (TradeoffBound, error) {
	t := TradeoffBound{Alpha: alpha, Accountant: string(ByRDP)}
	curve, err := NewCurve(a)
	if err != nil {
		return TradeoffBound{}, err
	}
	for i := 0; i <= 400; i++ {
		epsilon := 20 * float64(i) / 400
		delta, _ := curve.Delta(epsilon)
		f, err := fdp.EpsilonDelta(epsilon, delta)
		if err != nil {
			return TradeoffBound{}, fmt.Errorf("accountant: %w", err)
		}
		t.Beta = max(t.Beta, f.Beta(alpha)-slack)
	}
	return t, nil
}
