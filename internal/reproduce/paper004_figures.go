package reproduce

import (
	"fmt"
	"slices"

	"hubbub/accountant/fdp"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// curves draws the personal and, if asked for, the global accuracy over the rounds: means over the seeds, with a band of two standard
// errors.
func curves(b *Bench, file, title string, settings []setting004, name func(setting004) string, global bool) (Outcome, error) {
	settings = Settings(b, settings)
	picture := chart.Line{Title: title, XLabel: "round", YLabel: "mean test accuracy of the clients, %"}
	table := Table{Title: title + ": accuracy at the end", Columns: []string{"run", "model"}, Unit: "%"}
	out := Outcome{Notes: curveNotes004(b, settings[0].data)}
	for _, s := range settings {
		var longer []string
		if b.Scale == Full { // a figure goes on past the goal
			longer = []string{"stop_at=0", fmt.Sprintf("rounds=%d", s.rounds)}
		}
		runs, err := s.run(b, longer...)
		if err != nil {
			return Outcome{}, err
		}
		add := func(model string, ofGlobal bool) {
			mean, e := experiment.MeanError(runs.accuracies(ofGlobal))
			table.Rows = append(table.Rows, Row{Settings: []string{name(s), model}, Ours: Value(mean), Error: e, Runs: len(runs.results)})
			label := name(s)
			if global {
				label += ", " + model
			}
			picture.Series = append(picture.Series, runs.series(label, ofGlobal))
		}
		if add("personal", false); global {
			add("global", true)
			out.Checks = append(out.Checks, clearly(name(s)+": personal models beat the global one", differences(runs.accuracies(false), runs.accuracies(true)), "points"))
		}
	}
	out.Tables, out.Figures = []Table{table}, []Figure{{Name: file, Caption: title, Drawing: picture}}
	return out, nil
}

// series is the accuracy over the rounds.
func (r runs004) series(name string, global bool) chart.Series {
	s := chart.Series{Name: name}
	for i, m := range r.lines[0] {
		if m.Personal == nil {
			continue
		}
		values := make([]float64, len(r.lines))
		for seed, lines := range r.lines { // evaluated in the same rounds
			if values[seed] = 100 * lines[i].Personal.Own; global {
				values[seed] = 100 * lines[i].Personal.Global
			}
		}
		mean, e := experiment.MeanError(values)
		addPoint(&s, float64(m.Round), mean, e)
	}
	return s
}

func bySigma(s setting004) string { return fmt.Sprintf("sigma %g", s.sigma) }

func personalFigure(b *Bench) (Outcome, error) {
	return curves(b, "figure-1", "MNIST, p = 0.5", []setting004{rows1of004[5], rows1of004[3]}, bySigma, true)
}

func batchFigure(b *Bench) (Outcome, error) {
	out, err := curves(b, "figure-2", "MNIST, p = 0.5, sigma 0.75", []setting004{rows2of004[4], rows1of004[5]}, func(s setting004) string { return fmt.Sprintf("B = %d", s.batch) }, false)
	if err != nil {
		return out, err
	}
	// They lie close together: a second look at where they come apart.
	picture := out.Figures[0].Drawing.(chart.Line)
	picture.Title += ", from 85% on"
	picture.Series = slices.Clone(picture.Series)
	for i := range picture.Series {
		picture.Series[i] = above(picture.Series[i], 85)
	}
	out.Figures = append(out.Figures, Figure{Name: "figure-2-close", Caption: picture.Title, Drawing: picture})
	return out, nil
}

// above is the part of a series from where it first is above y.
func above(s chart.Series, y float64) chart.Series {
	from := slices.IndexFunc(s.Y, func(v float64) bool { return v > y })
	if from < 0 {
		return s
	}
	return chart.Series{Name: s.Name, X: s.X[from:], Y: s.Y[from:], Low: s.Low[from:], High: s.High[from:]}
}

func cifarFigure(b *Bench) (Outcome, error) {
	return curves(b, "figure-3", "CIFAR-10, p = 0.5", Pick(b, []setting004{rows3of004[5], rows3of004[3]}, rows3of004[3:]), bySigma, true)
}

func samplingFigure(b *Bench) (Outcome, error) {
	return curves(b, "figure-5", "MNIST, sigma 0.75", []setting004{rows1of004[2], rows1of004[5], rows1of004[8]}, func(s setting004) string { return fmt.Sprintf("p = %g", s.part) }, false)
}

// tradeoffFigure draws C_p(G_mu) at p = 0.35, mu = 1.8, and the f_p that it is made symmetric from.
func tradeoffFigure(*Bench) (Outcome, error) {
	const mu, rate, steps = 1.8, 0.35, 200
	f, err := fdp.Sampled{Mu: mu, Rate: rate}.Tradeoff()
	if err != nil {
		return Outcome{}, err
	}
	g, err := fdp.Gaussian(mu)
	if err != nil {
		return Outcome{}, err
	}
	sampled, mixed, mirrored := chart.Series{Name: "C_p(f)"}, chart.Series{Name: "f_p"}, chart.Series{Name: "its inverse"}
	table := Table{Title: "the trade-off function", Columns: []string{"alpha"}, Unit: "beta"}
	for i := range steps + 1 {
		alpha := float64(i) / steps
		beta, err := fdp.Beta(f, alpha)
		if err != nil {
			return Outcome{}, err
		}
		all, err := fdp.Beta(g, alpha)
		if err != nil {
			return Outcome{}, err
		}
		sampled.X, sampled.Y = append(sampled.X, alpha), append(sampled.Y, beta)
		mix := rate*all + (1-rate)*(1-alpha) // f_p = pf + (1-p)Id
		mixed.X, mixed.Y = append(mixed.X, alpha), append(mixed.Y, mix)
		mirrored.X, mirrored.Y = append(mirrored.X, mix), append(mirrored.Y, alpha)
		if i == 10 || i == 100 || i == 180 {
			table.Rows = append(table.Rows, Row{Settings: []string{trim(alpha)}, Ours: Value(beta), Note: "the paper has a picture only"})
		}
	}
	slices.Reverse(mirrored.X) // it falls
	slices.Reverse(mirrored.Y)
	picture := chart.Line{Title: "Trade-off functions, f = G_1.8, p = 0.35", XLabel: "type I error", YLabel: "type II error", Series: []chart.Series{sampled, mixed, mirrored}}
	return Outcome{Tables: []Table{table}, Figures: []Figure{{Name: "figure-4", Caption: picture.Title, Drawing: picture}}}, nil
}

// labelsFigure draws the labels of ten clients, five to a picture, and the accuracy over the rounds with all clients.
func labelsFigure(b *Bench) (Outcome, error) {
	out, err := curves(b, "figure-6b", "CIFAR-10, p = 1", Pick(b, rows3of004[2:3], rows3of004[:3]), bySigma, true)
	if err != nil {
		return Outcome{}, err
	}
	s := rows3of004[2]
	counts, err := b.Labels(s.data, s.changes(b)...)
	if err != nil {
		return Outcome{}, err
	}
	out.Figures = append(out.Figures, labelPictures(counts, s.records())...)
	return out, nil
}

// labelPictures draws the part of each label in the records of the first ten clients.
func labelPictures(counts [][]int, records int) []Figure {
	const each = 5 // clients in a picture: as many as can be told apart
	var figures []Figure
	for first := 0; first < 2*each; first += each {
		bars := chart.Bars{Title: fmt.Sprintf("CIFAR-10: labels of clients %d to %d", first+1, first+each), XLabel: "label", YLabel: "part of the client's records, %"}
		for label := range counts[first] {
			bars.Categories = append(bars.Categories, fmt.Sprint(label))
		}
		for c := first; c < first+each; c++ {
			g := chart.Group{Name: fmt.Sprintf("client %d", c+1)}
			for _, n := range counts[c] {
				g.Values = append(g.Values, 100*float64(n)/float64(records))
			}
			bars.Groups = append(bars.Groups, g)
		}
		figures = append(figures, Figure{Name: fmt.Sprintf("figure-6a-%d", first/each+1), Caption: bars.Title, Drawing: bars})
	}
	return figures
}
