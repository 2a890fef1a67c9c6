package rounds

import (
	"fmt"
	"slices"

	"hubbub/noise"
)

// Kind says how a cohort is drawn.
type Kind string

// The kinds.
const (
	Poisson Kind = "poisson" // every client tosses its own coin: the size varies
	Fixed   Kind = "fixed"   // so many clients, all subsets equally likely
)

// Sampling draws the cohort of every round. It depends on nothing but its key, never on data or models, so that a
// simulation knows all its cohorts beforehand.
type Sampling struct {
	Kind    Kind
	Clients int     // enrolled
	Size    float64 // expected size; for Fixed, the size
	Key     noise.Key
}

// Rate is the probability that a client is in a cohort.
func (s Sampling) Rate() float64 { return s.Size / float64(s.Clients) }

func (s Sampling) check() error {
	switch {
	case s.Kind != Poisson && s.Kind != Fixed:
		return fmt.Errorf("rounds: sampling %q is neither %q nor %q", s.Kind, Poisson, Fixed)
	case s.Clients < 1:
		return fmt.Errorf("rounds: %d clients: there must be at least 1", s.Clients)
	case !(s.Size > 0 && s.Size <= float64(s.Clients)):
		return fmt.Errorf("rounds: cohort size %g outside (0, %d], the clients there are", s.Size, s.Clients)
	case s.Kind == Fixed && s.Size != float64(int(s.Size)):
		return fmt.Errorf("rounds: fixed cohort size %g is not a whole number", s.Size)
	}
	return nil
}

// Cohort lists the clients of a round, in ascending order.
func (s Sampling) Cohort(round int) []int {
	random := s.Key.Derive("cohort", uint64(round)).Stream()
	if s.Kind == Poisson {
		return random.Heads(nil, s.Clients, s.Rate())
	}
	var cohort []int
	// Floyd's algorithm: every subset of the size is equally likely, with one draw per member.
	size := int(s.Size)
	chosen := make(map[int]bool, size)
	for top := s.Clients - size; top < s.Clients; top++ {
		c := int(random.Below(uint64(top) + 1))
		if chosen[c] {
			c = top
		}
		chosen[c] = true
		cohort = append(cohort, c)
	}
	slices.Sort(cohort)
	return cohort
}
