package reproduce

import (
	"fmt"
	"math"
	"strconv"

	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// number reads a setting that is one.
func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// addPoint adds a mean with a band of two standard errors to a series.
func addPoint(s *chart.Series, x, y, standardError float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
	s.Low, s.High = append(s.Low, y-2*standardError), append(s.High, y+2*standardError)
}

// points is the mean of a tally in percentage points.
func points(t experiment.Tally) float64 { return 100 * t.Accuracy }

// accuracyRow is a row for a tally.
func accuracyRow(settings []string, paper *float64, t experiment.Tally) Row {
	r := Row{Settings: settings, Paper: paper, Ours: Value(points(t)), Error: 100 * t.Error, Runs: t.Seeds}
	if t.Diverged > 0 {
		r.Note = fmt.Sprintf("%d of %d runs diverged: the last good model counts", t.Diverged, t.Seeds)
	}
	return r
}

// paired is the mean difference of two tallies in percentage points, and its standard error: seed by seed where both have the same seeds.
func paired(a, b experiment.Tally) (difference, standardError float64) {
	if len(a.Results) != len(b.Results) || len(a.Results) < 2 {
		return points(a) - points(b), 100 * math.Hypot(a.Error, b.Error)
	}
	values := make([]float64, len(a.Results))
	for i := range values {
		values[i] = 100 * (a.Results[i].Accuracy - b.Results[i].Accuracy)
	}
	return experiment.MeanError(values)
}

// ahead checks that a is ahead of b by at least so many points, or less by no more than two standard errors.
func ahead(states string, a, b experiment.Tally, by float64) Check {
	d, e := paired(a, b)
	return Check{States: states, Holds: d+2*e >= by, Seen: fmt.Sprintf("%.2f%% and %.2f%%: %+.2f points, standard error %.2f", points(a), points(b), d, e)}
}

// near checks that a and b differ by at most so many points and two standard errors.
func near(states string, a, b experiment.Tally, within float64) Check {
	d, e := paired(a, b)
	return Check{States: states, Holds: math.Abs(d) <= within+2*e, Seen: fmt.Sprintf("%.2f%% and %.2f%%: %+.2f points, standard error %.2f", points(a), points(b), d, e)}
}
