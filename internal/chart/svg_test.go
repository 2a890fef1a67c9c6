package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

// wellFormed reads the whole document with a strict parser and returns its elements' names and attributes, and its text.
func wellFormed(t *testing.T, doc []byte) (elements []xml.StartElement, text string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.Strict = true
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, b.String()
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, doc)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements = append(elements, token.Copy())
		case xml.CharData:
			b.Write(token)
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestSVGPassesAStrictContentSecurityPolicy(t *testing.T) {
	allowed := map[string]bool{"svg": true, "title": true, "desc": true, "g": true, "path": true, "text": true}
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			doc, err := e.chart.SVG()
			if err != nil {
				t.Fatal(err)
			}
			elements, _ := wellFormed(t, doc)
			for _, element := range elements {
				if !allowed[element.Name.Local] {
					t.Errorf("element <%s>: only shapes, groups and text are expected", element.Name.Local)
				}
				for _, a := range element.Attr {
					name := strings.ToLower(a.Name.Local)
					if name == "style" || name == "id" || name == "href" || strings.HasPrefix(name, "on") || strings.Contains(a.Value, "url(") {
						t.Errorf("<%s %s=%q>: not allowed in an inlined picture", element.Name.Local, name, a.Value)
					}
				}
			}
		})
	}
}

func TestSVGTellsAScreenReaderWhatItShows(t *testing.T) {
	chart := Line{Title: "Accuracy", XLabel: "round", YLabel: "accuracy (%)", Series: []Series{
		{Name: "private", X: []float64{1, 2, 250}, Y: []float64{11.35, math.NaN(), 93.4567}},
		{Name: "plain", X: []float64{1}, Y: []float64{12}},
	}}
	doc, err := chart.SVG()
	if err != nil {
		t.Fatal(err)
	}
	elements, _ := wellFormed(t, doc)
	if role := attribute(elements[0], "role"); role != "img" {
		t.Errorf("role = %q, want img", role)
	}
	for _, want := range []string{
		"<title>Accuracy</title>",
		"<title>private: from 11.35 at 1 to 93.46 at 250</title>",
		"<title>plain: 12 at 1</title>",
		"<desc>accuracy (%) over round. private: from 11.35 at 1 to 93.46 at 250; plain: 12 at 1.</desc>",
	} {
		if !bytes.Contains(doc, []byte(want)) {
			t.Errorf("missing %s", want)
		}
	}
}

func TestTextIsEscapedWhereverItComesFrom(t *testing.T) {
	const hostile = `</text></title><script>alert('1')</script>&amp;" ]]>`
	charts := map[string]interface{ SVG() ([]byte, error) }{
		"line": Line{Title: hostile, XLabel: hostile, YLabel: hostile, Width: 2000, Series: []Series{
			{Name: hostile, X: []float64{1}, Y: []float64{1}}, {Name: hostile, X: []float64{1}, Y: []float64{1}}}},
		"bars": Bars{Title: hostile, XLabel: hostile, YLabel: hostile, Width: 2000, Categories: []string{hostile},
			Groups: []Group{{hostile, []float64{1}}, {hostile, []float64{2}}}},
		"histogram": Histogram{Title: hostile, XLabel: hostile, YLabel: hostile, Width: 2000, Values: []float64{1, 2}},
	}
	for name, chart := range charts {
		t.Run(name, func(t *testing.T) {
			doc, err := chart.SVG()
			if err != nil {
				t.Fatal(err)
			}
			elements, text := wellFormed(t, doc)
			for _, e := range elements {
				if e.Name.Local == "script" {
					t.Error("a name became an element")
				}
			}
			if strings.Count(text, hostile) < 3 {
				t.Errorf("the text should survive as text: %q", text)
			}
		})
	}
}

func TestCharactersThatXMLCannotHoldAreReplaced(t *testing.T) {
	doc, err := Line{Title: "a\x00b\x1bc\xffd\ufffe", Series: []Series{{X: []float64{1}, Y: []float64{1}}}}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if _, text := wellFormed(t, doc); !strings.Contains(text, "a\ufffdb\ufffdc\ufffdd\ufffd") {
		t.Errorf("got %q", text)
	}
}

func TestPNGHasTheWidthThatWasAskedFor(t *testing.T) {
	tests := []struct {
		name          string
		width, height int // of the chart
		pixels        int
		wantHeight    int
	}{
		{"default size, one pixel a point", 0, 0, 440, 280},
		{"default size, doubled", 0, 0, 880, 560},
		{"a width that is no multiple", 0, 0, 333, 212},
		{"the smallest", 0, 0, 64, 41},
		{"a wide chart", 800, 200, 1200, 300},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Line{Title: "t", Width: tt.width, Height: tt.height, Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1, 2}}}}
			data, err := l.PNG(tt.pixels)
			if err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if got := img.Bounds().Size(); got.X != tt.pixels || got.Y != tt.wantHeight {
				t.Errorf("%v pixels, want %d x %d", got, tt.pixels, tt.wantHeight)
			}
			seen := false
			for y := range tt.wantHeight {
				for x := range tt.pixels {
					r, _, b, _ := img.At(x, y).RGBA()
					seen = seen || b > r+0x1000 // the blue of the first series; all else is grey
				}
			}
			if !seen {
				t.Error("no pixel has the colour of the series")
			}
		})
	}
	for _, width := range []int{-1, 0, minPixels - 1, maxPixels + 1} {
		if _, err := examples[0].chart.PNG(width); err == nil {
			t.Errorf("width %d was accepted", width)
		}
	}
}
