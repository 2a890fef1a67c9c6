package chart

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// affine maps (x, y) to (a·x + c·y + e, b·x + d·y + f): SVG's matrix(a b c d e f).
type affine struct{ a, b, c, d, e, f float64 }

// after is the map that applies n first and m to its result.
func (m affine) after(n affine) affine {
	return affine{
		a: m.a*n.a + m.c*n.b, c: m.a*n.c + m.c*n.d, e: m.a*n.e + m.c*n.f + m.e,
		b: m.b*n.a + m.d*n.b, d: m.b*n.c + m.d*n.d, f: m.b*n.e + m.d*n.f + m.f,
	}
}

func (m affine) apply(x, y float64) (float64, float64) {
	return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f
}

func (m affine) determinant() float64 { return m.a*m.d - m.b*m.c }

// zoom is by how much lengths grow, on average over the directions.
func (m affine) zoom() float64 { return math.Sqrt(math.Abs(m.determinant())) }

// place writes the map as attributes of an element that is drawn at the origin.
func (m affine) place() string {
	const tiny = 1e-9
	if math.Abs(m.a-1) < tiny && math.Abs(m.d-1) < tiny && math.Abs(m.b) < tiny && math.Abs(m.c) < tiny {
		return fmt.Sprintf(` x="%s" y="%s"`, number(m.e), number(m.f))
	}
	return fmt.Sprintf(` transform="matrix(%s %s %s %s %s %s)"`, decimals(m.a, 4), decimals(m.b, 4), decimals(m.c, 4),
		decimals(m.d, 4), number(m.e), number(m.f))
}

// path writes a path in page coordinates.
func (m affine) path(p vg.Path) string {
	var b strings.Builder
	point := func(letter string, points ...vg.Point) {
		b.WriteString(letter)
		for i, q := range points {
			if i > 0 {
				b.WriteByte(' ')
			}
			x, y := m.apply(q.X.Points(), q.Y.Points())
			b.WriteString(number(x) + " " + number(y))
		}
	}
	for i, part := range p {
		switch part.Type {
		case vg.MoveComp:
			point("M", part.Pos)
		case vg.LineComp:
			point("L", part.Pos)
		case vg.CurveComp:
			letter := "Q" // one control point
			if len(part.Control) == 2 {
				letter = "C"
			}
			point(letter, append(append([]vg.Point(nil), part.Control...), part.Pos)...)
		case vg.CloseComp:
			b.WriteByte('Z')
		case vg.ArcComp:
			letter := "L" // vg joins an arc to what came before with a line
			if i == 0 {
				letter = "M"
			}
			point(letter, onCircle(part, 0))
			// Thirds of a turn at most: SVG cannot draw a whole circle in one arc, and half a circle is ambiguous.
			pieces := max(1, int(math.Ceil(math.Abs(part.Angle)/(2*math.Pi/3)-1e-9)))
			sweep := "0"
			if (part.Angle > 0) == (m.determinant() > 0) {
				sweep = "1"
			}
			radius := number(part.Radius.Points() * m.zoom())
			for k := range pieces {
				point("A"+radius+" "+radius+" 0 0 "+sweep+" ", onCircle(part, float64(k+1)/float64(pieces)))
			}
		}
	}
	return b.String()
}

// onCircle is the point a fraction of the way along an arc.
func onCircle(arc vg.PathComp, fraction float64) vg.Point {
	sin, cos := math.Sincos(arc.Start + fraction*arc.Angle)
	return vg.Point{X: arc.Pos.X + arc.Radius*vg.Length(cos), Y: arc.Pos.Y + arc.Radius*vg.Length(sin)}
}
