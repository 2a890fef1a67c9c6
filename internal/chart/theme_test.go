package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// linear is the intensity of an sRGB channel (IEC 61966-2-1).
func linear(channel uint8) float64 {
	c := float64(channel) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

// contrast is WCAG 2.2's ratio of relative luminances.
func contrast(a, b rgb) float64 {
	luminance := func(c rgb) float64 { return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b) }
	high, low := max(luminance(a), luminance(b)), min(luminance(a), luminance(b))
	return (high + 0.05) / (low + 0.05)
}

func TestColoursStandOutFromThePaper(t *testing.T) {
	schemes := map[string]func(ink) rgb{"light": func(i ink) rgb { return i.light }, "dark": func(i ink) rgb { return i.dark }}
	for name, colour := range schemes {
		check := func(i ink, least float64) {
			if got := contrast(colour(i), colour(paper)); got < least {
				t.Errorf("%s: ink %q has a contrast of %.2f with the paper, want at least %g", name, i.role, got, least)
			}
		}
		check(text, 7)
		check(quiet, 4.5) // WCAG 2.2, 1.4.3: text
		for _, i := range palette {
			check(i, 3) // WCAG 2.2, 1.4.11: graphics
		}
	}
}

// Matrices of Machado, Oliveira, Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency (2009),
// severity 1.0, on linear RGB.
var visions = map[string][3][3]float64{
	"full colour vision": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":         {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia":       {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":         {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour in CIELAB (D65) as someone with this vision sees it.
func lab(c rgb, vision [3][3]float64) [3]float64 {
	in := [3]float64{linear(c.r), linear(c.g), linear(c.b)}
	var seen [3]float64
	for i := range seen {
		for j := range in {
			seen[i] += vision[i][j] * in[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	x := (0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047
	y := 0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2]
	z := (0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	return [3]float64{116*f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))}
}

// A distance of 10 in CIELAB is about four just-noticeable differences (2.3: Mahy, Van Eycken, Oosterlinck, 1994).
func TestNoTwoSeriesLookAlikeInAnyColourVision(t *testing.T) {
	const least = 10
	for vision, matrix := range visions {
		for i := range palette {
			for j := range i {
				for scheme, pair := range map[string][2]rgb{
					"light": {palette[i].light, palette[j].light}, "dark": {palette[i].dark, palette[j].dark},
				} {
					a, b := lab(pair[0], matrix), lab(pair[1], matrix)
					distance := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
					if distance < least {
						t.Errorf("%s, %s: series %d and %d differ by %.1f, want at least %d", vision, scheme, j+1, i+1, distance, least)
					}
				}
			}
		}
	}
}

func TestEverySeriesHasALookOfItsOwn(t *testing.T) {
	seen := map[string]int{}
	for i := range maxLooks {
		colour, dash := look(i)
		key := colour.role + fmt.Sprint(dash)
		if j, ok := seen[key]; ok {
			t.Errorf("series %d looks like series %d", i+1, j+1)
		}
		seen[key] = i
	}
	// Without colour, the first six still differ.
	first := map[string]bool{}
	for i := range palette {
		_, dash := look(i)
		first[fmt.Sprint(dash)] = true
	}
	if len(first) != len(palette) {
		t.Errorf("the first %d series have only %d dashes", len(palette), len(first))
	}
}

func TestTheStyleSheetColoursEveryClassInLightAndDark(t *testing.T) {
	light, dark, ok := strings.Cut(CSS(), "@media screen and (prefers-color-scheme:dark)")
	if !ok {
		t.Fatal("no dark part")
	}
	for _, e := range examples {
		doc, err := e.chart.SVG()
		if err != nil {
			t.Fatal(err)
		}
		elements, _ := wellFormed(t, doc)
		for _, element := range elements {
			class := attribute(element, "class")
			if class == "" || class == "chart" || class == "series" {
				continue
			}
			if !strings.Contains(light, ".chart ."+class+"{") {
				t.Errorf("class %q has no light colour", class)
			}
			if class != "fill-paper" && !strings.Contains(dark, ".chart ."+class+"{") {
				t.Errorf("class %q has no dark colour", class)
			}
		}
	}
}

func TestShortenedTextFits(t *testing.T) {
	f := face(12, false)
	for _, s := range []string{"", "short", strings.Repeat("a long name ", 30), strings.Repeat("…", 50)} {
		for _, width := range []vg.Length{20, 50, 100} {
			got := shorten(f, s, width)
			if f.Width(got) > width {
				t.Errorf("%q is %.1f wide, more than %.1f", got, f.Width(got).Points(), width.Points())
			}
			if got != s && !strings.HasSuffix(got, "…") {
				t.Errorf("%q was cut to %q without saying so", s, got)
			}
		}
	}
}

// The dumb version looks for each bin at every value.
func TestBinsHoldEveryValueOnce(t *testing.T) {
	values := bell(500)
	const bins = 16 // a power of two: the edges are exact
	low, high := 1.0, 5.0
	got := binned(values, low, high, bins)
	for i, n := range got {
		left, right := low+float64(i)*(high-low)/bins, low+float64(i+1)*(high-low)/bins
		want := 0
		for _, v := range values {
			if v >= left && v < right || i == 0 && v < low || i == bins-1 && v >= high {
				want++
			}
		}
		if n != want {
			t.Errorf("bin %d from %g to %g has %d values, want %d", i, left, right, n, want)
		}
	}
}
