package chart

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func labelsOf(ticks []plot.Tick) string {
	var all []string
	for _, t := range ticks {
		all = append(all, t.Label)
	}
	return strings.Join(all, " ")
}

func TestLinearTicks(t *testing.T) {
	tests := []struct {
		name      string
		low, high float64
		whole     bool
		want      string
	}{
		{"per cent", 0, 100, true, "0 20 40 60 80 100"},
		{"rounds from the first", 1, 250, true, "50 100 150 200 250"},
		{"few rounds have no halves", 1, 3, true, "1 2 3"},
		{"tenths are exact", 0, 0.5, false, "0.0 0.1 0.2 0.3 0.4 0.5"},
		{"through zero", -0.3, 0.3, false, "-0.2 0.0 0.2"},
		{"thousands are grouped from five digits on", 0, 60000, true, "0 20,000 40,000 60,000"},
		{"four digits are not grouped", 0, 8000, true, "0 2000 4000 6000 8000"},
		{"tiny values are written with an exponent", 0, 5e-5, false, "0 1e-5 2e-5 3e-5 4e-5 5e-5"},
		{"huge values are written with an exponent", 0, 1e8, true, "0 2e7 4e7 6e7 8e7 1e8"},
		{"a narrow range keeps the digits that differ", 0.50001, 0.50005, false, "0.50001 0.50002 0.50003 0.50004 0.50005"},
		{"a narrow range far out does too", 1e9, 1e9 + 4, true, "1e9 1.000000001e9 1.000000002e9 1.000000003e9 1.000000004e9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := labelsOf(linearTicks(tt.low, tt.high, tt.whole)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLogTicks(t *testing.T) {
	tests := []struct {
		name      string
		low, high float64
		want      string
	}{
		{"two decades or more are marked by powers of ten", 1, 1000, "1 10 100 1000"},
		{"many decades leave some out", 1e-20, 1, "1e-18 1e-15 1e-12 1e-9 1e-6 1e-3 1"},
		{"deltas", 1e-9, 1e-5, "1e-9 1e-8 1e-7 1e-6 1e-5"},
		{"below two decades 1-2-5", 1, 50, "1 2 5 10 20 50"},
		{"two decades with two powers in them 1-2-5", 0.0036, 0.99, "0.005 0.01 0.02 0.05 0.1 0.2 0.5"},
		{"below one decade", 0.2, 1, "0.2 0.5 1"},
		{"a narrow range has even steps", 1, 2, "1.0 1.2 1.4 1.6 1.8 2.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := labelsOf(logTicks(tt.low, tt.high)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Whatever the data, an axis holds it, has at least two ticks that lie on it in order, and labels that say their value.
func TestEveryAxisCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.Bool().Draw(t, "log")
		r := newReach("y", log)
		scale := math.Pow10(rapid.IntRange(-290, 290).Draw(t, "scale"))
		for _, v := range rapid.SliceOfN(rapid.Float64Range(0.001, 1000), 1, 4).Draw(t, "values") {
			if !log && rapid.Bool().Draw(t, "negative") {
				v = -v
			}
			if err := r.add(v * scale); err != nil {
				t.Fatal(err)
			}
		}
		roomy := rapid.Bool().Draw(t, "roomy")
		a, err := r.axis(nil, nil, roomy)
		if err != nil {
			t.Fatal(err)
		}
		if !(a.min <= r.low && r.high <= a.max && a.min < a.max) {
			t.Fatalf("axis from %g to %g does not hold the data from %g to %g", a.min, a.max, r.low, r.high)
		}
		if len(a.ticks) < 2 || len(a.ticks) > 10 {
			t.Fatalf("%d ticks on an axis from %g to %g", len(a.ticks), a.min, a.max)
		}
		slack := 1e-9 * (a.max - a.min)
		for i, tick := range a.ticks {
			if tick.Value < a.min-slack || tick.Value > a.max+slack {
				t.Fatalf("tick %g outside [%g, %g]", tick.Value, a.min, a.max)
			}
			if i > 0 && tick.Value <= a.ticks[i-1].Value {
				t.Fatalf("ticks %g and %g are not in order", a.ticks[i-1].Value, tick.Value)
			}
			said, err := strconv.ParseFloat(strings.ReplaceAll(tick.Label, ",", ""), 64)
			if err != nil {
				t.Fatalf("label %q is no number", tick.Label)
			}
			if math.Abs(said-tick.Value) > 1e-9*max(math.Abs(tick.Value), a.max-a.min) {
				t.Fatalf("label %q for the value %g", tick.Label, tick.Value)
			}
		}
	})
}

func TestAxisRanges(t *testing.T) {
	tests := []struct {
		name     string
		data     []float64
		log      bool
		min, max *float64
		wantMin  float64
		wantMax  float64
	}{
		{"free limits go out to the next tick", []float64{3, 93}, false, nil, nil, 0, 100},
		{"a given limit stays", []float64{3, 93}, false, new(-7.0), nil, -7, 100},
		{"a limit inside the data stays", []float64{3, 93}, false, nil, new(50.0), 0, 50},
		{"one value has an axis around it", []float64{0.5}, false, nil, nil, 0.44, 0.56},
		{"a lone zero has one too", []float64{0}, false, nil, nil, -1, 1},
		{"one value at its lower limit opens upwards", []float64{0}, false, new(0.0), nil, 0, 1},
		{"one value on a logarithmic axis", []float64{3}, true, nil, nil, 1, 10},
		{"a logarithmic axis goes out to 1-2-5", []float64{0.3, 700}, true, nil, nil, 0.2, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newReach("y", tt.log)
			for _, v := range tt.data {
				if err := r.add(v); err != nil {
					t.Fatal(err)
				}
			}
			a, err := r.axis(tt.min, tt.max, true)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(a.min-tt.wantMin) > 1e-12 || math.Abs(a.max-tt.wantMax) > 1e-12 {
				t.Errorf("axis from %g to %g, want %g to %g", a.min, a.max, tt.wantMin, tt.wantMax)
			}
		})
	}
}

func TestNumbersInSentences(t *testing.T) {
	tests := map[float64]string{
		0: "0", 1: "1", 93.4567: "93.46", 0.012345: "0.01235", 60000: "60,000", 12345.6: "12,346", 1234.56: "1235",
		1e-5: "1e-5", 2.5e9: "2.5e9", -3.25: "-3.25",
	}
	for v, want := range tests {
		if got := value(v); got != want {
			t.Errorf("%g is written %q, want %q", v, got, want)
		}
	}
}
