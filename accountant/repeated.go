package accountant

// Repeated prices an event that is repeated more and more often, as the rounds of a run are. Where only Renyi divergences have a bound,
// they are computed once: the rest is an addition.
type Repeated struct {
	about About
	curve Curve
	once  bool // the curve is all there is
}

// NewRepeated looks at the event once.
func NewRepeated(a About) (*Repeated, error) {
	a, err := a.resolve()
	if err != nil {
		return nil, err
	}
	r := &Repeated{about: a}
	if _, err := terms(unsampled(a.Event)); err == nil || needsOther(a.Event, ByRDP) != nil {
		return r, nil // another route may know more, and must be asked each time
	}
	r.once = true
	r.curve, err = NewCurve(a)
	return r, err
}

// Epsilon bounds what count repetitions cost at delta, as [Epsilon] does by its best method.
func (r *Repeated) Epsilon(count int, delta float64) (Bound, error) {
	a := r.about
	a.Event = Repeat{Count: count, Event: a.Event}
	if !r.once || !(delta > 0 && delta < 1) {
		return Epsilon(a, delta, Best)
	}
	epsilon, order := r.curve.Times(count).Epsilon(delta)
	b := Bound{Epsilon: epsilon, Order: order, Delta: delta, Accountant: string(ByRDP)}
	return b.explained(a.Event), nil
}
