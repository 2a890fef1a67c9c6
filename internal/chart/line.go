package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Line is a chart of one or more series over a common x axis.
type Line struct {
	Title, XLabel, YLabel string
	Series                []Series
	XLog, YLog            bool     // a logarithmic axis takes positive values only
	YMin, YMax            *float64 // nil: chosen from the data
	Width, Height         int      // in points; default 440 x 280
}

// Series is one line of a Line chart. A NaN in Y leaves a gap; a point between two gaps is drawn as a dot.
type Series struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // a band around the line, such as the range over seeds; optional, both or neither
}

// SVG draws the chart as a stand-alone SVG file, which a page may also inline.
func (l Line) SVG() ([]byte, error) { return svg(l) }

// PNG draws the chart in light colours, that many pixels wide.
func (l Line) PNG(width int) ([]byte, error) { return pixels(l, width) }

func (l Line) picture() (picture, error) {
	p := picture{title: oneLine(l.Title), xLabel: oneLine(l.XLabel), yLabel: oneLine(l.YLabel)}
	fail := func(err error) (picture, error) { return picture{}, fmt.Errorf("chart %q: %w", p.title, err) }
	var err error
	if p.width, p.height, err = size(l.Width, l.Height); err != nil {
		return fail(err)
	}
	if len(l.Series) == 0 {
		return fail(fmt.Errorf("no series: give at least one"))
	}
	if len(l.Series) > maxLooks {
		return fail(fmt.Errorf("%d series: at most %d can be told apart; draw several charts", len(l.Series), maxLooks))
	}
	x, y := newReach("x", l.XLog), newReach("y", l.YLog)
	for i, s := range l.Series {
		s.Name = oneLine(s.Name)
		if err := s.check(&x, &y); err != nil {
			return fail(fmt.Errorf("series %q: %w", s.Name, err))
		}
		colour, dash := look(i)
		p.marks = append(p.marks, curve{Series: s, ink: colour, dash: dash})
	}
	if p.x, err = x.axis(nil, nil, false); err != nil {
		return fail(err)
	}
	if p.y, err = y.axis(l.YMin, l.YMax, true); err != nil {
		return fail(err)
	}
	p.description = describe(p)
	return p, nil
}

// check refuses what cannot be drawn and widens the reach of both axes by the rest.
func (s Series) check(x, y *reach) error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("%d values of x and %d of y: there must be as many", len(s.X), len(s.Y))
	}
	band := len(s.Low) > 0 || len(s.High) > 0
	if band && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)) {
		return fmt.Errorf("band of %d low and %d high values for %d points: there must be as many", len(s.Low), len(s.High), len(s.Y))
	}
	drawn := 0
	for i := range s.X {
		if err := x.add(s.X[i]); err != nil {
			return fmt.Errorf("point %d: %w", i+1, err)
		}
		if math.IsNaN(s.Y[i]) {
			continue
		}
		drawn++
		heights := []float64{s.Y[i]}
		if band {
			if !(s.Low[i] <= s.High[i]) {
				return fmt.Errorf("point %d: band from %g to %g: low must not be above high", i+1, s.Low[i], s.High[i])
			}
			if i > 0 && s.X[i] < s.X[i-1] {
				return fmt.Errorf("point %d: x = %g after %g: under a band x must not go back", i+1, s.X[i], s.X[i-1])
			}
			heights = append(heights, s.Low[i], s.High[i])
		}
		for _, h := range heights {
			if err := y.add(h); err != nil {
				return fmt.Errorf("point %d: %w", i+1, err)
			}
		}
	}
	if drawn == 0 {
		return fmt.Errorf("no measured point among %d: leave the series out", len(s.Y))
	}
	return nil
}

// curve draws a Series.
type curve struct {
	Series
	ink  ink
	dash []vg.Length
}

func (s curve) name() string { return s.Name }

// summary names the series and where it begins and ends.
func (s curve) summary() string {
	first, last := -1, -1
	for i, y := range s.Y {
		if math.IsNaN(y) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	at := func(i int) string { return value(s.Y[i]) + " at " + value(s.X[i]) }
	if first == last {
		return s.Name + ": " + at(first)
	}
	return s.Name + ": from " + at(first) + " to " + at(last)
}

func (s curve) style() draw.LineStyle {
	return draw.LineStyle{Color: s.ink, Width: lineWidth, Dashes: s.dash}
}

func (s curve) sample(c draw.Canvas) {
	c.StrokeLine2(s.style(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
}

// Plot implements plot.Plotter.
func (s curve) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	for _, run := range s.runs() {
		points := make([]vg.Point, 0, run.end-run.start)
		for i := run.start; i < run.end; i++ {
			points = append(points, vg.Point{X: toX(s.X[i]), Y: toY(s.Y[i])})
		}
		if len(s.Low) > 0 {
			var band []vg.Point
			for i := run.start; i < run.end; i++ {
				band = append(band, vg.Point{X: toX(s.X[i]), Y: toY(s.High[i])})
			}
			for i := run.end - 1; i >= run.start; i-- {
				band = append(band, vg.Point{X: toX(s.X[i]), Y: toY(s.Low[i])})
			}
			if len(points) == 1 { // a band without width is a whisker
				c.StrokeLines(draw.LineStyle{Color: s.ink.faded(90), Width: 2 * dotRadius}, c.ClipLinesXY(band)...)
			} else {
				c.FillPolygon(s.ink.faded(46), c.ClipPolygonXY(band))
			}
		}
		if len(points) == 1 {
			if c.Contains(points[0]) {
				c.SetColor(s.ink)
				var dot vg.Path
				dot.Arc(points[0], dotRadius, 0, 2*math.Pi)
				dot.Close()
				c.Fill(dot)
			}
			continue
		}
		c.StrokeLines(s.style(), c.ClipLinesXY(points)...)
	}
}

// run is a stretch of points without a gap: start is in it, end is not.
type run struct{ start, end int }

func (s curve) runs() []run {
	var runs []run
	for i, y := range s.Y {
		switch {
		case math.IsNaN(y):
		case i > 0 && !math.IsNaN(s.Y[i-1]):
			runs[len(runs)-1].end = i + 1
		default:
			runs = append(runs, run{i, i + 1})
		}
	}
	return runs
}

// describe is the sentence for those who cannot see the picture.
func describe(p picture) string {
	s := ""
	switch {
	case p.yLabel != "" && p.xLabel != "":
		s = p.yLabel + " over " + p.xLabel + ". "
	case p.yLabel != "":
		s = p.yLabel + ". "
	}
	for i, m := range p.marks {
		if i > 0 {
			s += "; "
		}
		s += m.summary()
	}
	return s + "."
}
