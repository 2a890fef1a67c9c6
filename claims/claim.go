package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Verdict says whether a claim is true.
type Verdict string

// The verdicts.
const (
	Holds     Verdict = "holds"
	Corrected Verdict = "holds with correction" // false as printed; the correction is stated
	False     Verdict = "false"
)

// Verdicts are all of them.
var Verdicts = []Verdict{Holds, Corrected, False}

// Papers are the numbers by which papers are cited, with their titles.
var Papers = []struct{ Number, Title string }{
	{"000", "Differentially private federated learning without noise addition: when is it possible?"},
	{"001", "Secure aggregation is not private against membership inference attacks"},
	{"002", "Distributed Skellam mechanism"},
	{"003", "Differentially private federated learning with an adaptive noise mechanism"},
	{"004", "Federated f-differential privacy"},
}

// Claim is one theorem, lemma, formula or statement of a paper.
type Claim struct {
	ID      string  `json:"id"`    // paper.place
	Place   string  `json:"place"` // in the paper
	Says    string  `json:"says"`  // in our words
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`  // it holds, or what is wrong
	Ours    string  `json:"ours"` // what is computed here instead, or as well
	Where   string  `json:"where"`

	show func() (Evidence, error)
}

// Paper is the number of the paper.
func (c Claim) Paper() string { return c.ID[:3] }

// Runs says whether there is something to run: a counterexample, or a confirmation.
func (c Claim) Runs() bool { return c.show != nil }

// Evidence is what a run found.
type Evidence struct {
	Ran        string   `json:"ran"` // what was done, in a sentence
	Claimed    Number   `json:"claimed"`
	Found      Number   `json:"found"`
	Contradict bool     `json:"contradicts"` // what is printed is contradicted by what was found
	Detail     []string `json:"detail,omitempty"`
}

// Number is a value with what it is. An infinite or undefined value is null in JSON, and its words say so.
type Number struct {
	Value float64
	Words string
}

func number(value float64, format string, args ...any) Number {
	return Number{value, fmt.Sprintf(format, args...)}
}

// String is the value and its words.
func (n Number) String() string { return strings.TrimSpace(n.figure() + " " + n.Words) }

func (n Number) figure() string {
	switch {
	case math.IsNaN(n.Value):
		return "undefined"
	case math.IsInf(n.Value, 0):
		return "infinite"
	}
	return strconv.FormatFloat(n.Value, 'g', 7, 64)
}

// MarshalJSON writes {"value": ..., "words": ...}.
func (n Number) MarshalJSON() ([]byte, error) {
	var value *float64
	if !math.IsNaN(n.Value) && !math.IsInf(n.Value, 0) {
		value = &n.Value
	}
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		Words string   `json:"words"`
	}{value, n.Words})
}

// ErrUnsupported marks a verdict that its evidence does not support.
var ErrUnsupported = errors.New("the verdict is not supported")

// Run shows the evidence: of a false claim a counterexample, of a true one a confirmation. It returns an error when the evidence and the
// verdict disagree.
func (c Claim) Run() (Evidence, error) {
	if c.show == nil {
		return Evidence{}, fmt.Errorf("claims: %s (%s) has nothing to run", c.ID, c.Verdict)
	}
	e, err := c.show()
	if err != nil {
		return e, fmt.Errorf("claims: %s: %w", c.ID, err)
	}
	if e.Contradict != (c.Verdict != Holds) {
		return e, fmt.Errorf("claims: %s: claimed %v, found %v, but the verdict is %q: %w", c.ID, e.Claimed, e.Found, c.Verdict, ErrUnsupported)
	}
	return e, nil
}

// All lists the claims, paper by paper.
func All() []Claim {
	var all []Claim
	for _, list := range [][]Claim{paper000, paper001, paper002, paper003, paper004} {
		all = append(all, list...)
	}
	return all
}

// Find looks a claim up by its ID.
func Find(id string) (Claim, error) {
	for _, c := range All() {
		if strings.EqualFold(c.ID, id) {
			return c, nil
		}
	}
	return Claim{}, fmt.Errorf("claims: no claim %q: hubbub claims lists them all", id)
}
