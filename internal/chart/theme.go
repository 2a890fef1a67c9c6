package chart

import (
	"fmt"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// ink is a colour with a role. As a color.Color it is the light one, which pixels and stand-alone SVG show; the SVG canvas
// also writes the role as a class, and CSS gives that class its light and dark colours.
type ink struct {
	role        string
	light, dark rgb
	opacity     uint8 // 255 is opaque
}

type rgb struct{ r, g, b uint8 }

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// RGBA implements color.Color, with the alpha-premultiplied 16 bit channels it asks for.
func (i ink) RGBA() (r, g, b, a uint32) {
	channel := func(v uint8) uint32 { return uint32(v) * 0x101 * uint32(i.opacity) / 255 }
	return channel(i.light.r), channel(i.light.g), channel(i.light.b), uint32(i.opacity) * 0x101
}

// faded is the same ink, half transparent: bands and pale bars.
func (i ink) faded(opacity uint8) ink {
	i.opacity = opacity
	return i
}

var (
	paper    = ink{"paper", rgb{0xff, 0xff, 0xff}, rgb{0x15, 0x18, 0x1c}, 255}
	text     = ink{"text", rgb{0x22, 0x26, 0x2c}, rgb{0xe6, 0xe9, 0xed}, 255}
	quiet    = ink{"quiet", rgb{0x59, 0x60, 0x6a}, rgb{0xa4, 0xac, 0xb6}, 255}
	gridline = ink{"grid", rgb{0xe4, 0xe7, 0xeb}, rgb{0x2e, 0x34, 0x3b}, 255}
)

// palette are the colours of series: hues after Okabe and Ito, Color Universal Design (2008), with the lightness spread and
// lowered until each has a contrast of 3:1 with the paper (WCAG 2.2, 1.4.11). theme_test.go holds it to both.
var palette = []ink{
	{"1", rgb{0x1f, 0x5f, 0xa8}, rgb{0x6c, 0xae, 0xf2}, 255}, // blue
	{"2", rgb{0xb0, 0x3c, 0x00}, rgb{0xf2, 0x8e, 0x3c}, 255}, // vermilion
	{"3", rgb{0x00, 0x8a, 0x68}, rgb{0x35, 0xc4, 0x9c}, 255}, // bluish green
	{"4", rgb{0x8e, 0x2f, 0x73}, rgb{0xe3, 0x9a, 0xc8}, 255}, // reddish purple
	{"5", rgb{0xb0, 0x89, 0x00}, rgb{0xe6, 0xd6, 0x4a}, 255}, // yellow
	{"6", rgb{0x22, 0x26, 0x2c}, rgb{0xe6, 0xe9, 0xed}, 255}, // black
}

// dashes let series differ without colour.
var dashes = [][]vg.Length{
	nil,
	{6, 3},
	{1.5, 2.5},
	{9, 3, 1.5, 3},
	{3, 2},
	{12, 3},
}

// maxLooks is how many series get a colour and a dash that no other series of the chart has in this combination.
var maxLooks = len(palette) * len(dashes)

// look gives series i its colour and dash. In the first round both are new each time; later rounds shift the dashes.
func look(i int) (ink, []vg.Length) {
	n := len(palette)
	return palette[i%n], dashes[(i+i/n)%len(dashes)]
}

// CSS is the style sheet for pages that inline charts: it makes the paper transparent, lets the picture fill its place, and
// gives every role its colour in light and in dark.
func CSS() string {
	var b strings.Builder
	rules := func(indent string, colour func(ink) rgb) {
		for _, i := range append([]ink{text, quiet, gridline}, palette...) {
			c := colour(i)
			fmt.Fprintf(&b, "%s.chart .fill-%s{fill:%s}.chart .stroke-%s{stroke:%s}\n", indent, i.role, c, i.role, c)
		}
	}
	b.WriteString(".chart{display:block;width:100%;height:auto}\n.chart .fill-paper{fill:none}\n")
	rules("", func(i ink) rgb { return i.light })
	b.WriteString("@media screen and (prefers-color-scheme:dark){\n")
	rules("", func(i ink) rgb { return i.dark })
	b.WriteString("}\n")
	return b.String()
}

// Liberation Sans has the widths of Arial and Helvetica, so that text measured here fits where those are used instead.
const fontFamily = "Arial,Liberation Sans,Helvetica,sans-serif"

// face is Liberation Sans at a size in points, bold or not.
func face(size vg.Length, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return font.DefaultCache.Lookup(f, size)
}

// shorten cuts text to a width and says so with an ellipsis.
func shorten(f font.Face, s string, width vg.Length) string {
	if f.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	// The widest prefix that fits, by bisection: names come from users and may be long.
	low, high := 0, len(runes)
	for low < high {
		middle := (low + high + 1) / 2
		if f.Width(strings.TrimSpace(string(runes[:middle]))+"…") <= width {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return strings.TrimSpace(string(runes[:low])) + "…"
}

// oneLine folds white space, so that a line break in a name cannot break the layout.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
