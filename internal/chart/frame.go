package chart

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of the frame, in points.
const (
	margin      = 8
	titleSize   = 14
	labelSize   = 11.5
	tickSize    = 11.5
	legendSize  = 11.5
	lineGap     = 6  // between two lines of text
	sampleWidth = 22 // the sign beside a name in the legend
	lineWidth   = 1.8
	dotRadius   = 2.6
)

// draw puts the parts below each other: title, legend, name of the y axis, and the plot with the rest of the room. The
// legend has rows of its own, so it never covers the data.
func (p picture) draw(c vg.CanvasSizer) {
	area := draw.New(c)
	c.SetColor(paper)
	c.Fill(area.Rectangle.Path())
	area = draw.Crop(area, margin, -margin, margin, -margin)
	line(&area, face(titleSize, true), text, p.title)
	p.legend(&area)
	line(&area, face(labelSize, false), quiet, p.yLabel)

	frame := p.axes()
	for _, m := range p.marks {
		if s, ok := c.(*canvas); ok {
			m = titled{m, s}
		}
		frame.Add(m)
	}
	frame.Draw(area)
}

// titled wraps what a mark draws into a group with a title.
type titled struct {
	mark
	canvas *canvas
}

// Plot implements plot.Plotter.
func (t titled) Plot(c draw.Canvas, p *plot.Plot) {
	t.canvas.beginSeries(t.summary())
	t.mark.Plot(c, p)
	t.canvas.endSeries()
}

// line writes one line of text at the top of the area and takes its height away.
func line(area *draw.Canvas, f font.Face, colour ink, s string) {
	if s == "" {
		return
	}
	write(*area, f, colour, vg.Point{X: area.Min.X, Y: area.Max.Y - f.Extents().Ascent}, shorten(f, s, area.Size().X))
	area.Max.Y -= f.Extents().Ascent + f.Extents().Descent + lineGap
}

func write(c draw.Canvas, f font.Face, colour ink, at vg.Point, s string) {
	c.SetColor(colour)
	c.FillString(f, at, s)
}

const (
	afterSample = 5
	afterName   = 16
)

func legendRowHeight() vg.Length {
	f := face(legendSize, false)
	e := f.Extents()
	return e.Ascent + e.Descent + lineGap/2
}

// legendRows deals the series out over as many rows as their names need; a single series needs none.
func (p picture) legendRows(width vg.Length) [][]mark {
	if len(p.marks) < 2 {
		return nil
	}
	f := face(legendSize, false)
	var rows [][]mark
	x := width
	for _, m := range p.marks {
		needs := sampleWidth + afterSample + f.Width(shorten(f, m.name(), width-sampleWidth-afterSample))
		if x+needs > width {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], m)
		x += needs + afterName
	}
	return rows
}

// roomForLegend makes the picture higher by all rows of the legend but the first, so that many names leave the data its room.
func (p picture) roomForLegend() picture {
	if rows := len(p.legendRows(p.width - 2*margin)); rows > 1 {
		p.height += legendRowHeight() * vg.Length(rows-1)
	}
	return p
}

// legend writes the names of the series from left to right, row by row, at the top of the area.
func (p picture) legend(area *draw.Canvas) {
	f := face(legendSize, false)
	width := area.Size().X
	rows := p.legendRows(width)
	for _, row := range rows {
		x := area.Min.X
		for _, m := range row {
			box := *area
			box.Rectangle = vg.Rectangle{
				Min: vg.Point{X: x, Y: area.Max.Y - legendRowHeight() + lineGap/2},
				Max: vg.Point{X: x + sampleWidth, Y: area.Max.Y},
			}
			m.sample(box)
			x += sampleWidth + afterSample
			name := shorten(f, m.name(), width-sampleWidth-afterSample)
			write(*area, f, text, vg.Point{X: x, Y: area.Max.Y - f.Extents().Ascent}, name)
			x += f.Width(name) + afterName
		}
		area.Max.Y -= legendRowHeight()
	}
	if len(rows) > 0 {
		area.Max.Y -= lineGap / 2
	}
}

// axes is a gonum plot with our ranges, ticks, fonts and colours, and a grid of horizontal lines only.
func (p picture) axes() *plot.Plot {
	frame := plot.New()
	frame.BackgroundColor = nil // drawn already
	for _, a := range []*plot.Axis{&frame.X, &frame.Y} {
		a.Label.TextStyle.Font = face(labelSize, false).Font
		a.Label.TextStyle.Color = quiet
		a.Tick.Label.Font = face(tickSize, false).Font
		a.Tick.Label.Color = quiet
		a.Tick.LineStyle = draw.LineStyle{Color: quiet, Width: 0.75}
		a.Tick.Length = 4
		a.LineStyle = draw.LineStyle{Color: quiet, Width: 0.75}
		a.Padding = 0
	}
	frame.X.Label.Text = shorten(face(labelSize, false), p.xLabel, p.width*3/4)
	frame.X.Label.Padding = 7
	lines := 1
	for _, t := range p.x.ticks {
		lines = max(lines, 1+strings.Count(t.Label, "\n"))
	}
	frame.X.Tick.Label.YAlign -= draw.YAlignment(0.25 / float64(lines)) // a quarter of a line of air below the axis
	frame.Y.LineStyle.Width, frame.Y.Tick.LineStyle.Width = 0, 0        // the grid says it all
	frame.Y.Padding = 4
	frame.X.Min, frame.X.Max, frame.X.Tick.Marker = p.x.min, p.x.max, p.x
	frame.Y.Min, frame.Y.Max, frame.Y.Tick.Marker = p.y.min, p.y.max, p.y
	if p.x.log {
		frame.X.Scale = plot.LogScale{}
	}
	if p.y.log {
		frame.Y.Scale = plot.LogScale{}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: gridline, Width: 0.75}
	frame.Add(grid)
	return frame
}
