// Package ledger keeps what privacy was spent: entries in a hash chain, so that none can be changed, dropped or reordered.
//
// A round is reserved before its model is sent, charged before anything of it is released, or voided when nothing was.
// A crash can therefore waste budget but never overspend it: what is reserved and neither charged nor voided counts as spent.
// The package is pure; its caller keeps the lines.
package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"hubbub/accountant"
)

// Kind is what an entry does.
type Kind string

// The kinds.
const (
	Reserve Kind = "reserve" // before the model of a round is sent
	Charge  Kind = "charge"  // before the round's sum is released
	Void    Kind = "void"    // the round was abandoned, nothing of it was released
)

// Entry is one line of a ledger.
type Entry struct {
	Number int    `json:"number"` // counts from 0
	Kind   Kind   `json:"kind"`
	Round  int    `json:"round"`
	Costs  []Cost `json:"costs,omitempty"` // a void has none
	Before string `json:"before"`          // hash of the entry before; of the run's identity for the first
	Hash   string `json:"hash"`
}

// Cost is what a round costs some clients in the eyes of one adversary.
type Cost struct {
	Against string           `json:"against"`
	Clients []int            `json:"clients"` // null: every enrolled client
	Price   accountant.About `json:"price"`
}

// Ledger is a chain that only grows.
type Ledger struct {
	identity string
	entries  []Entry
}

// New opens a chain for the run with this identity (its configuration's hash) and takes up the entries already kept.
func New(identity string, kept []Entry) (*Ledger, error) {
	l := &Ledger{identity: identity}
	for _, e := range kept {
		sealed, err := l.seal(e)
		if err != nil {
			return nil, err
		}
		switch {
		case e.Number != sealed.Number:
			return nil, fmt.Errorf("ledger: entry %d stands where entry %d belongs: an entry is missing or repeated", e.Number, sealed.Number)
		case e.Before != sealed.Before:
			return nil, fmt.Errorf("ledger: entry %d does not follow the one before it: the file was changed, or belongs to another run", e.Number)
		case e.Hash != sealed.Hash:
			return nil, fmt.Errorf("ledger: entry %d was changed after it was written: its hash does not match", e.Number)
		}
		l.entries = append(l.entries, e)
	}
	return l, nil
}

// Append numbers, chains and keeps an entry, and returns it as it must be written.
func (l *Ledger) Append(e Entry) (Entry, error) {
	sealed, err := l.seal(e)
	if err == nil {
		l.entries = append(l.entries, sealed)
	}
	return sealed, err
}

// Entries returns the chain. It must not be changed.
func (l *Ledger) Entries() []Entry { return l.entries }

// Head is the hash of the newest entry, or of the identity while there is none.
func (l *Ledger) Head() string {
	if len(l.entries) == 0 {
		sum := sha256.Sum256([]byte("hubbub ledger 1 " + l.identity))
		return hex.EncodeToString(sum[:])
	}
	return l.entries[len(l.entries)-1].Hash
}

func (l *Ledger) seal(e Entry) (Entry, error) {
	if !slices.Contains([]Kind{Reserve, Charge, Void}, e.Kind) {
		return Entry{}, fmt.Errorf("ledger: kind %q is none of reserve, charge, void", e.Kind)
	}
	e.Number, e.Before, e.Hash = len(l.entries), l.Head(), ""
	text, err := json.Marshal(e)
	if err != nil {
		return Entry{}, fmt.Errorf("ledger: entry %d: %w", e.Number, err)
	}
	sum := sha256.Sum256(text)
	e.Hash = hex.EncodeToString(sum[:])
	return e, nil
}

// Spent composes all that one client has been charged in the eyes of an adversary, open reservations included.
func (l *Ledger) Spent(against string, client int) []accountant.About {
	open := map[int][]Cost{} // by round
	var spent []accountant.About
	take := func(costs []Cost) {
		for _, c := range costs {
			if c.Against == against && (c.Clients == nil || slices.Contains(c.Clients, client)) {
				spent = append(spent, c.Price)
			}
		}
	}
	for _, e := range l.entries {
		switch e.Kind {
		case Reserve:
			open[e.Round] = e.Costs
		case Charge:
			delete(open, e.Round)
			take(e.Costs)
		case Void:
			delete(open, e.Round)
		}
	}
	for _, costs := range open {
		take(costs)
	}
	return spent
}
