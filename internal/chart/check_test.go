package chart

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestWhatCannotBeDrawnIsRefusedWithTheReason(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	series := func(x, y []float64) []Series { return []Series{{Name: "s", X: x, Y: y}} }
	one := []float64{1}
	tests := []struct {
		name  string
		chart interface{ SVG() ([]byte, error) }
		want  string
	}{
		{"no series", Line{Title: "t"}, `chart "t": no series`},
		{"an empty series", Line{Series: series(nil, nil)}, "no measured point among 0"},
		{"nothing but gaps", Line{Series: series([]float64{1, 2}, []float64{nan, nan})}, "no measured point among 2"},
		{"x and y of different length", Line{Series: series(one, nil)}, "1 values of x and 0 of y"},
		{"an infinite epsilon", Line{Series: series(one, []float64{inf})}, "point 1: y is +Inf: it must be finite"},
		{"minus infinity", Line{Series: series(one, []float64{-inf})}, "y is -Inf"},
		{"x is not a number", Line{Series: series([]float64{nan}, one)}, "x is NaN"},
		{"x is not a number where y is a gap", Line{Series: series([]float64{1, nan}, []float64{1, nan})}, "point 2: x is NaN"},
		{"a value that would overflow", Line{Series: series(one, []float64{-1e301})}, "beyond the largest drawable value"},
		{"zero on a logarithmic axis", Line{YLog: true, Series: series(one, []float64{0})}, "y = 0 on a logarithmic axis"},
		{"a negative x on a logarithmic axis", Line{XLog: true, Series: series([]float64{-1}, one)}, "x = -1 on a logarithmic axis"},
		{"a band with one side", Line{Series: []Series{{X: one, Y: one, Low: one}}}, "band of 1 low and 0 high values for 1 points"},
		{"a band upside down", Line{Series: []Series{{X: one, Y: one, Low: []float64{2}, High: one}}}, "low must not be above high"},
		{"a band with a hole", Line{Series: []Series{{X: one, Y: one, Low: []float64{nan}, High: one}}}, "low must not be above high"},
		{"a band over x that goes back", Line{Series: []Series{{X: []float64{2, 1}, Y: []float64{1, 1}, Low: []float64{1, 1}, High: []float64{1, 1}}}}, "must not go back"},
		{"limits the wrong way round", Line{YMin: new(2.0), YMax: new(1.0), Series: series(one, one)}, "y axis from 2 to 1 is empty"},
		{"limits without room", Line{YMin: new(1.0), YMax: new(1.0), Series: series(one, one)}, "is empty"},
		{"a lower limit above all data", Line{YMin: new(5.0), Series: series(one, one)}, "y axis from 5 to 1 is empty"},
		{"an infinite limit", Line{YMax: new(inf), Series: series(one, one)}, "y limit is +Inf"},
		{"a limit of zero on a logarithmic axis", Line{YLog: true, YMin: new(0.0), Series: series(one, one)}, "y limit = 0 on a logarithmic axis"},
		{"more series than looks", Line{Series: manySeries(37)}, "37 series: at most 36 can be told apart"},
		{"too small a frame", Line{Width: 50, Series: series(one, one)}, "size 50 x 280 outside"},
		{"a negative size", Line{Height: -1, Series: series(one, one)}, "size 440 x -1 outside"},
		{"bars without categories", Bars{Groups: []Group{{}}}, "no categories"},
		{"bars without groups", Bars{Categories: []string{"a"}}, "no groups of bars"},
		{"too many groups", Bars{Categories: []string{"a"}, Groups: make([]Group, 7)}, "7 groups of bars: at most 6"},
		{"a bar without a value", Bars{Categories: []string{"a", "b"}, Groups: []Group{{"g", one}}}, "1 values for 2 categories"},
		{"a bar that is not a number", Bars{Categories: []string{"a"}, Groups: []Group{{"g", []float64{nan}}}}, `category "a": value is NaN`},
		{"a histogram of nothing", Histogram{}, "no values"},
		{"a histogram of infinity", Histogram{Values: []float64{1, inf}}, "value 2: value is +Inf"},
		{"a negative number of bins", Histogram{Values: one, Bins: -1}, "-1 bins outside [1, 400]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := tt.chart.SVG()
			if err == nil {
				t.Fatalf("accepted; want an error with %q", tt.want)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if doc != nil {
				t.Error("an error came with a picture")
			}
		})
	}
}

func TestManyLongNamesMakeThePictureHigher(t *testing.T) {
	few, many := manySeries(2), manySeries(maxLooks)
	for i := range many {
		many[i].Name += strings.Repeat(" and more", 8)
	}
	height := func(s []Series) float64 {
		doc, err := Line{Title: "t", Series: s}.SVG()
		if err != nil {
			t.Fatal(err)
		}
		elements, _ := wellFormed(t, doc)
		h, err := strconv.ParseFloat(attribute(elements[0], "height"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if got := height(few); got != defaultHeight {
		t.Errorf("height %g with a short legend, want %d", got, defaultHeight)
	}
	if got, want := height(many), defaultHeight+float64(maxLooks-1)*legendRowHeight().Points(); math.Abs(got-want) > 0.01 {
		t.Errorf("height %g with a name a row, want %g", got, want)
	}
}

func TestALineStaysInsideItsFrame(t *testing.T) {
	l := Line{Title: "t", YMin: new(0.0), YMax: new(1.0), Series: []Series{
		{Name: "s", X: []float64{0, 1, 2}, Y: []float64{-50, 50, 0.5}, Low: []float64{-60, 40, 0.2}, High: []float64{-40, 60, 0.8}}}}
	doc, err := l.SVG()
	if err != nil {
		t.Fatal(err)
	}
	elements, _ := wellFormed(t, doc)
	paths := 0
	for _, e := range elements {
		if e.Name.Local != "path" {
			continue
		}
		paths++
		for _, p := range pathPoints(t, attribute(e, "d")) {
			if p[0] < -0.01 || p[0] > defaultWidth+0.01 || p[1] < -0.01 || p[1] > defaultHeight+0.01 {
				t.Fatalf("point %v of %s lies outside the picture", p, attribute(e, "d"))
			}
		}
	}
	if paths < 3 {
		t.Fatalf("only %d paths drawn", paths)
	}
}

// FuzzLine feeds numbers and names of every kind: a chart is either refused or a well-formed picture in its frame.
func FuzzLine(f *testing.F) {
	f.Add("name", 1.0, 2.0, 3.0, 4.0, false, false)
	f.Add("</svg>", 0.0, 0.0, math.NaN(), 0.0, false, false)
	f.Add("\x00", 1e-300, 1e300, 1e300, 1e-300, true, true)
	f.Add("tiny", 5e-324, 1e-323, 5e-324, -5e-324, false, false)
	f.Add("close", 1e16, 1e16+2, 1e16+4, 0.1, true, false)
	f.Add("huge", -1e300, 1e300, 1e300, -1e300, false, true)
	f.Add("close log", 1.0, 1.0000001, 3.0, 3.0000000001, true, true)
	f.Fuzz(func(t *testing.T, name string, x1, x2, y1, y2 float64, xLog, yLog bool) {
		l := Line{Title: name, XLabel: name, YLabel: name, XLog: xLog, YLog: yLog, Series: []Series{
			{Name: name, X: []float64{x1, x2}, Y: []float64{y1, y2}},
			{Name: name, X: []float64{x2}, Y: []float64{y1}},
		}}
		doc, err := l.SVG()
		if err != nil {
			return
		}
		elements, _ := wellFormed(t, doc)
		height, err := strconv.ParseFloat(attribute(elements[0], "height"), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range elements {
			if e.Name.Local == "path" {
				for _, p := range pathPoints(t, attribute(e, "d")) {
					if !(p[0] > -1 && p[0] < defaultWidth+1 && p[1] > -1 && p[1] < height+1) {
						t.Fatalf("point %v outside the picture", p)
					}
				}
			}
		}
	})
}
