package chart

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// canvas is a vg.Canvas that writes SVG with presentation attributes and classes, never style=. Coordinates are written
// absolute: the transformations are applied here and not left to the viewer, so that the text stays short and readable.
type canvas struct {
	out           bytes.Buffer
	width, height vg.Length
	states        []state // the last one is current
}

// state is what Push saves and Pop restores.
type state struct {
	lineWidth  vg.Length
	dash       []vg.Length
	dashOffset vg.Length
	ink        ink
	toPage     affine
}

func newCanvas(width, height vg.Length, title, description string) *canvas {
	c := &canvas{width: width, height: height}
	// vg has its origin at the bottom left with y upwards, SVG at the top left with y downwards.
	c.states = []state{{lineWidth: 1, ink: text, toPage: affine{a: 1, d: -1, f: height.Points()}}}
	w, h := number(width.Points()), number(height.Points())
	fmt.Fprintf(&c.out, `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="%s" height="%s" viewBox="0 0 %s %s" font-family="%s">`+"\n",
		w, h, w, h, fontFamily)
	fmt.Fprintf(&c.out, "<title>%s</title>\n<desc>%s</desc>\n", escape(title), escape(description))
	return c
}

func (c *canvas) bytes() []byte { return append(c.out.Bytes(), "</svg>\n"...) }

// beginSeries opens a group whose title a browser shows when the pointer rests on the series.
func (c *canvas) beginSeries(title string) {
	fmt.Fprintf(&c.out, "<g class=\"series\"><title>%s</title>\n", escape(title))
}

func (c *canvas) endSeries() { c.out.WriteString("</g>\n") }

func (c *canvas) now() *state { return &c.states[len(c.states)-1] }

// Size implements vg.CanvasSizer.
func (c *canvas) Size() (width, height vg.Length) { return c.width, c.height }

// SetLineWidth implements vg.Canvas.
func (c *canvas) SetLineWidth(w vg.Length) { c.now().lineWidth = w }

// SetLineDash implements vg.Canvas.
func (c *canvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.now().dash, c.now().dashOffset = pattern, offset
}

// SetColor implements vg.Canvas. A colour that is not an ink keeps its value and gets no class.
func (c *canvas) SetColor(col color.Color) {
	switch col := col.(type) {
	case nil:
		c.now().ink = ink{opacity: 255}
	case ink:
		c.now().ink = col
	default:
		n := color.NRGBAModel.Convert(col).(color.NRGBA)
		c.now().ink = ink{light: rgb{n.R, n.G, n.B}, opacity: n.A}
	}
}

// Rotate implements vg.Canvas.
func (c *canvas) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	c.now().toPage = c.now().toPage.after(affine{a: cos, b: sin, c: -sin, d: cos})
}

// Translate implements vg.Canvas.
func (c *canvas) Translate(p vg.Point) {
	c.now().toPage = c.now().toPage.after(affine{a: 1, d: 1, e: p.X.Points(), f: p.Y.Points()})
}

// Scale implements vg.Canvas.
func (c *canvas) Scale(x, y float64) {
	c.now().toPage = c.now().toPage.after(affine{a: x, d: y})
}

// Push implements vg.Canvas.
func (c *canvas) Push() { c.states = append(c.states, *c.now()) }

// Pop implements vg.Canvas.
func (c *canvas) Pop() { c.states = c.states[:len(c.states)-1] }

// Stroke implements vg.Canvas.
func (c *canvas) Stroke(p vg.Path) {
	s := c.now()
	if s.lineWidth <= 0 {
		return
	}
	zoom := s.toPage.zoom()
	fmt.Fprintf(&c.out, `<path d="%s" fill="none" stroke-width="%s" stroke-linejoin="round"`,
		s.toPage.path(p), number(s.lineWidth.Points()*zoom))
	if len(s.dash) > 0 {
		lengths := make([]string, len(s.dash))
		for i, l := range s.dash {
			lengths[i] = number(l.Points() * zoom)
		}
		fmt.Fprintf(&c.out, ` stroke-dasharray="%s"`, strings.Join(lengths, " "))
		if s.dashOffset != 0 {
			fmt.Fprintf(&c.out, ` stroke-dashoffset="%s"`, number(s.dashOffset.Points()*zoom))
		}
	}
	fmt.Fprintf(&c.out, "%s/>\n", paint("stroke", s.ink))
}

// Fill implements vg.Canvas.
func (c *canvas) Fill(p vg.Path) {
	fmt.Fprintf(&c.out, "<path d=\"%s\"%s/>\n", c.now().toPage.path(p), paint("fill", c.now().ink))
}

// FillString implements vg.Canvas.
func (c *canvas) FillString(f font.Face, p vg.Point, s string) {
	if f.Font.Size == 0 || strings.TrimSpace(s) == "" {
		return
	}
	at := c.now().toPage.after(affine{a: 1, d: -1, e: p.X.Points(), f: p.Y.Points()}) // glyphs stand upright
	fmt.Fprintf(&c.out, `<text%s font-size="%s"`, at.place(), number(f.Font.Size.Points()))
	if f.Font.Weight > 0 {
		c.out.WriteString(` font-weight="bold"`)
	}
	// Where the viewer has another font, the text still ends where it was measured to end.
	if measured(f, s) {
		fmt.Fprintf(&c.out, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, number(f.Width(s).Points()))
	}
	fmt.Fprintf(&c.out, "%s>%s</text>\n", paint("fill", c.now().ink), escape(s))
}

// DrawImage implements vg.Canvas. The pixels travel inside the SVG; a page must allow images from data: to show them.
func (c *canvas) DrawImage(r vg.Rectangle, img image.Image) {
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		panic("chart: internal error: image cannot be encoded: " + err.Error()) // it was made by this package, in memory
	}
	size := r.Size()
	at := c.now().toPage.after(affine{a: 1, d: -1, e: r.Min.X.Points(), f: r.Max.Y.Points()})
	fmt.Fprintf(&c.out, `<image%s width="%s" height="%s" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`+"\n",
		at.place(), number(size.X.Points()), number(size.Y.Points()), base64.StdEncoding.EncodeToString(data.Bytes()))
}

// paint writes a colour as attributes: class for pages that have the style sheet, value for viewers that have not.
func paint(property string, i ink) string {
	var b strings.Builder
	if i.role != "" {
		fmt.Fprintf(&b, ` class="%s-%s"`, property, i.role)
	}
	fmt.Fprintf(&b, ` %s="%s"`, property, i.light)
	if i.opacity < 255 {
		fmt.Fprintf(&b, ` %s-opacity="%s"`, property, number(float64(i.opacity)/255))
	}
	return b.String()
}

// measured reports whether the font has a glyph for every character; else its width means nothing for another font.
func measured(f font.Face, s string) bool {
	var buffer sfnt.Buffer
	for _, r := range s {
		if i, err := f.Face.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return false
		}
	}
	return true
}

// escape makes any string safe as XML text or attribute; characters that XML cannot hold become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// number writes a coordinate with at most two decimals: a hundredth of a point cannot be seen, and dropping the rest also
// drops what differs between processors.
func number(v float64) string { return decimals(v, 2) }

func decimals(v float64, places int) string {
	s := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}
