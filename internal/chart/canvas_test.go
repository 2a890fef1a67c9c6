package chart

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pathPoints reads the end points of the parts of a path.
func pathPoints(t *testing.T, d string) [][2]float64 {
	t.Helper()
	var points [][2]float64
	for _, part := range strings.FieldsFunc(d, func(r rune) bool { return strings.ContainsRune("MLQCAZ", r) }) {
		fields := strings.Fields(part)
		if len(fields) < 2 {
			t.Fatalf("path %q: part %q has no point", d, part)
		}
		x, errX := strconv.ParseFloat(fields[len(fields)-2], 64)
		y, errY := strconv.ParseFloat(fields[len(fields)-1], 64)
		if errX != nil || errY != nil || math.IsNaN(x+y) || math.IsInf(x+y, 0) {
			t.Fatalf("path %q: part %q is no point", d, part)
		}
		points = append(points, [2]float64{x, y})
	}
	return points
}

func TestTheOriginIsAtTheBottomLeft(t *testing.T) {
	c := newCanvas(100, 50, "", "")
	var p vg.Path
	p.Move(vg.Point{X: 0, Y: 0})
	p.Line(vg.Point{X: 10, Y: 20})
	if got, want := c.now().toPage.path(p), "M0 50L10 30"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The dumb version applies each step to the point, last one first, and never multiplies matrices.
func TestTransformationsAreAppliedAsIfStepByStep(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 4} {
		random := rand.New(rand.NewPCG(seed, 0))
		c := newCanvas(100, 100, "", "")
		var steps []func(x, y float64) (float64, float64)
		for range 6 {
			a, b := random.Float64()*4-2, random.Float64()*4-2
			switch random.IntN(3) {
			case 0:
				c.Translate(vg.Point{X: vg.Length(a), Y: vg.Length(b)})
				steps = append(steps, func(x, y float64) (float64, float64) { return x + a, y + b })
			case 1:
				c.Rotate(a)
				steps = append(steps, func(x, y float64) (float64, float64) {
					return x*math.Cos(a) - y*math.Sin(a), x*math.Sin(a) + y*math.Cos(a)
				})
			case 2:
				c.Scale(a, b)
				steps = append(steps, func(x, y float64) (float64, float64) { return x * a, y * b })
			}
		}
		x, y := 3.0, -7.0
		gotX, gotY := c.now().toPage.apply(x, y)
		for i := len(steps) - 1; i >= 0; i-- {
			x, y = steps[i](x, y)
		}
		y = 100 - y
		if math.Abs(gotX-x) > 1e-9 || math.Abs(gotY-y) > 1e-9 {
			t.Errorf("seed %d: (%g, %g), want (%g, %g)", seed, gotX, gotY, x, y)
		}
	}
}

func TestPopRestoresWhatPushSaved(t *testing.T) {
	c := newCanvas(100, 100, "", "")
	c.SetLineWidth(3)
	c.SetColor(palette[1])
	c.Push()
	c.SetLineWidth(9)
	c.SetColor(palette[2])
	c.Translate(vg.Point{X: 50, Y: 50})
	c.Pop()
	var p vg.Path
	p.Move(vg.Point{})
	p.Line(vg.Point{X: 1})
	c.Stroke(p)
	want := `<path d="M0 100L1 100" fill="none" stroke-width="3" stroke-linejoin="round" class="stroke-2" stroke="#b03c00"/>`
	if got := string(c.bytes()); !strings.Contains(got, want) {
		t.Errorf("missing %s in\n%s", want, got)
	}
}

func TestArcsBecomeArcs(t *testing.T) {
	tests := []struct {
		name         string
		start, sweep float64
		want         string
	}{
		{"a quarter turn upwards", 0, math.Pi / 2, "M60 50A10 10 0 0 0 50 40"},
		{"a quarter turn downwards", 0, -math.Pi / 2, "M60 50A10 10 0 0 1 50 60"},
		{"a half turn in two pieces", 0, math.Pi, "M60 50A10 10 0 0 0 50 40A10 10 0 0 0 40 50"},
		{"a circle in three pieces", 0, 2 * math.Pi, "M60 50A10 10 0 0 0 45 41.34A10 10 0 0 0 45 58.66A10 10 0 0 0 60 50"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCanvas(100, 100, "", "")
			var p vg.Path
			p.Arc(vg.Point{X: 50, Y: 50}, 10, tt.start, tt.sweep)
			if got := c.now().toPage.path(p); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestCurvesKeepTheirControlPoints(t *testing.T) {
	c := newCanvas(100, 100, "", "")
	var p vg.Path
	p.Move(vg.Point{})
	p.QuadTo(vg.Point{X: 1, Y: 2}, vg.Point{X: 3, Y: 4})
	p.CubeTo(vg.Point{X: 5, Y: 6}, vg.Point{X: 7, Y: 8}, vg.Point{X: 9, Y: 10})
	p.Close()
	if got, want := c.now().toPage.path(p), "M0 100Q1 98 3 96C5 94 7 92 9 90Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPaintWritesClassValueAndOpacity(t *testing.T) {
	tests := []struct {
		name  string
		paint color.Color
		want  string
	}{
		{"an ink has a class", palette[0], ` class="fill-1" fill="#1f5fa8"`},
		{"a faded ink has an opacity", palette[0].faded(51), ` class="fill-1" fill="#1f5fa8" fill-opacity="0.2"`},
		{"a foreign colour has no class", color.NRGBA{1, 2, 3, 255}, ` fill="#010203"`},
		{"no colour is black", nil, ` fill="#000000"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCanvas(10, 10, "", "")
			c.SetColor(tt.paint)
			if got := paint("fill", c.now().ink); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDashesImagesAndTurnedTextAreWritten(t *testing.T) {
	c := newCanvas(100, 100, "", "")
	c.SetLineDash([]vg.Length{4, 2}, 1)
	var p vg.Path
	p.Move(vg.Point{})
	p.Line(vg.Point{X: 10})
	c.Stroke(p)
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: 10, Y: 20}, Max: vg.Point{X: 40, Y: 60}}, image.NewGray(image.Rect(0, 0, 2, 2)))
	c.Rotate(math.Pi / 2)
	c.FillString(face(10, true), vg.Point{X: 5, Y: -7}, "up")
	got := string(c.bytes())
	for _, want := range []string{
		`stroke-dasharray="4 2" stroke-dashoffset="1"`,
		`<image x="10" y="40" width="30" height="40" preserveAspectRatio="none" href="data:image/png;base64,iVBOR`,
		`<text transform="matrix(0 -1 1 0 7 95)" font-size="10" font-weight="bold"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %s in\n%s", want, got)
		}
	}
	wellFormed(t, c.bytes())
	c.SetLineWidth(0)
	before := c.out.Len()
	c.Stroke(p)
	if c.out.Len() != before {
		t.Error("a line without width was drawn")
	}
}

func TestTheCanvasServesGonumDirectly(t *testing.T) {
	var sizer vg.CanvasSizer = newCanvas(120, 80, "", "")
	if got := draw.New(sizer).Size(); got.X != 120 || got.Y != 80 {
		t.Errorf("size %v", got)
	}
}
