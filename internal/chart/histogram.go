package chart

import (
	"fmt"
	"math"
)

// Histogram is a chart of how often values fall into bins of equal width.
type Histogram struct {
	Title, XLabel, YLabel string // YLabel is "count" by default
	Values                []float64
	Bins                  int // default: the square root of the number of values, between 5 and 50
	Width, Height         int // in points; default 440 x 280
}

// maxBins keeps a bin at least a point or so wide.
const maxBins = 400

// SVG draws the chart as a stand-alone SVG file, which a page may also inline.
func (h Histogram) SVG() ([]byte, error) { return svg(h) }

// PNG draws the chart in light colours, that many pixels wide.
func (h Histogram) PNG(width int) ([]byte, error) { return pixels(h, width) }

func (h Histogram) picture() (picture, error) {
	p := picture{title: oneLine(h.Title), xLabel: oneLine(h.XLabel), yLabel: oneLine(h.YLabel)}
	fail := func(err error) (picture, error) { return picture{}, fmt.Errorf("chart %q: %w", p.title, err) }
	if p.yLabel == "" {
		p.yLabel = "count"
	}
	var err error
	if p.width, p.height, err = size(h.Width, h.Height); err != nil {
		return fail(err)
	}
	if len(h.Values) == 0 {
		return fail(fmt.Errorf("no values: give at least one"))
	}
	bins := h.Bins
	if bins == 0 {
		bins = min(max(int(math.Sqrt(float64(len(h.Values)))), 5), 50)
	}
	if bins < 1 || bins > maxBins {
		return fail(fmt.Errorf("%d bins outside [1, %d]", bins, maxBins))
	}
	x := newReach("value", false)
	for i, v := range h.Values {
		if err := x.add(v); err != nil {
			return fail(fmt.Errorf("value %d: %w", i+1, err))
		}
	}
	if p.x, err = x.axis(nil, nil, false); err != nil {
		return fail(err)
	}
	counts := binned(h.Values, p.x.min, p.x.max, bins)
	y := newReach("count", false)
	m := columns{ink: palette[0]}
	width := (p.x.max - p.x.min) / float64(bins)
	for i, n := range append([]int{0}, counts...) {
		if err := y.add(float64(n)); err != nil {
			return fail(err)
		}
		if i > 0 {
			m.columns = append(m.columns, column{p.x.min + float64(i-1)*width, p.x.min + float64(i)*width, float64(n)})
		}
	}
	if p.y, err = y.axis(nil, nil, true); err != nil {
		return fail(err)
	}
	m.text = fmt.Sprintf("%d values from %s to %s in %d bins, at most %d in one", len(h.Values), value(x.low), value(x.high), bins, int(y.high))
	p.marks = []mark{m}
	p.description = describe(p)
	return p, nil
}

// binned counts the values in each of the bins between low and high; a value on an edge counts in the upper bin, the
// highest in the last.
func binned(values []float64, low, high float64, bins int) []int {
	counts := make([]int, bins)
	for _, v := range values {
		i := int((v - low) / (high - low) * float64(bins))
		counts[min(max(i, 0), bins-1)]++
	}
	return counts
}
