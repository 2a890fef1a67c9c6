package reproduce

import (
	"fmt"

	"hubbub/accountant"
	"hubbub/accountant/fdp"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// paper004 is federated f-differential privacy with PriFedSync.
func paper004() Paper {
	return Paper{ID: "004", Title: "Federated f-Differential Privacy (PriFedSync)", Items: []Item{
		{"table 1", "MNIST: rounds until the personal models reach 90% on average", rounds004Table1, 0},
		{"table 2", "MNIST: small and large batches", rounds004Table2, 0},
		{"table 3", "CIFAR-10: rounds until the personal models reach 52% on average", rounds004Table3, 0},
		{"figure 1", "MNIST: personal models against the global one", personalFigure, 0},
		{"figure 2", "MNIST: batch sizes", batchFigure, 0},
		{"figure 3", "CIFAR-10: personal models against the global one, half of the clients a round", cifarFigure, 0},
		{"figure 4", "the trade-off function of a sampled Gaussian mechanism", tradeoffFigure, 0},
		{"figure 5", "MNIST: sampling rates of clients", samplingFigure, 0},
		{"figure 6", "CIFAR-10: labels of ten clients, and accuracy with all clients in every round", labelsFigure, 0},
	}}
}

// setting004 is one run of the paper: what it printed, and how to run it.
type setting004 struct {
	data         string // mnist or cifar
	part, sigma  float64
	batch, steps int
	rounds       int     // that the paper needed
	accuracy     float64 // that it reached then, in percent
	plain        float64 // that it reached without privacy
}

func (s setting004) records() int {
	if s.data == "cifar" {
		return 500
	}
	return 600
}

// smaller are the changes of a fast run: fewer clients with as many records each, a smaller network, fewer rounds.
func (s setting004) smaller() []string {
	changes := []string{
		"model={kind: layers, layers: [{kind: conv, filters: 8}, {kind: relu}, {kind: maxpool}, {kind: conv, filters: 16}, {kind: relu}, {kind: maxpool}, {kind: flatten}, {kind: dense, units: 32}, {kind: relu}]}",
		"data.partition.clients=20",
	}
	if s.data == "cifar" {
		return append(changes, "data.limit=10000")
	}
	return append(changes, "data.limit=12000")
}

// changes turn the experiment file into this setting.
func (s setting004) changes(b *Bench) []string {
	clients := Pick(b, 20.0, 100.0)
	changes := []string{
		fmt.Sprintf("cohort.expected_size=%g", s.part*clients), fmt.Sprintf("algorithm.local.batch=%d", s.batch), fmt.Sprintf("algorithm.local.steps=%d", s.steps),
	}
	if s.sigma > 0 {
		changes = append(changes, fmt.Sprintf("privacy.mechanism.noise_multiplier=%g", s.sigma))
	}
	if b.Scale == Fast {
		changes = append(changes, s.smaller()...)
	}
	return changes
}

// run runs a setting until the accuracy is reached, or for half as many rounds again as the paper needed.
func (s setting004) run(b *Bench, more ...string) (experiment.Result, []experiment.Metrics, error) {
	most := s.rounds * 3 / 2
	if b.Scale == Fast {
		most = min(most, Pick(b, 60, 0))
	}
	changes := append(s.changes(b), fmt.Sprintf("rounds=%d", most))
	variants, results, err := b.Runs(s.data, append(changes, more...)...)
	if err != nil {
		return experiment.Result{}, nil, err
	}
	lines, err := b.Store.Metrics(variants[0].Config)
	return results[0], lines, err
}

// price says what a number of rounds costs: the central limit's mu of the paper's Theorem 2 with its fixed batches, and the exact epsilon
// of what is really run, Poisson batches and removal of a record.
func (s setting004) price(rounds int) (mu, epsilon float64, err error) {
	rate := float64(s.batch) / float64(s.records())
	if mu, err = (fdp.Sampled{Mu: 1 / s.sigma, Rate: rate}).LimitMu(s.steps * rounds); err != nil {
		return 0, 0, err
	}
	bound, err := accountant.Epsilon(accountant.About{Event: accountant.Repeat{Count: s.steps * rounds,
		Event: accountant.Poisson{Rate: rate, Event: accountant.Gaussian{NoiseMultiplier: s.sigma}}}}, 1e-5, accountant.Best)
	return mu, bound.Epsilon, err
}

const goal004 = "90% on MNIST, 52% on CIFAR-10"

// roundsTable runs settings and puts rounds, mu, epsilon and accuracies beside the paper's.
func roundsTable(b *Bench, title string, settings []setting004) (Outcome, error) {
	rounds := Table{Title: title + ": rounds until the mean accuracy of the personal models reaches its goal (" + goal004 + ")", Columns: []string{"p", "sigma", "B", "K"}, Unit: "rounds"}
	prices := Table{Title: "mu of Theorem 2 at the paper's rounds, by our accountant; and at ours, with the exact epsilon at delta 1e-5", Columns: []string{"p", "sigma", "B", "K"}, Unit: "mu"}
	plain := Table{Title: "accuracy without privacy, as many rounds as with it", Columns: []string{"p"}, Unit: "%"}
	out := Outcome{Notes: notes004(b)}
	seen := map[float64]bool{}
	for _, s := range settings {
		result, _, err := s.run(b)
		if err != nil {
			return Outcome{}, err
		}
		cells := []string{trim(s.part), trim(s.sigma), fmt.Sprint(s.batch), fmt.Sprint(s.steps)}
		row := Row{Settings: cells, Paper: Value(float64(s.rounds)), Runs: 1}
		reached := result.Personal != nil && result.Personal.Own >= goalOf(s)
		if reached {
			row.Ours = Value(float64(result.Rounds))
		} else {
			row.Note = fmt.Sprintf("not reached in %d rounds: %.2f%%", result.Rounds, 100*result.Personal.Own)
		}
		rounds.Rows = append(rounds.Rows, row)
		theirs, exact, err := s.price(s.rounds)
		if err != nil {
			return Outcome{}, err
		}
		ours, spent, err := s.price(result.Rounds)
		if err != nil {
			return Outcome{}, err
		}
		prices.Rows = append(prices.Rows,
			Row{Settings: cells, Paper: Value(s.mu()), Ours: Value(theirs), Note: fmt.Sprintf("after %d rounds, the paper's; exact epsilon %.2f", s.rounds, exact)},
			Row{Settings: cells, Ours: Value(ours), Note: fmt.Sprintf("after %d rounds, ours; exact epsilon %.2f", result.Rounds, spent)})
		if s.part == 1 && s.sigma == 1 && b.Scale == Full {
			out.Checks = append(out.Checks, Check{States: "p = 1, sigma = 1: rounds within 30% of the paper's", Holds: reached && within(float64(result.Rounds), float64(s.rounds), 0.3),
				Seen: fmt.Sprintf("%d, the paper %d", result.Rounds, s.rounds)})
		}
		if s.plain > 0 && !seen[s.part] {
			seen[s.part] = true
			_, results, err := b.Runs(s.data+"-plain", append(s.changes(b)[:3:3], plainChanges(b, s, result.Rounds)...)...)
			if err != nil {
				return Outcome{}, err
			}
			plain.Rows = append(plain.Rows, Row{Settings: []string{trim(s.part)}, Paper: Value(s.plain), Ours: Value(100 * results[0].Personal.Own), Runs: 1})
		}
	}
	out.Tables = []Table{rounds, prices}
	if len(plain.Rows) > 0 {
		out.Tables = append(out.Tables, plain)
	}
	return out, nil
}

func plainChanges(b *Bench, s setting004, rounds int) []string {
	changes := []string{fmt.Sprintf("rounds=%d", rounds), fmt.Sprintf("evaluate_every=%d", rounds)}
	if b.Scale == Fast {
		changes = append(changes, s.smaller()...)
	}
	return changes
}

func goalOf(s setting004) float64 {
	if s.data == "cifar" {
		return 0.52
	}
	return 0.9
}

func within(x, of, part float64) bool { return x >= of*(1-part) && x <= of*(1+part) }

// mu is what the paper prints for a setting.
func (s setting004) mu() float64 {
	for _, p := range printedMu {
		if p.data == s.data && p.rounds == s.rounds && p.batch == s.batch {
			return p.mu
		}
	}
	return 0
}

var printedMu = []struct {
	data          string
	batch, rounds int
	mu            float64
}{
	{"mnist", 16, 93, 2.71}, {"mnist", 16, 83, 3.10}, {"mnist", 16, 64, 3.96}, {"mnist", 16, 194, 3.92}, {"mnist", 16, 176, 4.51}, {"mnist", 16, 127, 5.58},
	{"mnist", 16, 386, 5.52}, {"mnist", 16, 325, 6.13}, {"mnist", 16, 245, 7.75}, {"mnist", 8, 266, 3.24}, {"mnist", 8, 229, 3.64}, {"mnist", 8, 191, 4.84},
	{"cifar", 16, 468, 6.70}, {"cifar", 16, 321, 9.77}, {"cifar", 16, 207, 26.81}, {"cifar", 16, 904, 9.31}, {"cifar", 16, 671, 14.13}, {"cifar", 16, 405, 37.51},
}

var table1of004 = []setting004{
	{"mnist", 1, 1, 16, 38, 93, 90.03, 98.74}, {"mnist", 1, 0.9, 16, 38, 83, 90.25, 98.72}, {"mnist", 1, 0.75, 16, 38, 64, 90.10, 98.55},
	{"mnist", 0.5, 1, 16, 38, 194, 90.02, 98.90}, {"mnist", 0.5, 0.9, 16, 38, 176, 90.02, 98.83}, {"mnist", 0.5, 0.75, 16, 38, 127, 90.11, 98.54},
	{"mnist", 0.25, 1, 16, 38, 386, 90.00, 98.75}, {"mnist", 0.25, 0.9, 16, 38, 325, 90.00, 98.75}, {"mnist", 0.25, 0.75, 16, 38, 245, 90.04, 98.55},
}

var table3of004 = []setting004{
	{"cifar", 1, 1, 16, 32, 468, 52.03, 64.72}, {"cifar", 1, 0.75, 16, 32, 321, 52.22, 62.55}, {"cifar", 1, 0.5, 16, 32, 207, 52.23, 59.61},
	{"cifar", 0.5, 1, 16, 32, 904, 52.07, 64.65}, {"cifar", 0.5, 0.75, 16, 32, 671, 52.04, 62.53}, {"cifar", 0.5, 0.5, 16, 32, 405, 52.01, 59.85},
}

func rounds004Table1(b *Bench) (Outcome, error) {
	return roundsTable(b, "Table 1", Pick(b, table1of004[:1], table1of004))
}

func rounds004Table2(b *Bench) (Outcome, error) {
	all := []setting004{
		{"mnist", 0.5, 1, 8, 76, 266, 90, 0}, {"mnist", 0.5, 1, 16, 38, 194, 90, 0}, {"mnist", 0.5, 0.9, 8, 76, 229, 90, 0},
		{"mnist", 0.5, 0.9, 16, 38, 176, 90, 0}, {"mnist", 0.5, 0.75, 8, 76, 191, 90, 0}, {"mnist", 0.5, 0.75, 16, 38, 127, 90, 0},
	}
	return roundsTable(b, "Table 2", Pick(b, all[4:], all))
}

func rounds004Table3(b *Bench) (Outcome, error) {
	return roundsTable(b, "Table 3", Pick(b, table3of004[2:3], table3of004))
}

// notes004 says what is special about these runs.
func notes004(b *Bench) []string {
	notes := []string{
		"Accuracies of personal models are measured at the clients, on test records with labels that each has seen. They are for research: no noise hides them.",
		"Batches are drawn by Poisson sampling, which the exact epsilon is for; mu is the paper's formula for batches of a fixed size, and not a bound.",
		"Each client keeps the memory of its Adam from round to round; the paper does not say.",
	}
	if b.Scale == Fast {
		notes = append(notes, "Fast: 20 clients instead of 100, a smaller network (8 and 16 filters, 32 units), at most 60 rounds, one seed.")
	}
	return notes
}

// curves draws the personal and the global accuracy of runs over the rounds.
func curves(b *Bench, file, title string, settings []setting004, name func(setting004) string, global bool) (Outcome, error) {
	picture := chart.Line{Title: title, XLabel: "round", YLabel: "mean test accuracy of the clients, %"}
	table := Table{Title: title + ": accuracy at the end", Columns: []string{"run", "model"}, Unit: "%"}
	out := Outcome{Notes: notes004(b)}
	for _, s := range settings {
		_, lines, err := s.run(b, "stop_at=0")
		if err != nil {
			return Outcome{}, err
		}
		own, shared := chart.Series{Name: name(s) + ", personal"}, chart.Series{Name: name(s) + ", global"}
		for _, m := range lines {
			if m.Personal != nil {
				own.X, own.Y = append(own.X, float64(m.Round)), append(own.Y, 100*m.Personal.Own)
				shared.X, shared.Y = append(shared.X, float64(m.Round)), append(shared.Y, 100*m.Personal.Global)
			}
		}
		last := len(own.Y) - 1
		table.Rows = append(table.Rows, Row{Settings: []string{name(s), "personal"}, Ours: Value(own.Y[last]), Runs: 1})
		picture.Series = append(picture.Series, own)
		if global {
			table.Rows = append(table.Rows, Row{Settings: []string{name(s), "global"}, Ours: Value(shared.Y[last]), Runs: 1})
			picture.Series = append(picture.Series, shared)
			out.Checks = append(out.Checks, Check{States: name(s) + ": personal models beat the global one", Holds: own.Y[last] > shared.Y[last],
				Seen: fmt.Sprintf("%.2f%% and %.2f%%", own.Y[last], shared.Y[last])})
		}
	}
	out.Tables, out.Figures = []Table{table}, []Figure{{Name: file, Caption: title, Drawing: picture}}
	return out, nil
}

func bySigma(s setting004) string { return "sigma " + trim(s.sigma) }

func personalFigure(b *Bench) (Outcome, error) {
	return curves(b, "figure-1", "MNIST, p = 0.5", []setting004{table1of004[5], table1of004[3]}, bySigma, true)
}

func batchFigure(b *Bench) (Outcome, error) {
	settings := []setting004{{"mnist", 0.5, 0.75, 8, 76, 191, 90, 0}, {"mnist", 0.5, 0.75, 16, 38, 127, 90, 0}}
	return curves(b, "figure-2", "MNIST, p = 0.5, sigma 0.75", settings, func(s setting004) string { return fmt.Sprintf("B = %d", s.batch) }, false)
}

func cifarFigure(b *Bench) (Outcome, error) {
	return curves(b, "figure-3", "CIFAR-10, p = 0.5", Pick(b, table3of004[5:], table3of004[3:]), bySigma, true)
}

func samplingFigure(b *Bench) (Outcome, error) {
	return curves(b, "figure-5", "MNIST, sigma 0.75", []setting004{table1of004[2], table1of004[5], table1of004[8]}, func(s setting004) string { return "p = " + trim(s.part) }, false)
}

// tradeoffFigure draws C_p(G_mu) at p = 0.35, mu = 1.8.
func tradeoffFigure(*Bench) (Outcome, error) {
	f, err := fdp.Sampled{Mu: 1.8, Rate: 0.35}.Tradeoff()
	if err != nil {
		return Outcome{}, err
	}
	g, err := fdp.Gaussian(1.8)
	if err != nil {
		return Outcome{}, err
	}
	sampled, whole := chart.Series{Name: "C_0.35(G_1.8)"}, chart.Series{Name: "G_1.8"}
	table := Table{Title: "the trade-off function", Columns: []string{"alpha"}, Unit: "beta"}
	for i := range 101 {
		alpha := float64(i) / 100
		beta, err := fdp.Beta(f, alpha)
		if err != nil {
			return Outcome{}, err
		}
		all, err := fdp.Beta(g, alpha)
		if err != nil {
			return Outcome{}, err
		}
		sampled.X, sampled.Y = append(sampled.X, alpha), append(sampled.Y, beta)
		whole.X, whole.Y = append(whole.X, alpha), append(whole.Y, all)
		if i == 5 || i == 50 || i == 90 {
			table.Rows = append(table.Rows, Row{Settings: []string{trim(alpha)}, Ours: Value(beta), Note: "read off a picture in the paper"})
		}
	}
	picture := chart.Line{Title: "Trade-off functions", XLabel: "type I error", YLabel: "type II error", Series: []chart.Series{sampled, whole}}
	return Outcome{Tables: []Table{table}, Figures: []Figure{{Name: "figure-4", Caption: picture.Title, Drawing: picture}}}, nil
}

// labelsFigure draws the labels of ten clients, and the accuracy over the rounds with all clients.
func labelsFigure(b *Bench) (Outcome, error) {
	out, err := curves(b, "figure-6b", "CIFAR-10, p = 1", Pick(b, table3of004[2:3], table3of004[:3]), bySigma, true)
	if err != nil {
		return Outcome{}, err
	}
	s := table3of004[2]
	counts, err := b.Labels(s.data, s.changes(b)...)
	if err != nil {
		return Outcome{}, err
	}
	bars := chart.Bars{Title: "Labels of ten clients", XLabel: "client", YLabel: "records"}
	for label := range len(counts[0]) {
		g := chart.Group{Name: fmt.Sprintf("label %d", label)}
		for c := range 10 {
			g.Values = append(g.Values, float64(counts[c][label]))
		}
		bars.Groups = append(bars.Groups, g)
	}
	for c := range 10 {
		bars.Categories = append(bars.Categories, fmt.Sprint(c))
	}
	out.Figures = append(out.Figures, Figure{Name: "figure-6a", Caption: bars.Title, Drawing: bars})
	return out, nil
}
