package accountant

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Method names the way a bound is proved.
type Method string

const (
	Best     Method = "best" // the smallest bound that any of the others proves
	ByRDP    Method = "rdp"
	ByPLD    Method = "pld"
	ByFDP    Method = "fdp"
	byClosed Method = "closed form" // events with their own (epsilon, delta) formula
	byDetour Method = "detour"      // by PLD, some sampling left out
)

// Bound is a proved guarantee: for all neighbouring inputs the outputs are (Epsilon, Delta)-indistinguishable.
type Bound struct {
	Epsilon    float64 // +Inf: no guarantee, and Why says why
	Lower      float64 // the truth (epsilon, or delta where that was asked for) is at least this; 0 when the accountant cannot tell
	Delta      float64
	Accountant string  // what proved it
	Order      float64 // the Renyi order that proved it, or 0
	Mu         float64 // the event is exactly Mu-GDP; 0 when it is not
	MuLimit    float64 // what the central limit theorem suggests for mu: information, not a bound; 0 when unknown
	Notes      []string
	Why        string // why there is no guarantee
	Claimed    string // what a paper says instead
}

// MarshalJSON writes an infinite epsilon as null with "guarantee": "none" and the reason.
func (b Bound) MarshalJSON() ([]byte, error) {
	type fields struct {
		Epsilon    *float64 `json:"epsilon"`
		Guarantee  string   `json:"guarantee,omitempty"`
		Why        string   `json:"why,omitempty"`
		Claimed    string   `json:"claimed_by_paper,omitempty"`
		Lower      float64  `json:"lower,omitempty"`
		Delta      float64  `json:"delta"`
		Accountant string   `json:"accountant,omitempty"`
		Order      any      `json:"order,omitempty"`
		Mu         float64  `json:"mu,omitempty"`
		MuLimit    float64  `json:"mu_limit,omitempty"`
		Notes      []string `json:"notes,omitempty"`
	}
	f := fields{Why: b.Why, Claimed: b.Claimed, Lower: b.Lower, Delta: b.Delta, Accountant: b.Accountant, Mu: b.Mu, MuLimit: b.MuLimit, Notes: b.Notes}
	switch {
	case math.IsInf(b.Epsilon, 1):
		f.Guarantee = "none"
	default:
		f.Epsilon = &b.Epsilon
	}
	switch {
	case math.IsInf(b.Order, 1):
		f.Order = "infinity"
	case b.Order != 0:
		f.Order = b.Order
	}
	return json.Marshal(f)
}

// Epsilon bounds the epsilon of an event at delta. An infinite epsilon is an answer, not an error; errors are for input
// that means nothing and for methods that cannot handle the event.
func Epsilon(a About, delta float64, by Method) (Bound, error) {
	if !(delta > 0 && delta < 1) {
		return Bound{}, fmt.Errorf("accountant: delta %g outside (0, 1)", delta)
	}
	return epsilonOver(a, delta, by, standardOrders)
}

// epsilonOver is Epsilon with a choice of Renyi orders: any choice is sound, and fewer are faster.
func epsilonOver(a About, delta float64, by Method, orders []float64) (Bound, error) {
	return best(a, by, func(r route, a About) (Bound, error) {
		b, err := r.epsilon(a, delta, orders)
		b.Delta = delta
		return b, err
	}, func(b Bound) float64 { return b.Epsilon })
}

// Delta bounds the delta of an event at epsilon; 1 proves nothing.
func Delta(a About, epsilon float64, by Method) (Bound, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Bound{}, fmt.Errorf("accountant: epsilon %g must be finite and at least 0", epsilon)
	}
	return best(a, by, func(r route, a About) (Bound, error) {
		b, err := r.delta(a, epsilon)
		b.Epsilon = epsilon
		return b, err
	}, func(b Bound) float64 { return b.Delta })
}

// A route is one way from an event tree to a bound. It refuses, with the reason, what it cannot prove anything about.
type route struct {
	method  Method
	epsilon func(a About, delta float64, orders []float64) (Bound, error)
	delta   func(a About, epsilon float64) (Bound, error)
}

// ErrNotApplicable marks a method that has no bound for the event, though another may.
var ErrNotApplicable = errors.New("method does not apply")

// routes are tried in this order: the first two know the truth where they apply, the others bound it.
func routes() []route {
	return []route{
		{ByFDP, gdpEpsilon, gdpDelta},
		{ByPLD, pldEpsilon, pldDelta},
		{ByRDP, rdpEpsilon, rdpDelta},
		{byClosed, closedEpsilon, closedDelta},
		{byDetour, unsampledEpsilon, unsampledDelta},
	}
}

// best asks the routes for the value that is wanted, epsilon or delta, and keeps the smallest.
func best(a About, by Method, try func(route, About) (Bound, error), wanted func(Bound) float64) (Bound, error) {
	a, err := a.resolve()
	if err != nil {
		return Bound{}, err
	}
	var found *Bound
	var refusals []error
	known := by == Best
	for _, r := range routes() {
		known = known || by == r.method
		if by != Best && by != r.method {
			continue
		}
		b, err := try(r, a)
		if err != nil {
			refusals = append(refusals, err)
			continue
		}
		if found == nil || wanted(b) < wanted(*found) {
			found = &b
		}
		if wanted(b)-b.Lower <= 1e-3*wanted(b) {
			break // no other proof can do better than the truth
		}
	}
	if !known {
		return Bound{}, fmt.Errorf("accountant: method %q unknown: best, rdp, pld or fdp%s", by, didYouMean(string(by), "best", "rdp", "pld", "fdp"))
	}
	if found == nil {
		return Bound{}, errors.Join(refusals...)
	}
	return found.explained(a.Event), nil
}

// explained adds what is known of the event beside the bound: mu, and why there is no guarantee.
func (b Bound) explained(e Event) Bound {
	if b.Mu, b.MuLimit, _ = mu(e); math.IsInf(b.MuLimit, 1) {
		b.MuLimit = 0
	}
	if math.IsInf(b.Epsilon, 1) || b.Delta == 1 {
		b.Why, b.Claimed = whyNone(e)
	}
	return b
}

func rdpEpsilon(a About, delta float64, orders []float64) (Bound, error) {
	if err := needsOther(a.Event, ByRDP); err != nil {
		return Bound{}, err
	}
	epsilon, order := smallestEpsilon(orders, a.Event.rdp(orders), delta)
	return Bound{Epsilon: epsilon, Order: order, Accountant: string(ByRDP)}, nil
}

func rdpDelta(a About, epsilon float64) (Bound, error) {
	if err := needsOther(a.Event, ByRDP); err != nil {
		return Bound{}, err
	}
	delta, order := Curve{a.Event.rdp(standardOrders)}.Delta(epsilon)
	return Bound{Delta: delta, Order: order, Accountant: string(ByRDP)}, nil
}
