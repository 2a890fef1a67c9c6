package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// colours reads the custom properties of one part of the style sheet.
func colours(t *testing.T, css string) map[string][3]float64 {
	t.Helper()
	all := map[string][3]float64{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
		n, err := strconv.ParseUint(m[2], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		all[m[1]] = [3]float64{float64(n >> 16 & 255), float64(n >> 8 & 255), float64(n & 255)}
	}
	return all
}

// luminance is WCAG 2.2's relative luminance.
func luminance(c [3]float64) float64 {
	linear := func(v float64) float64 {
		if v /= 255; v <= 0.04045 {
			return v / 12.92
		} else {
			return math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

// WCAG 2.2, 1.4.3: text needs a contrast of 4.5:1 with what is behind it.
func TestTextCanBeReadInLightAndDark(t *testing.T) {
	light, rest, _ := strings.Cut(pageCSS, "@media screen and (prefers-color-scheme: dark)")
	dark, _, ok := strings.Cut(rest, "* {")
	if !ok {
		t.Fatal("the style sheet has no dark part where the test expects it")
	}
	for scheme, css := range map[string]string{"light": light, "dark": dark} {
		c := colours(t, css)
		for _, pair := range [][2]string{
			{"text", "paper"}, {"quiet", "paper"}, {"accent", "paper"}, {"caution", "paper"},
			{"text", "raised"}, {"quiet", "raised"},
			{"text", "caution-paper"}, {"quiet", "caution-paper"}, {"caution", "caution-paper"},
		} {
			front, ok := c[pair[0]]
			back, ok2 := c[pair[1]]
			if !ok || !ok2 {
				t.Fatalf("%s: colour %q or %q is missing", scheme, pair[0], pair[1])
			}
			a, b := luminance(front), luminance(back)
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want at least 4.5", scheme, pair[0], pair[1], ratio)
			}
		}
	}
}
