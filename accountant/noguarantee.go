package accountant

import (
	"fmt"
	"strings"
)

// leaves calls visit for each event that is not a container.
func leaves(e Event, visit func(Event)) {
	switch e := e.(type) {
	case Poisson:
		leaves(e.Event, visit)
	case WithoutReplacement:
		leaves(e.Event, visit)
	case Repeat:
		leaves(e.Event, visit)
	case Compose:
		for _, part := range e {
			leaves(part, visit)
		}
	default:
		visit(e)
	}
}

// whyNone says why an event has no finite epsilon, and what is claimed for it.
func whyNone(e Event) (why, claimed string) {
	var reasons, claims []string
	leaves(e, func(leaf Event) {
		switch leaf := leaf.(type) {
		case None:
			reasons = append(reasons, "nothing protects the release")
		case Unsound:
			reasons = append(reasons, leaf.Why)
			if leaf.Claimed != "" {
				claims = append(claims, leaf.Claimed)
			}
		}
	})
	if reasons == nil {
		reasons = []string{"the noise is too small for any bound of this method to be finite"}
	}
	return strings.Join(dedup(reasons), "; "), strings.Join(dedup(claims), "; ")
}

func dedup(texts []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range texts {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// needsOther refuses RDP for events whose Renyi divergence is infinite though they protect something.
func needsOther(e Event, m Method) error {
	var err error
	leaves(e, func(leaf Event) {
		switch leaf.(type) {
		case Binomial, CPSGD:
			err = fmt.Errorf("accountant: %s: %s has bounded support and so no finite Renyi divergence: use best (%w)", m, leaf.kind(), ErrNotApplicable)
		}
	})
	return err
}
