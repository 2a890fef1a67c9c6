package report

import (
	"fmt"
	"math"
)

// check refuses numbers that cannot be true or that contradict each other: a report is read as proof.
func (r Run) check() error {
	switch {
	case r.Rounds < 0 || r.PlannedRounds < 0:
		return fmt.Errorf("%d of %d rounds: neither may be negative", r.Rounds, r.PlannedRounds)
	case !(r.Seconds >= 0) || math.IsInf(r.Seconds, 0):
		return fmt.Errorf("run time of %g seconds: it must be finite and not negative", r.Seconds)
	case r.BytesUp < 0 || r.BytesDown < 0:
		return fmt.Errorf("%d bytes up, %d down: neither may be negative", r.BytesUp, r.BytesDown)
	}
	if err := checkAccuracy(r.Accuracy); err != nil {
		return err
	}
	for i, row := range r.Statement {
		if err := row.check(); err != nil {
			return fmt.Errorf("row %d of the statement: %w", i+1, err)
		}
	}
	last := math.MinInt
	for _, p := range r.Metrics {
		if p.Round <= last {
			return fmt.Errorf("metrics of round %d after round %d: rounds must increase", p.Round, last)
		}
		last = p.Round
		if err := p.check(r.rowsByAdversary()); err != nil {
			return fmt.Errorf("metrics of round %d: %w", p.Round, err)
		}
	}
	for _, l := range r.LabelHistogram {
		if l.Count < 0 {
			return fmt.Errorf("label %q has %d examples: a count is not negative", l.Label, l.Count)
		}
	}
	return nil
}

func (row Row) check() error {
	if row.Adversary == "" || row.Unit == "" {
		return fmt.Errorf("adversary %q, unit %q: both must be named", row.Adversary, row.Unit)
	}
	if row.Epsilon == nil {
		return nil
	}
	if row.Guarantee == "none" {
		return fmt.Errorf(`epsilon %g with guarantee "none": no guarantee has no epsilon`, *row.Epsilon)
	}
	if err := checkEpsilon(*row.Epsilon); err != nil {
		return err
	}
	if !(row.Delta >= 0 && row.Delta < 1) {
		return fmt.Errorf("delta %g outside [0, 1)", row.Delta)
	}
	if row.Mu != nil && (!(*row.Mu >= 0) || math.IsInf(*row.Mu, 0)) {
		return fmt.Errorf("mu %g: it must be finite and not negative", *row.Mu)
	}
	return nil
}

// rowsByAdversary are the rows that the metrics speak of: an adversary's first one with a guarantee, else its first one.
func (r Run) rowsByAdversary() map[string]Row {
	rows := map[string]Row{}
	for _, row := range r.Statement {
		if known, ok := rows[row.Adversary]; !ok || known.Epsilon == nil && row.Epsilon != nil {
			rows[row.Adversary] = row
		}
	}
	return rows
}

func (p Point) check(stated map[string]Row) error {
	if p.Accuracy != nil {
		if err := checkAccuracy(*p.Accuracy); err != nil {
			return err
		}
	}
	for adversary, epsilon := range p.Epsilon {
		row, ok := stated[adversary]
		if !ok {
			return fmt.Errorf("epsilon against %q, which the statement does not name: it would have no delta", adversary)
		}
		if epsilon == nil {
			continue
		}
		if row.Epsilon == nil {
			return fmt.Errorf("epsilon %g against %q, where the statement has no guarantee: leave it out", *epsilon, adversary)
		}
		if err := checkEpsilon(*epsilon); err != nil {
			return fmt.Errorf("against %q: %w", adversary, err)
		}
	}
	return nil
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return fmt.Errorf("epsilon %g: it must be finite and not negative; leave it out where there is no guarantee", epsilon)
	}
	return nil
}

func checkAccuracy(accuracy float64) error {
	if accuracy < 0 || accuracy > 1 {
		return fmt.Errorf("accuracy %g outside [0, 1]: give a fraction, not per cent", accuracy)
	}
	return nil
}
