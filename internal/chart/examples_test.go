package chart

import "math"

// wiggle is made up and the same on every machine.
func wiggle(i int) float64 { return math.Mod(float64(i*7919), 13)/13 - 0.5 }

func learning(name string, top float64, points int) Series {
	s := Series{Name: name}
	for i := range points {
		round := float64(1 + 5*i)
		y := math.Round(1000*(top*(1-math.Exp(-round/25))+wiggle(i))) / 1000
		s.X = append(s.X, round)
		s.Y = append(s.Y, y)
		s.Low = append(s.Low, y-2)
		s.High = append(s.High, y+1.5)
	}
	return s
}

func overDelta(name string, scale float64) Series {
	s := Series{Name: name}
	for e := -9; e <= -2; e++ {
		s.X = append(s.X, math.Pow10(e))
		s.Y = append(s.Y, scale*math.Sqrt(float64(-e)))
	}
	return s
}

// examples are the pictures kept in testdata.
var examples = []struct {
	name  string
	chart interface {
		SVG() ([]byte, error)
		PNG(width int) ([]byte, error)
	}
}{
	{"accuracy_with_bands", Line{
		Title: "Test accuracy over rounds, mean and range of 5 seeds", XLabel: "round", YLabel: "accuracy (%)",
		Series: []Series{learning("Skellam, epsilon 3", 91, 50), learning("paper's setting, epsilon 3", 83, 50), learning("no privacy", 96, 50)},
		YMin:   new(0.0), YMax: new(100.0),
	}},
	{"one_series_has_no_legend", Line{
		Title: "Epsilon over rounds", XLabel: "round", YLabel: "epsilon at delta 1e-5",
		Series: []Series{{Name: "public", X: []float64{1, 50, 100, 150, 200, 250}, Y: []float64{0.61, 1.42, 1.93, 2.34, 2.68, 2.99}}},
		YMin:   new(0.0),
	}},
	{"logarithmic_axes", Line{
		Title: "Epsilon over delta, 250 rounds", XLabel: "delta", YLabel: "epsilon",
		Series: []Series{overDelta("Skellam, exact (PLD)", 1), overDelta("Skellam, the paper's bound", 1.6), overDelta("central Gaussian", 0.95)},
		XLog:   true, YLog: true,
	}},
	{"gaps_and_a_lone_point", Line{
		Title: "A run with rounds that were not evaluated", XLabel: "round", YLabel: "loss",
		Series: []Series{
			{Name: "first", X: []float64{1, 2, 3, 4, 5, 6, 7}, Y: []float64{2.3, 1.9, math.NaN(), 1.2, math.NaN(), 0.9, 0.8}},
			{Name: "second", X: []float64{4}, Y: []float64{1.7}, Low: []float64{1.5}, High: []float64{1.9}},
		},
	}},
	{"a_single_point", Line{Title: "One round", XLabel: "round", YLabel: "accuracy (%)", Series: []Series{{Name: "run", X: []float64{1}, Y: []float64{11.35}}}}},
	{"a_constant_series", Line{Title: "Nothing was learnt", XLabel: "round", YLabel: "accuracy (%)", Series: []Series{{Name: "run", X: []float64{1, 2, 3}, Y: []float64{9.8, 9.8, 9.8}}}}},
	{"hostile_names", Line{
		Title: `</title><script>alert("1")</script> & 'quotes'`, XLabel: "<x>", YLabel: "y & z \x00\xff",
		Series: []Series{
			{Name: "a very long name that goes on and on, far beyond the width that any legend of this picture could offer it", X: []float64{1, 2}, Y: []float64{1, 2}},
			{Name: "two\nlines ]]> <b>", X: []float64{1, 2}, Y: []float64{2, 1}},
			{Name: "ひらがな", X: []float64{1, 2}, Y: []float64{1.5, 1.2}},
		},
	}},
	{"many_series", Line{Title: "Twelve series differ by colour and dash", XLabel: "x", YLabel: "y", Series: manySeries(12)}},
	{"bars", Bars{
		Title: "Examples per label", XLabel: "label", YLabel: "examples", Categories: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		// Counted in train-labels-idx1-ubyte of MNIST.
		Groups: []Group{{Name: "MNIST", Values: []float64{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}}},
	}},
	{"grouped_bars_with_negative_values", Bars{
		Title: "Change of accuracy against the baseline", XLabel: "mechanism", YLabel: "percentage points",
		Categories: []string{"discrete Gaussian", "Skellam", "binomial", "a mechanism with a long name"},
		Groups:     []Group{{"epsilon 1", []float64{-6.1, -5.2, -9, -2}}, {"epsilon 3", []float64{-1.5, -1.1, -4, 0.5}}, {"epsilon 8", []float64{0.2, 0.4, -1, 1.5}}},
	}},
	{"boxes", Boxes{
		Title: "Weights before and after they were cut", XLabel: "round", YLabel: "weight", Categories: []string{"1", "10", "20", "30"},
		Groups: []BoxGroup{
			{"trained", []Box{{-0.11, -0.03, 0, 0.03, 0.12}, {-0.2, -0.05, 0.01, 0.06, 0.21}, {-0.3, -0.08, 0, 0.08, 0.31}, {-0.42, -0.1, -0.01, 0.11, 0.4}}},
			{"cut", []Box{{-0.1, -0.03, 0, 0.03, 0.1}, {-0.17, -0.05, 0.01, 0.05, 0.18}, {-0.25, -0.07, 0, 0.07, 0.26}, {-0.33, -0.09, -0.01, 0.1, 0.34}}},
		},
	}},
	{"histogram", Histogram{Title: "Norms of updates before clipping", XLabel: "L2 norm", Values: bell(600)}},
}

func manySeries(n int) []Series {
	var all []Series
	for i := range n {
		all = append(all, Series{Name: "series " + string(rune('A'+i)), X: []float64{0, 1}, Y: []float64{float64(i), float64(i) + 0.6}})
	}
	return all
}

// bell is a deterministic sample with a hump in the middle.
func bell(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = 3 + wiggle(i) + wiggle(i/3) + wiggle(i/7+2) + float64(i)/float64(n)
	}
	return values
}
