package report

import (
	"fmt"
	"html/template"
	"math"

	"hubbub/internal/chart"
)

// pictures draws what changed over the rounds. A quantity that was never measured has no picture.
func (r Run) pictures() (drawn []picture, undrawn string, err error) {
	add := func(caption string, l chart.Line) error {
		if len(l.Series) == 0 {
			return nil
		}
		svg, err := l.SVG()
		if err != nil {
			return err
		}
		drawn = append(drawn, picture{caption, template.HTML(svg)})
		return nil
	}
	accuracy := r.over("accuracy", func(p Point) *float64 { return p.Accuracy }, 100)
	if err := add("Share of the public test set that the model labels right.", chart.Line{
		Title: "Accuracy", XLabel: "round", YLabel: "accuracy (%)", Series: accuracy, YMin: new(0.0), YMax: new(100.0),
	}); err != nil {
		return nil, "", err
	}
	epsilon, undrawn := r.epsilon()
	if err := add("Epsilon spent up to each round.", epsilon); err != nil {
		return nil, "", err
	}
	loss := r.over("loss", func(p Point) *float64 { return p.Loss }, 1)
	if err := add("Mean loss on the public test set; lower is better.", chart.Line{
		Title: "Loss", XLabel: "round", YLabel: "mean loss per example", Series: loss, YMin: floor(loss),
	}); err != nil {
		return nil, "", err
	}
	return drawn, undrawn, nil
}

// over is one measured quantity over the rounds; rounds where it was not evaluated are passed over, because evaluating only
// some rounds is the rule and not a gap.
func (r Run) over(name string, get func(Point) *float64, scale float64) []chart.Series {
	s := chart.Series{Name: name}
	const runaway = 1e30 // a loss beyond this, or infinite, has no place on an axis with the others; the table still says it
	for _, p := range r.Metrics {
		if v := get(p); v != nil && math.Abs(*v) < runaway {
			s.X, s.Y = append(s.X, float64(p.Round)), append(s.Y, scale**v)
		}
	}
	if len(s.X) == 0 {
		return nil
	}
	return []chart.Series{s}
}

// floor lets an axis begin at zero unless a value is below it.
func floor(series []chart.Series) *float64 {
	for _, s := range series {
		for _, y := range s.Y {
			if y < 0 {
				return nil
			}
		}
	}
	return new(0.0)
}

// epsilon is a line per adversary with a finite value; rounds without a guarantee leave a gap.
func (r Run) epsilon() (l chart.Line, undrawn string) {
	l = chart.Line{Title: "Epsilon", XLabel: "round", YLabel: "epsilon", YMin: new(0.0)}
	var left []string
	var labels []string
	for _, row := range r.adversaries() {
		s := chart.Series{Name: fmt.Sprintf("against %s, delta %s", against(row.Adversary), roundUp(row.Delta))}
		finite := false
		for _, p := range r.Metrics {
			v, known := p.Epsilon[row.Adversary]
			if !known {
				continue
			}
			y := math.NaN()
			if v != nil {
				y, finite = *v, true
			}
			s.X, s.Y = append(s.X, float64(p.Round)), append(s.Y, y)
		}
		if !finite {
			left = append(left, against(row.Adversary))
			continue
		}
		l.Series = append(l.Series, s)
		labels = append(labels, fmt.Sprintf("epsilon at delta %s, against %s", roundUp(row.Delta), against(row.Adversary)))
	}
	if len(labels) == 1 { // a single line has no legend: the axis says whose it is
		l.YLabel = labels[0]
	}
	return l, list(left)
}

// labels draws how many examples each label has.
func (r Run) labels() (template.HTML, error) {
	b := chart.Bars{Title: "Examples per label", XLabel: "label", YLabel: "examples", Groups: []chart.Group{{Name: "examples"}}}
	for _, l := range r.LabelHistogram {
		b.Categories = append(b.Categories, l.Label)
		b.Groups[0].Values = append(b.Groups[0].Values, float64(l.Count))
	}
	svg, err := b.SVG()
	return template.HTML(svg), err
}
