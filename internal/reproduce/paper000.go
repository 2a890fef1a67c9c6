package reproduce

import (
	"fmt"
	"strings"
	"time"

	"hubbub/accountant"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
	"hubbub/mechanism/waterfill"
	"hubbub/statement"
)

// paper000 is water-filling: differential privacy from the sampling of gradients.
func paper000() Paper {
	return Paper{ID: "000", Title: "Differentially private federated learning without noise addition: when is it possible? (water-filling)", Items: []Item{
		{"table 1", "epsilon of one round, as printed and as corrected", tableOne000, 0},
		{"figure 3", "secure aggregation without noise: gradients outside the span of the others", counterexample000, time.Minute},
		{"section 4", "smallest eigenvalue round by round, and the bound of Theorem 3 in a subspace found by PCA", subspace000, 30 * time.Minute},
		{"figure 4", "eigenvalues of real gradients before and after water-filling", eigenvalues000, 10 * time.Minute},
		{"figure 5", "accuracy on MNIST over epsilon: a linear model and a convolutional network", accuracy000, 40 * time.Hour},
		{"section 6", "FedAvg: updates of groups of records in the place of gradients", updates000, 20 * time.Minute},
	}}
}

// methods000 are the rivals of section 5.3, best first by the paper.
var methods000 = []struct {
	method waterfill.Method
	name   string
}{{waterfill.GDDP, "GD-DP"}, {waterfill.GSGDDP, "GSGD-DP"}, {waterfill.SGDDP, "SGD-DP"}}

const (
	clients000 = 50
	clip000    = 10
	delta000   = 1e-4
)

// epsilons000 are those of the full setting: the paper's text does not say which ones its figure has.
var epsilons000 = []float64{0.5, 1, 2, 4, 8}

// setting000 is the size of an experiment. B/D is the paper's 32/1200 in both: it decides how much sampling hides.
type setting000 struct {
	records int // D, of each client
	batch   int // B
	rounds  int
}

func (b *Bench) setting000() setting000 {
	return Pick(b, setting000{records: 150, batch: 4, rounds: 25}, setting000{records: 1200, batch: 32, rounds: 100})
}

// config is the mechanism of a method in this setting.
func (s setting000) config(method waterfill.Method, dimension int, variance float64) waterfill.Config {
	c := waterfill.Config{Method: method, Clients: clients000, Records: s.records, Dimension: dimension, Clip: clip000, Variance: variance}
	if method != waterfill.GDDP {
		c.Batch = float64(s.batch)
	}
	return c
}

// changes turn an experiment file into this setting with a method. A variance of 0 leaves the noise to our accountant.
func (s setting000) changes(b *Bench, method waterfill.Method, epsilon, variance float64) []string {
	mechanism := fmt.Sprintf("kind: waterfill, method: %s, clip: %d", method, clip000)
	if method != waterfill.GDDP {
		mechanism += fmt.Sprintf(", batch: %d", s.batch)
	}
	privacy := fmt.Sprintf("privacy={unit: record, mechanism: {%s}, target: {epsilon: %g, delta: %g, against: server}}", mechanism, epsilon, delta000)
	if variance > 0 {
		privacy = fmt.Sprintf("privacy={unit: record, delta: %g, mechanism: {%s, variance: %g}}", delta000, mechanism, variance)
	}
	return []string{
		privacy, fmt.Sprintf("data.limit=%d", clients000*s.records), fmt.Sprintf("rounds=%d", s.rounds), fmt.Sprintf("evaluate_every=%d", s.rounds),
		"sweep={seed: " + Pick(b, "[1, 2]", "[1, 2, 3]") + "}",
	}
}

func notes000(b *Bench) []string {
	notes := []string{
		"The paper's figure has no numbers, and its text no learning rate and no network. An epoch is taken to be a round: in one, GD-DP and GSGD-DP use every record once.",
		"By our accountant: noise calibrated with the corrected bounds, composed as Renyi divergences, and for SGD-DP exactly. By the paper: Table 1 as printed for one round, then the composition theorem that the paper cites (Kairouz, Oh and Viswanath, Theorem 3.4), which is far looser.",
	}
	if b.Scale == Fast {
		s := b.setting000()
		notes = append(notes, fmt.Sprintf("Fast: %d records a client instead of 1,200 and batches of %d instead of 32, so that B/D is the same; %d rounds instead of 100; two seeds. The network: 75 records and batches of 2, at epsilon 4 by our accountant only.", s.records, s.batch, s.rounds))
	}
	return notes
}

// accuracy000 is Figure 5.
func accuracy000(b *Bench) (Outcome, error) {
	out := Outcome{Notes: notes000(b)}
	for _, panel := range []struct {
		letter, file, name string
		dimension          int
		setting            setting000
		ours, printed      []float64 // epsilons, by each composition
	}{
		{"a", "linear", "linear model", 7850, b.setting000(), Pick(b, []float64{1, 4}, epsilons000), Pick(b, []float64{4}, epsilons000)},
		{"b", "cnn", "convolutional network", 5994, Pick(b, setting000{records: 75, batch: 2, rounds: 25}, b.setting000()), Pick(b, []float64{4}, epsilons000), Pick(b, nil, epsilons000)},
	} {
		picture := chart.Line{Title: "MNIST, " + panel.name + ", 50 clients", XLabel: "epsilon at delta 1e-4", YLabel: "test accuracy, %", XLog: true}
		table := Table{Title: fmt.Sprintf("(%s) %s", panel.letter, panel.name), Columns: []string{"composition", "mechanism", "epsilon"}, Unit: "%"}
		for _, by := range []struct {
			accounting string
			epsilons   []float64
		}{{"ours", panel.ours}, {"the paper's", panel.printed}} {
			accounting, epsilons := by.accounting, by.epsilons
			if len(epsilons) == 0 {
				continue
			}
			at := map[waterfill.Method][]experiment.Tally{}
			for _, m := range methods000 {
				series := chart.Series{Name: m.name + ", " + accounting}
				for _, epsilon := range epsilons {
					variance := 0.0
					if accounting != "ours" {
						var err error
						if variance, err = panel.setting.printedVariance(m.method, panel.dimension, epsilon); err != nil {
							return Outcome{}, err
						}
					}
					tallies, err := b.Sweep(panel.file, panel.setting.changes(b, m.method, epsilon, variance)...)
					if err != nil {
						return Outcome{}, err
					}
					t := tallies[0]
					at[m.method] = append(at[m.method], t)
					row := accuracyRow([]string{accounting, m.name, trim(epsilon)}, nil, t)
					row.Note = strings.TrimPrefix(row.Note+"; "+noise000(t.Results[0]), "; ")
					table.Rows = append(table.Rows, row)
					addPoint(&series, epsilon, points(t), 100*t.Error)
				}
				picture.Series = append(picture.Series, series)
			}
			for i, epsilon := range epsilons {
				say := func(who string) string {
					return fmt.Sprintf("%s, epsilon %g, composition %s: %s", panel.name, epsilon, accounting, who)
				}
				gd, gsgd, sgd := at[waterfill.GDDP][i], at[waterfill.GSGDDP][i], at[waterfill.SGDDP][i]
				out.Checks = append(out.Checks, ahead(say("GD-DP is ahead of GSGD-DP"), gd, gsgd, 0), ahead(say("GSGD-DP is ahead of SGD-DP"), gsgd, sgd, 0))
			}
		}
		out.Tables = append(out.Tables, table)
		if len(panel.ours) > 1 {
			out.Figures = append(out.Figures, Figure{Name: "figure-5" + panel.letter, Caption: picture.Title, Drawing: picture})
			continue
		}
		bars := chart.Bars{Title: fmt.Sprintf("%s, epsilon %g", picture.Title, panel.ours[0]), XLabel: "mechanism", YLabel: picture.YLabel}
		group := chart.Group{Name: "composition ours"}
		for _, s := range picture.Series {
			bars.Categories, group.Values = append(bars.Categories, strings.TrimSuffix(s.Name, ", ours")), append(group.Values, s.Y[0])
		}
		bars.Groups = []chart.Group{group}
		out.Figures = append(out.Figures, Figure{Name: "figure-5" + panel.letter, Caption: bars.Title, Drawing: bars})
	}
	return out, nil
}

// noise000 says how much noise a run had, and what it truly costs.
func noise000(r experiment.Result) string {
	text := fmt.Sprintf("variance %.3g", r.Noise["variance"])
	if row, ok := r.EpsilonAgainst(statement.Server, accountant.Record); ok && row.Epsilon != nil {
		text += fmt.Sprintf(", true epsilon %.2f", *row.Epsilon)
	}
	return text
}

// updates000 is section 6: local training in the place of gradients.
func updates000(b *Bench) (Outcome, error) {
	const epsilon, groups, batch = 4, 60, 2
	out := Outcome{Notes: []string{
		"The paper says that its theorems carry over when the way an update is made changes, and gives no algorithm. Here a client trains on its records in 60 groups and mixes the groups' updates: a record is in one group, so one row of the matrix changes by twice the clip at most, and Theorem 4 holds with the groups in the place of records.",
		"The price: a client's mean moves by 2C over the number of groups, not over the number of records.",
	}}
	if b.Scale == Fast {
		out.Notes = append(out.Notes, "Fast: 300 records a client instead of 1,200, two seeds.")
	}
	table := Table{Title: "FedAvg with a linear model on MNIST, 50 clients, 25 rounds, epsilon 4 by our accountant", Columns: []string{"mechanism"}, Unit: "%"}
	at := map[waterfill.Method]experiment.Tally{}
	bars := chart.Bars{Title: "FedAvg, linear model, epsilon 4", XLabel: "mechanism", YLabel: "test accuracy, %"}
	group := chart.Group{Name: "updates of 60 groups"}
	for _, m := range methods000 {
		mechanism := fmt.Sprintf("kind: waterfill, method: %s, groups: %d, clip: 1", m.method, groups)
		if m.method != waterfill.GDDP {
			mechanism += fmt.Sprintf(", batch: %d", batch)
		}
		tallies, err := b.Sweep("fedavg", "privacy.mechanism={"+mechanism+"}", fmt.Sprintf("privacy.target.epsilon=%d", epsilon), fmt.Sprintf("data.limit=%d", clients000*Pick(b, 300, 1200)),
			"sweep={seed: "+Pick(b, "[1, 2]", "[1, 2, 3]")+"}")
		if err != nil {
			return Outcome{}, err
		}
		at[m.method] = tallies[0]
		row := accuracyRow([]string{m.name}, nil, tallies[0])
		row.Note = strings.TrimPrefix(row.Note+"; "+noise000(tallies[0].Results[0]), "; ")
		table.Rows = append(table.Rows, row)
		bars.Categories, group.Values = append(bars.Categories, m.name), append(group.Values, points(tallies[0]))
	}
	bars.Groups = []chart.Group{group}
	out.Tables = []Table{table}
	out.Figures = []Figure{{Name: "section-6", Caption: bars.Title, Drawing: bars}}
	out.Checks = []Check{
		ahead("FedAvg: GD-DP is ahead of GSGD-DP", at[waterfill.GDDP], at[waterfill.GSGDDP], 0),
		ahead("FedAvg: GSGD-DP is ahead of SGD-DP", at[waterfill.GSGDDP], at[waterfill.SGDDP], 0),
	}
	return out, nil
}
