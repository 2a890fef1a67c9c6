package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a chart of values per category, such as examples per label; with several groups the bars of a category stand side
// by side.
type Bars struct {
	Title, XLabel, YLabel string
	Categories            []string
	Groups                []Group
	Width, Height         int // in points; default 440 x 280
}

// Group gives every category its value, in the order of Bars.Categories.
type Group struct {
	Name   string
	Values []float64
}

// SVG draws the chart as a stand-alone SVG file, which a page may also inline.
func (b Bars) SVG() ([]byte, error) { return svg(b) }

// PNG draws the chart in light colours, that many pixels wide.
func (b Bars) PNG(width int) ([]byte, error) { return pixels(b, width) }

func (b Bars) picture() (picture, error) {
	p, names, err := besideEachOther("bars", b.Title, b.XLabel, b.YLabel, b.Width, b.Height, b.Categories, len(b.Groups))
	fail := func(err error) (picture, error) { return picture{}, fmt.Errorf("chart %q: %w", p.title, err) }
	if err != nil {
		return fail(err)
	}
	y := newReach("value", false)
	if err := y.add(0); err != nil { // a bar's length is its value only if the axis has its zero
		return fail(err)
	}
	slot := 0.8 / float64(len(b.Groups))
	for g, group := range b.Groups {
		group.Name = oneLine(group.Name)
		if len(group.Values) != len(names) {
			return fail(fmt.Errorf("group %q: %d values for %d categories: there must be as many", group.Name, len(group.Values), len(names)))
		}
		m := columns{label: group.Name, ink: palette[g], style: g, separate: true}
		for i, v := range group.Values {
			if err := y.add(v); err != nil {
				return fail(fmt.Errorf("group %q, category %q: %w", group.Name, names[i], err))
			}
			left := float64(i) - 0.4 + slot*float64(g)
			m.columns = append(m.columns, column{left, left + slot, v})
		}
		m.text = barSummary(group, names)
		p.marks = append(p.marks, m)
	}
	p.x = axis{min: -0.5, max: float64(len(names)) - 0.5, ticks: categoryTicks(names, p.width*0.85)}
	if p.y, err = y.axis(nil, nil, true); err != nil {
		return fail(err)
	}
	p.description = describe(p)
	return p, nil
}

// categoryTicks names the categories: all of them, or as many as have room side by side.
func categoryTicks(names []string, width vg.Length) []plot.Tick {
	f := face(tickSize, false)
	const air, narrowest = 6, 72
	room := max(width/vg.Length(len(names))-air, narrowest)
	short := make([]string, len(names))
	widest := vg.Length(0)
	for i, name := range names {
		short[i] = folded(f, name, room)
		for line := range strings.SplitSeq(short[i], "\n") {
			widest = max(widest, f.Width(line))
		}
	}
	every := 1
	for (widest+air)*vg.Length(len(names)/every) > width && every < len(names) {
		every++
	}
	twoLines := slices.ContainsFunc(short, func(s string) bool { return strings.Contains(s, "\n") })
	ticks := make([]plot.Tick, 0, len(names))
	for i := 0; i < len(names); i += every {
		if twoLines && !strings.Contains(short[i], "\n") {
			short[i] += "\n " // all names begin at the same height
		}
		// A nameless category keeps its tick: gonum takes an empty label for a minor one.
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: cmp.Or(short[i], " ")})
	}
	return ticks
}

// folded breaks a name that is too wide into two lines at a space, and shortens what is still too wide.
func folded(f font.Face, name string, width vg.Length) string {
	if f.Width(name) <= width {
		return name
	}
	split := 0
	for i, r := range name {
		if r == ' ' && (split == 0 || f.Width(name[:i]) <= width) {
			split = i
		}
	}
	if split == 0 {
		return shorten(f, name, width)
	}
	return shorten(f, name[:split], width) + "\n" + shorten(f, name[split+1:], width)
}

func barSummary(g Group, names []string) string {
	const most = 24 // a sentence of hundreds of values helps nobody
	parts := make([]string, 0, len(names))
	for i, name := range names {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		parts = append(parts, name+" "+value(g.Values[i]))
	}
	return strings.TrimPrefix(g.Name+": ", ": ") + strings.Join(parts, ", ")
}

// columns draws bars: those of a group, or those of a histogram.
type columns struct {
	label, text string
	ink         ink
	style       int  // how fill and outline tell the group from its neighbours without colour
	separate    bool // leave a little air between neighbours
	columns     []column
}

type column struct{ left, right, value float64 }

func (m columns) name() string    { return m.label }
func (m columns) summary() string { return m.text }

// fill alternates between solid and pale; the outline carries the dash of the series.
func (m columns) fill() ink {
	if m.style%2 == 1 {
		return m.ink.faded(70)
	}
	return m.ink
}

func (m columns) box(c draw.Canvas, r vg.Rectangle) {
	c.SetColor(m.fill())
	c.Fill(r.Path())
	if m.style%2 == 1 {
		c.SetLineStyle(draw.LineStyle{Color: m.ink, Width: 1, Dashes: dashes[m.style/2*2%len(dashes)]})
		c.Stroke(r.Path())
	}
}

func (m columns) sample(c draw.Canvas) {
	m.box(c, vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: c.Min.Y + 2}, Max: vg.Point{X: c.Max.X, Y: c.Max.Y - 2}})
}

// Plot implements plot.Plotter.
func (m columns) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	base := toY(0)
	for _, col := range m.columns {
		left, right := toX(col.left), toX(col.right)
		if m.separate && right-left > 3 {
			right--
		}
		top := toY(col.value)
		m.box(c, vg.Rectangle{Min: vg.Point{X: left, Y: min(base, top)}, Max: vg.Point{X: right, Y: max(base, top)}})
	}
}

// besideEachOther begins a picture of groups side by side in categories, and returns the names of these.
func besideEachOther(what, title, xLabel, yLabel string, width, height int, categories []string, groups int) (picture, []string, error) {
	p := picture{title: oneLine(title), xLabel: oneLine(xLabel), yLabel: oneLine(yLabel)}
	var err error
	if p.width, p.height, err = size(width, height); err != nil {
		return p, nil, err
	}
	switch {
	case len(categories) == 0:
		return p, nil, fmt.Errorf("no categories: give at least one")
	case groups == 0:
		return p, nil, fmt.Errorf("no groups of %s: give at least one", what)
	case groups > len(palette):
		return p, nil, fmt.Errorf("%d groups of %s: at most %d can be told apart; draw several charts", groups, what, len(palette))
	}
	names := make([]string, len(categories))
	for i, name := range categories {
		names[i] = oneLine(name)
	}
	return p, names, nil
}
