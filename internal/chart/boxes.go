package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Boxes is a chart of how values are spread, per category; with several groups the boxes of a category stand side by side.
type Boxes struct {
	Title, XLabel, YLabel string
	Categories            []string
	Groups                []BoxGroup
	Width, Height         int // in points; default 440 x 280
}

// BoxGroup gives every category its box, in the order of Boxes.Categories.
type BoxGroup struct {
	Name  string
	Boxes []Box
}

// Box is five numbers for many: the box goes from the first to the third quartile with a line at the median, the whiskers to Low and High.
type Box struct{ Low, Q1, Median, Q3, High float64 }

// BoxOf summarises values after Tukey: whiskers reach the farthest values within one and a half boxes of the box. What lies beyond is left out.
func BoxOf(values []float64) (Box, error) {
	if len(values) == 0 {
		return Box{}, fmt.Errorf("chart: no values for a box: give at least one")
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if math.IsNaN(sorted[0]) || math.IsInf(sorted[0], 0) || math.IsInf(sorted[len(sorted)-1], 0) { // NaN is sorted to the front
		return Box{}, fmt.Errorf("chart: the values of a box must be finite")
	}
	// Between two values the quantile is on the line through them.
	quantile := func(p float64) float64 {
		at := p * float64(len(sorted)-1)
		i := int(at)
		if i+1 == len(sorted) {
			return sorted[i]
		}
		return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
	}
	b := Box{Q1: quantile(.25), Median: quantile(.5), Q3: quantile(.75)}
	reach := 1.5 * (b.Q3 - b.Q1)
	first, _ := slices.BinarySearch(sorted, b.Q1-reach)
	past, _ := slices.BinarySearchFunc(sorted, b.Q3+reach, func(v, limit float64) int {
		if v <= limit {
			return -1
		}
		return 1
	})
	// A quartile between two values may have no value within reach on its outer side.
	b.Low, b.High = min(b.Q1, sorted[min(first, len(sorted)-1)]), max(b.Q3, sorted[max(past-1, 0)])
	return b, nil
}

// SVG draws the chart as a stand-alone SVG file, which a page may also inline.
func (b Boxes) SVG() ([]byte, error) { return svg(b) }

// PNG draws the chart in light colours, that many pixels wide.
func (b Boxes) PNG(width int) ([]byte, error) { return pixels(b, width) }

func (b Boxes) picture() (picture, error) {
	p, names, err := besideEachOther("boxes", b.Title, b.XLabel, b.YLabel, b.Width, b.Height, b.Categories, len(b.Groups))
	fail := func(err error) (picture, error) { return picture{}, fmt.Errorf("chart %q: %w", p.title, err) }
	if err != nil {
		return fail(err)
	}
	y := newReach("value", false)
	slot := 0.8 / float64(len(b.Groups))
	for g, group := range b.Groups {
		group.Name = oneLine(group.Name)
		if len(group.Boxes) != len(names) {
			return fail(fmt.Errorf("group %q: %d boxes for %d categories: there must be as many", group.Name, len(group.Boxes), len(names)))
		}
		m := boxes{columns: columns{label: group.Name, ink: palette[g], style: 2*g + 1}, boxes: group.Boxes}
		for i, box := range group.Boxes {
			five := []float64{box.Low, box.Q1, box.Median, box.Q3, box.High}
			for _, v := range five {
				if err := y.add(v); err != nil {
					return fail(fmt.Errorf("group %q, category %q: %w", group.Name, names[i], err))
				}
			}
			if !slices.IsSorted(five) {
				return fail(fmt.Errorf("group %q, category %q: the numbers of a box must rise, these are %g", group.Name, names[i], five))
			}
			left := float64(i) - 0.4 + slot*float64(g)
			m.columns.columns = append(m.columns.columns, column{left: left, right: left + slot})
		}
		m.text = boxSummary(group, names)
		p.marks = append(p.marks, m)
	}
	p.x = axis{min: -0.5, max: float64(len(names)) - 0.5, ticks: categoryTicks(names, p.width*0.85)}
	if p.y, err = y.axis(nil, nil, true); err != nil {
		return fail(err)
	}
	p.description = describe(p)
	return p, nil
}

func boxSummary(g BoxGroup, names []string) string {
	const most = 12
	parts := make([]string, 0, len(names))
	for i, b := range g.Boxes {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s: half of all from %s to %s", names[i], value(b.Q1), value(b.Q3)))
	}
	return strings.TrimPrefix(g.Name+": ", ": ") + strings.Join(parts, ", ")
}

// boxes draws the boxes of a group; its columns say where they stand.
type boxes struct {
	columns
	boxes []Box
}

// Plot implements plot.Plotter.
func (m boxes) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	line := draw.LineStyle{Color: m.ink, Width: 1}
	for i, b := range m.boxes {
		left, right := toX(m.columns.columns[i].left), toX(m.columns.columns[i].right)
		air := (right - left) / 8
		left, right = left+air, right-air
		middle := (left + right) / 2
		c.StrokeLine2(line, middle, toY(b.Low), middle, toY(b.Q1))
		c.StrokeLine2(line, middle, toY(b.Q3), middle, toY(b.High))
		for _, end := range []float64{b.Low, b.High} {
			c.StrokeLine2(line, middle-(right-left)/4, toY(end), middle+(right-left)/4, toY(end))
		}
		m.box(c, vg.Rectangle{Min: vg.Point{X: left, Y: toY(b.Q1)}, Max: vg.Point{X: right, Y: toY(b.Q3)}})
		c.StrokeLine2(draw.LineStyle{Color: m.ink, Width: lineWidth}, left, toY(b.Median), right, toY(b.Median))
	}
}
