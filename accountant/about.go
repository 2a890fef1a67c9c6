package accountant

import (
	"fmt"
	"slices"
)

// Adjacency says which data sets count as neighbours.
type Adjacency string

const (
	AddRemove  Adjacency = "add-remove"  // one unit more or less
	ZeroOut    Adjacency = "zero-out"    // one unit's contribution becomes zero; its presence stays
	ReplaceOne Adjacency = "replace-one" // one unit's data becomes anything else
)

// Unit is what a neighbouring data set differs in.
type Unit string

const (
	Record Unit = "record"
	Client Unit = "client"
)

// About is an event together with what it protects. Zero Adjacency and Unit take the event's usual ones.
type About struct {
	Adjacency Adjacency
	Unit      Unit
	Event     Event
}

var (
	anyAdjacency     = []Adjacency{AddRemove, ZeroOut, ReplaceOne}
	zeroOutFirst     = []Adjacency{ZeroOut, AddRemove, ReplaceOne}
	presenceOnly     = []Adjacency{ZeroOut, AddRemove}
	replaceOneOnly   = []Adjacency{ReplaceOne}
	poissonAdjacency = []Adjacency{AddRemove, ZeroOut}
)

// Validate refuses impossible parameters and events that do not fit together or do not fit what they are about.
func Validate(a About) error {
	_, err := a.resolve()
	return err
}

// resolve checks everything once and fills in the defaults; past here nothing re-checks.
func (a About) resolve() (About, error) {
	if a.Event == nil {
		return a, fmt.Errorf("accountant: no event: give one, or an empty compose when nothing was released")
	}
	if depth(a.Event) > maxDepth {
		return a, fmt.Errorf("accountant: events nested more than %d deep: flatten them", maxDepth)
	}
	if err := a.Event.check(); err != nil {
		return a, fmt.Errorf("accountant: %w", err)
	}
	fits := a.Event.fits()
	switch {
	case len(fits) == 0:
		return a, fmt.Errorf("accountant: %s: its parts have no adjacency in common (poisson needs add-remove or zero-out, without_replacement, waterfill, gaussian_sampling and subspace need replace-one): account for them separately", a.Event.kind())
	case a.Adjacency == "":
		a.Adjacency = fits[0]
	case !slices.Contains(anyAdjacency, a.Adjacency):
		return a, fmt.Errorf("accountant: adjacency %q unknown: one of add-remove, zero-out, replace-one%s", a.Adjacency, didYouMean(string(a.Adjacency), "add-remove", "zero-out", "replace-one"))
	case !slices.Contains(fits, a.Adjacency):
		return a, fmt.Errorf("accountant: adjacency %s does not fit %s, which has a bound for %v only", a.Adjacency, a.Event.kind(), fits)
	}
	usual, only := a.Event.unit()
	switch {
	case a.Unit == "":
		a.Unit = usual
	case a.Unit != Record && a.Unit != Client:
		return a, fmt.Errorf("accountant: unit %q unknown: record or client%s", a.Unit, didYouMean(string(a.Unit), "record", "client"))
	case only && a.Unit != usual:
		return a, fmt.Errorf("accountant: unit %s does not fit %s, which protects one %s", a.Unit, a.Event.kind(), usual)
	}
	return a, nil
}

// maxDepth bounds the nesting of events, so that no input can exhaust the stack.
const maxDepth = 100

func depth(e Event) int {
	switch e := e.(type) {
	case Poisson:
		return 1 + depth(e.Event)
	case WithoutReplacement:
		return 1 + depth(e.Event)
	case Repeat:
		return 1 + depth(e.Event)
	case Compose:
		deepest := 0
		for _, part := range e {
			deepest = max(deepest, depth(part))
		}
		return 1 + deepest
	default:
		return 1
	}
}

// common keeps what a and b share, in a's order.
func common(a, b []Adjacency) []Adjacency {
	var both []Adjacency
	for _, x := range a {
		if slices.Contains(b, x) {
			both = append(both, x)
		}
	}
	return both
}

func (Gaussian) fits() []Adjacency            { return anyAdjacency }
func (Laplace) fits() []Adjacency             { return anyAdjacency }
func (Skellam) fits() []Adjacency             { return zeroOutFirst }
func (RoundedSkellam) fits() []Adjacency      { return presenceOnly } // the proof compares M_x with M_0, not with M_y
func (SMM) fits() []Adjacency                 { return presenceOnly }
func (DiscreteGaussian) fits() []Adjacency    { return zeroOutFirst }
func (DiscreteGaussianSum) fits() []Adjacency { return zeroOutFirst }
func (Binomial) fits() []Adjacency            { return zeroOutFirst }
func (CPSGD) fits() []Adjacency               { return zeroOutFirst }
func (Waterfill) fits() []Adjacency           { return replaceOneOnly }
func (GaussianSampling) fits() []Adjacency    { return replaceOneOnly }
func (Subspace) fits() []Adjacency            { return replaceOneOnly }
func (GDP) fits() []Adjacency                 { return anyAdjacency }
func (None) fits() []Adjacency                { return anyAdjacency }
func (Unsound) fits() []Adjacency             { return anyAdjacency }
func (e Poisson) fits() []Adjacency           { return common(e.Event.fits(), poissonAdjacency) }
func (e WithoutReplacement) fits() []Adjacency {
	return common(e.Event.fits(), replaceOneOnly)
}
func (e Repeat) fits() []Adjacency { return e.Event.fits() }
func (e Compose) fits() []Adjacency {
	if len(e) == 0 {
		return anyAdjacency
	}
	fits := e[0].fits()
	for _, part := range e[1:] {
		fits = common(fits, part.fits())
	}
	return fits
}

func (Gaussian) unit() (Unit, bool)             { return Record, false }
func (Laplace) unit() (Unit, bool)              { return Record, false }
func (Skellam) unit() (Unit, bool)              { return Client, false }
func (RoundedSkellam) unit() (Unit, bool)       { return Client, false }
func (SMM) unit() (Unit, bool)                  { return Client, false }
func (DiscreteGaussian) unit() (Unit, bool)     { return Client, false }
func (DiscreteGaussianSum) unit() (Unit, bool)  { return Client, false }
func (Binomial) unit() (Unit, bool)             { return Client, false }
func (CPSGD) unit() (Unit, bool)                { return Client, false }
func (Waterfill) unit() (Unit, bool)            { return Record, true }
func (GaussianSampling) unit() (Unit, bool)     { return Record, true }
func (Subspace) unit() (Unit, bool)             { return Record, true }
func (GDP) unit() (Unit, bool)                  { return Record, false }
func (None) unit() (Unit, bool)                 { return Record, false }
func (Unsound) unit() (Unit, bool)              { return Record, false }
func (e Poisson) unit() (Unit, bool)            { return e.Event.unit() }
func (e WithoutReplacement) unit() (Unit, bool) { return e.Event.unit() }
func (e Repeat) unit() (Unit, bool)             { return e.Event.unit() }
func (e Compose) unit() (Unit, bool) {
	unit, only := Record, false
	for i, part := range e {
		u, must := part.unit()
		if must {
			return u, true
		}
		if i == 0 {
			unit = u
		}
	}
	return unit, only
}
