package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBoxesOfKnownValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   Box
	}{
		{"a single value is all five", []float64{3}, Box{3, 3, 3, 3, 3}},
		{"equal values too", []float64{2, 2, 2}, Box{2, 2, 2, 2, 2}},
		// Quartiles by linear interpolation, as numpy.percentile does by default.
		{"between two values a quartile is interpolated", []float64{4, 1, 3, 2}, Box{1, 1.75, 2.5, 3.25, 4}},
		{"what lies beyond one and a half boxes is left out", []float64{1, 2, 3, 4, 5, 100}, Box{1, 2.25, 3.5, 4.75, 5}},
		{"whiskers begin at the box", []float64{0, 0, 0, 0, 50, 50, -60}, Box{0, 0, 0, 25, 50}},
	} {
		got, err := BoxOf(c.values)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v (%v), want %+v", c.name, got, err, c.want)
		}
	}
	for name, values := range map[string][]float64{"none": {}, "NaN": {1, math.NaN()}, "infinity": {1, math.Inf(1)}, "minus infinity": {math.Inf(-1), 1}} {
		if _, err := BoxOf(values); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestTheNumbersOfABoxRiseWhateverTheValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		values := make([]float64, 1+r.IntN(12))
		for i := range values {
			values[i] = math.Round(4*r.NormFloat64()) * math.Pow(10, float64(r.IntN(4)))
		}
		b, err := BoxOf(values)
		if err != nil || !(b.Low <= b.Q1 && b.Q1 <= b.Median && b.Median <= b.Q3 && b.Q3 <= b.High) {
			t.Fatalf("%v: %+v, %v", values, b, err)
		}
		inside := 0
		for _, v := range values {
			if v >= b.Q1 && v <= b.Q3 {
				inside++
			}
		}
		if 2*inside < len(values)-2 {
			t.Fatalf("%v: %d of them in %+v", values, inside, b)
		}
	}
}

func TestBoxesThatCannotBeDrawnAreRefused(t *testing.T) {
	one := []BoxGroup{{"g", []Box{{1, 2, 3, 4, 5}}}}
	for name, b := range map[string]Boxes{
		"no categories":              {Groups: one},
		"no groups":                  {Categories: []string{"a"}},
		"too few boxes":              {Categories: []string{"a", "b"}, Groups: one},
		"numbers that fall":          {Categories: []string{"a"}, Groups: []BoxGroup{{"g", []Box{{1, 2, 3, 2.5, 5}}}}},
		"a number that is no number": {Categories: []string{"a"}, Groups: []BoxGroup{{"g", []Box{{1, 2, 3, 4, math.NaN()}}}}},
		"too many groups":            {Categories: []string{"a"}, Groups: make([]BoxGroup, len(palette)+1)},
	} {
		if _, err := b.SVG(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
