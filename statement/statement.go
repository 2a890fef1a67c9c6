package statement

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"hubbub/accountant"
)

// Row is one line of a statement. An epsilon of nil means that there is no bound, and Why says the reason.
type Row struct {
	Adversary  Adversary       `json:"adversary"`
	Unit       accountant.Unit `json:"unit"`
	Epsilon    *float64        `json:"epsilon"`
	Delta      float64         `json:"delta,omitempty"`
	Mu         *float64        `json:"mu,omitempty"`
	Accountant string          `json:"accountant,omitempty"`
	Guarantee  string          `json:"guarantee"`
	// Event is what was priced: hubbub privacy epsilon gives the same number for it.
	Event          *accountant.About `json:"event,omitempty"`
	Why            string            `json:"why,omitempty"`
	ClaimedByPaper string            `json:"claimed_by_paper,omitempty"`
	Assumptions    []string          `json:"assumptions,omitempty"`
	Notes          []string          `json:"notes,omitempty"` // what else is worth knowing; nothing that the guarantee rests on
}

// Caveat is what must be said beside the number itself: that what it rests on was only simulated. Empty: nothing.
func (r Row) Caveat() string {
	if r.Epsilon != nil && r.Adversary == Server && slices.Contains(r.Assumptions, SimulatedAggregation) {
		return "under secure aggregation (simulated)"
	}
	return ""
}

// Rows is the whole statement: every adversary, the run's own unit first.
func (f Facts) Rows() ([]Row, error) {
	units := []accountant.Unit{f.Unit, accountant.Record}
	if f.Unit == accountant.Record {
		units[1] = accountant.Client
	}
	if f.Memo == nil {
		f.Memo = NewMemo()
	}
	var rows []Row
	for _, unit := range units {
		for _, adversary := range Adversaries {
			row, err := f.Row(adversary, unit)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// Row states what holds against one adversary for one unit.
func (f Facts) Row(adversary Adversary, unit accountant.Unit) (Row, error) {
	v := f.View(adversary, unit)
	row := Row{Adversary: adversary, Unit: unit, Guarantee: "none", Why: v.Why, ClaimedByPaper: v.Claimed, Assumptions: v.Assumptions}
	if v.Why != "" {
		row.Assumptions = nil
		return row, nil
	}
	row.Delta = f.Delta
	worst := accountant.Bound{Epsilon: -1}
	for _, event := range v.spent(f) {
		bound, err := f.epsilon(v, event)
		if err != nil {
			return Row{}, fmt.Errorf("statement against %s: %w", adversary, err)
		}
		if bound.Epsilon > worst.Epsilon {
			about := v.about(event)
			worst, row.Event = bound, &about
		}
	}
	if math.IsInf(worst.Epsilon, 1) {
		row.Delta, row.Assumptions, row.Event = 0, nil, nil
		row.Why = "the noise is too small for a finite bound at this delta"
		return row, nil
	}
	row.Epsilon = &worst.Epsilon
	row.Accountant = worst.Accountant
	if worst.Mu > 0 {
		row.Mu = &worst.Mu
	}
	row.Notes = append(slices.Clone(v.Notes), worst.Notes...)
	if worst.MuLimit > 0 {
		row.Notes = append(row.Notes, fmt.Sprintf("the central limit theorem suggests mu %.4g; that can be too small, so it is no part of the guarantee", worst.MuLimit))
	}
	row.Guarantee = fmt.Sprintf("(%.4g, %.4g)-differential privacy for one %s, %s", roundUp(worst.Epsilon), f.Delta, unit, v.Adjacency)
	return row, nil
}

// epsilon bounds what an event costs, the view's distance from it included. That takes the more of delta, the larger epsilon is: the
// smallest cap that epsilon keeps below is looked for.
func (f Facts) epsilon(v View, event accountant.Event) (accountant.Bound, error) {
	delta := f.Delta - v.Failure
	if v.Tau == 0 && delta > 0 {
		return f.Memo.epsilon(v.about(event), delta)
	}
	for epsilon := 5.0; spentDelta(v.Tau, epsilon) < delta/2; epsilon *= 1.5 {
		bound, err := f.Memo.epsilon(v.about(event), delta-spentDelta(v.Tau, epsilon))
		if err != nil || bound.Epsilon <= epsilon {
			return bound, err
		}
	}
	return accountant.Bound{Epsilon: math.Inf(1)}, nil
}

// roundUp keeps four digits and never makes an epsilon smaller.
func roundUp(epsilon float64) float64 {
	if epsilon <= 0 {
		return epsilon
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(epsilon)))
	return math.Ceil(epsilon*scale) / scale
}

// Memo remembers prices: the rows of a statement, and the rounds of a run, ask for the same ones again and again.
type Memo struct {
	bounds map[string]accountant.Bound
	prices map[string]*accountant.Repeated // of one repetition
}

// NewMemo remembers nothing yet.
func NewMemo() *Memo {
	return &Memo{map[string]accountant.Bound{}, map[string]*accountant.Repeated{}}
}

func (m *Memo) epsilon(about accountant.About, delta float64) (accountant.Bound, error) {
	about.Unit = "" // the price does not depend on it
	if m == nil {
		return accountant.Epsilon(about, delta, accountant.Best)
	}
	repeat, ok := about.Event.(accountant.Repeat)
	if ok {
		about.Event = repeat.Event
	}
	text, err := json.Marshal(about)
	if err != nil {
		return accountant.Bound{}, err
	}
	if !ok {
		key := fmt.Sprintf("%s at %g", text, delta)
		bound, known := m.bounds[key]
		if !known {
			if bound, err = accountant.Epsilon(about, delta, accountant.Best); err != nil {
				return accountant.Bound{}, err
			}
			m.bounds[key] = bound
		}
		return bound, nil
	}
	price, ok := m.prices[string(text)]
	if !ok {
		if price, err = accountant.NewRepeated(about); err != nil {
			return accountant.Bound{}, err
		}
		m.prices[string(text)] = price
	}
	key := fmt.Sprintf("%d times %s at %g", repeat.Count, text, delta)
	bound, ok := m.bounds[key]
	if !ok {
		if bound, err = price.Epsilon(repeat.Count, delta); err != nil {
			return accountant.Bound{}, err
		}
		m.bounds[key] = bound
	}
	return bound, nil
}

// spent lists what the run cost its clients, one event for each kind of client that no other kind exceeds.
func (v View) spent(f Facts) []accountant.Event {
	if v.Everyone {
		return []accountant.Event{times(f.Rounds, v.Price(0))}
	}
	type kind struct {
		client int
		rate   float64
		steps  int
		price  accountant.Event
	}
	var kinds []kind
	for c, took := range f.Took {
		k := kind{client: c, steps: took, price: v.Price(c)}
		if f.Protection == InTraining {
			k.rate, k.steps = f.BatchRate[c], took*f.LocalSteps[c]
			k.price = k.price.(accountant.Repeat).Event
		}
		if slices.ContainsFunc(kinds, func(o kind) bool { return o.rate >= k.rate && o.steps >= k.steps }) {
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(o kind) bool { return k.rate >= o.rate && k.steps >= o.steps })
		kinds = append(kinds, k)
	}
	events := make([]accountant.Event, len(kinds))
	for i, k := range kinds {
		events[i] = times(k.steps, k.price)
		if f.Factor != nil {
			events[i] = v.roundByRound(f, k.client)
		}
	}
	return events
}

// roundByRound is what rounds of different prices cost a client that takes part in all of them.
func (v View) roundByRound(f Facts, client int) accountant.Event {
	all := accountant.Compose{}
	for round := 1; round <= f.Rounds; round++ {
		all = append(all, f.in(round).View(v.Adversary, v.Unit).Price(client))
	}
	return all
}

func times(count int, e accountant.Event) accountant.Event {
	if count == 0 {
		return accountant.Compose{} // nothing was released
	}
	return accountant.Repeat{Count: count, Event: e}
}
