// Package chart draws the pictures of a run: lines with bands, bars, boxes, histograms.
//
// A chart is plain data. SVG gives text that a page may inline under a strict content security policy: attributes and
// classes, no inline style, no script, no reference to anything outside. Alone it shows light colours on white; on a page
// that includes CSS it follows light and dark. PNG gives the same picture as pixels. The same chart always gives the same
// bytes.
//
// What cannot be drawn honestly is refused with an error. A NaN on the y axis means "not measured" and leaves a gap; an
// infinity is refused, because a picture that left out an infinite epsilon would look like a guarantee.
//
// Axes are drawn by gonum/plot; the canvas, the ticks, the legend and the colours are this package's own.
package chart

import (
	"bytes"
	"fmt"
	"image/png"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The default size is small on purpose: text keeps a readable size when a phone scales the picture down.
const (
	defaultWidth  = 440
	defaultHeight = 280
)

// picture is a checked chart, ready to draw. Every kind of chart (line, bars, histogram, and those to come) turns itself
// into one; the frame around the data (title, legend, axes, accessibility) is drawn here once for all kinds.
type picture struct {
	title, xLabel, yLabel string
	description           string // one sentence for those who cannot see the picture
	width, height         vg.Length
	x, y                  axis
	marks                 []mark
}

// mark is one series of a picture.
type mark interface {
	plot.Plotter          // draws the data
	name() string         // what the legend calls it
	summary() string      // the tooltip: the name and its most important values
	sample(c draw.Canvas) // the sign beside the name in the legend
}

// kind is a kind of chart: it checks its own data.
type kind interface {
	picture() (picture, error)
}

// svg draws any kind of chart as SVG text.
func svg(k kind) ([]byte, error) {
	p, err := k.picture()
	if err != nil {
		return nil, err
	}
	p = p.roomForLegend()
	c := newCanvas(p.width, p.height, p.title, p.description)
	p.draw(c)
	return c.bytes(), nil
}

// Limits of PNG's width: below, no text can be read; above, a slip of the keyboard would ask for gigabytes.
const (
	minPixels = 64
	maxPixels = 8192
)

// pixels draws any kind of chart as a PNG of the given width.
func pixels(k kind, width int) ([]byte, error) {
	if width < minPixels || width > maxPixels {
		return nil, fmt.Errorf("chart: width of %d pixels outside [%d, %d]", width, minPixels, maxPixels)
	}
	p, err := k.picture()
	if err != nil {
		return nil, err
	}
	p = p.roomForLegend()
	height := max(1, int(math.Round(float64(width)*float64(p.height/p.width))))
	// The canvas takes a whole number of dots per inch: the size in points gives way by a per cent or so, so that the
	// number of pixels is exact.
	dpi := max(1, int(math.Round(72*float64(width)/p.width.Points())))
	toPoints := func(pixels int) vg.Length { return vg.Points(float64(pixels) * 72 / float64(dpi)) }
	c := vgimg.NewWith(vgimg.UseWH(toPoints(width), toPoints(height)), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	p.draw(c)
	var out bytes.Buffer
	if err := png.Encode(&out, c.Image()); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return out.Bytes(), nil
}

// size gives the default to a zero width or height and refuses what cannot hold a frame.
func size(width, height int) (w, h vg.Length, err error) {
	if width == 0 {
		width = defaultWidth
	}
	if height == 0 {
		height = defaultHeight
	}
	if width < 200 || height < 120 || width > 4000 || height > 4000 {
		return 0, 0, fmt.Errorf("chart: size %d x %d outside 200 x 120 to 4000 x 4000", width, height)
	}
	return vg.Points(float64(width)), vg.Points(float64(height)), nil
}
