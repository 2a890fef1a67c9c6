package reproduce

import (
	"fmt"
	"time"

	"hubbub/internal/chart"
	"hubbub/internal/experiment"
	"hubbub/mechanism/adaptive"
)

// paper003 is the adaptive noise mechanism.
func paper003() Paper {
	return Paper{ID: "003", Title: "Differentially private federated learning with an adaptive noise mechanism", Items: []Item{
		{"table 2", "the four optimizers under each reading of the noise scale, epsilon 0.5", readings003, 7 * time.Hour},
		{"figure 2", "weights of a client, trained and cut to their intervals", boxes003, 4 * time.Hour},
		{"figure 3", "accuracy over rounds, four optimizers and three budgets", budgets003, 108 * time.Hour},
		{"figure 4", "accuracy lost to the noise on three data sets; the rivals, each with what it really guarantees", losses003, 45 * time.Hour},
		{"figure 5", "accuracy over clients, noise level, participation and truncation", sweeps003, 56 * time.Hour},
		{"theorem 1", "the guarantee: attacks on the printed scheme, Algorithm 4, and the sound variant at epsilon 8", guarantee003, 10 * time.Minute},
	}}
}

// optimizer003 is a row of Table II with the paper's settings, the rate that our small network of the fast scale needs, and what section VI
// reports of it.
type optimizer003 struct {
	name, kind     string
	rate, fastRate float64
	tau            string
	accuracy       float64 // Figure 3a, epsilon 0.5
	lost           [3]float64
}

var optimizers003 = []optimizer003{
	{"SGD", "sgd", 0.01, 0.1, "", 87.58, [3]float64{3.29, 3.8, 3.17}},
	{"Momentum", "momentum", 0.01, 0.1, "", 90.45, [3]float64{2.38, 3.46, 2.96}},
	{"Adam", "adam", 0.001, 0.003, "1e-7", 94.98, [3]float64{1.71, 1.97, 1.51}},
	{"RMSprop", "rmsprop", 0.001, 0.003, "3e-4", 96.85, [3]float64{0.39, 1.67, 1.03}}, // the paper's 1e-7 is under the root
}

// local is the training of a client: K steps in batches of so many records.
func (o optimizer003) local(b *Bench, steps, batch int) string {
	tau := ""
	if o.tau != "" {
		tau = ", tau: " + o.tau
	}
	return fmt.Sprintf("algorithm.local={kind: %s, lr: %g%s, batch: %d, steps: %d}", o.kind, Pick(b, o.fastRate, o.rate), tau, batch, steps)
}

// changes003 are what the scale changes in an experiment of this paper, with so many seeds.
func changes003(b *Bench, seeds int, more ...string) []string {
	list := "sweep={seed: ["
	for s := range Pick(b, seeds, 10) {
		list += fmt.Sprintf("%d, ", s+1)
	}
	changes := append([]string{list + "]}"}, more...)
	if b.Scale == Fast {
		changes = append(changes, "model={kind: mlp, hidden: [32]}")
	}
	return changes
}

// notes003 say what the scale changes everywhere.
func notes003(b *Bench, more ...string) []string {
	notes := []string{"Batches: the paper does not give their size. Here K of them are one pass over a client's records, where nothing else is said."}
	if b.Scale == Fast {
		notes = append(notes, "Fast: a network with one hidden layer of 32 instead of two convolutions, with learning rates of 0.1 (SGD, Momentum) and 0.003 (Adam, RMSprop) instead of 0.01 and 0.001, which leave it half trained after 7 rounds even without noise; and few seeds instead of ten.")
	}
	return append(notes, more...)
}

// readings003 runs the paper's setting at epsilon 0.5 under each reading of the noise scale.
func readings003(b *Bench) (Outcome, error) {
	table := Table{Title: "accuracy after the 7 rounds that Algorithm 4 allows (K = 16, sigma0 = 26), by what stands for √M in σ = √M·σ0·Δ", Columns: []string{"optimizer", "reading"}, Unit: "%"}
	out := Outcome{Notes: notes003(b,
		"As printed, M is the number of weights. Then the mean of 50 uploads has noise hundreds of times as large as the weights, the next round sizes its noise by these, and no run survives a few rounds. With M the number of tensors, or 1, it takes a round or two more.",
		"Of these readings one gives the paper's accuracies: the noise is divided by the number of records in a batch, as if Δ were the range of a mean. It also explains section VI.C, by which smaller batches need more noise; no formula of the paper says so. In the mean of 50 uploads it is 5% of a weight, and costs about a point.",
	)}
	at := map[string]experiment.Tally{}
	for _, o := range optimizers003 {
		for _, r := range []struct{ key, words string }{{"weights", "M weights, as printed"}, {"tensors", "M tensors"}, {"one", "M = 1"}, {"batch", "M = 1, over the batch"}} {
			seeds := 1
			if r.key == "batch" {
				seeds = 3
			}
			tallies, err := b.Sweep("printed", changes003(b, seeds, o.local(b, 16, 75), "privacy.mechanism.reading="+r.key)...)
			if err != nil {
				return Outcome{}, err
			}
			t := tallies[0]
			at[o.name+" "+r.key] = t
			table.Rows = append(table.Rows, accuracyRow([]string{o.name, r.words}, Value(o.accuracy), t))
		}
		tallies, err := b.Sweep("plain", changes003(b, 3, o.local(b, 16, 75))...)
		if err != nil {
			return Outcome{}, err
		}
		table.Rows = append(table.Rows, accuracyRow([]string{o.name, "no noise"}, nil, tallies[0]))
		found := at[o.name+" batch"]
		out.Checks = append(out.Checks,
			Check{States: o.name + ": as printed, every run is lost", Holds: at[o.name+" weights"].Diverged == at[o.name+" weights"].Seeds,
				Seen: fmt.Sprintf("%d of %d", at[o.name+" weights"].Diverged, at[o.name+" weights"].Seeds)},
			Check{States: o.name + ": over the batch, none is, and the accuracy is within 7 points of the paper's", Holds: found.Diverged == 0 && abs(points(found)-o.accuracy) <= 7,
				Seen: fmt.Sprintf("%.2f%%, the paper has %.2f%%", points(found), o.accuracy)})
	}
	out.Tables = []Table{table}
	return out, nil
}

func abs(x float64) float64 { return max(x, -x) }

// boxes003 looks into a client: what it trained, and what is left of it when it is cut to its intervals.
func boxes003(b *Bench) (Outcome, error) {
	rounds, every := Pick(b, 21, 101), 10
	out := Outcome{Notes: notes003(b, "The client is the first of 50, epsilon 2. Whiskers reach the farthest weight within one and a half boxes, as Tukey draws them.")}
	table := Table{Title: "how far the middle half of the weights reaches after the cut, over how far it reached before", Columns: []string{"optimizer", "round"}, Unit: "%"}
	for i, o := range optimizers003 {
		variants, err := b.variants("printed", append(changes003(b, 1, o.local(b, 16, 75)), fmt.Sprintf("rounds=%d", rounds), "privacy.mechanism.budget={epsilon: 2, delta: 1e-5}"))
		if err != nil {
			return Outcome{}, err
		}
		f, err := b.Store.Prepare(variants[0].Config)
		if err != nil {
			return Outcome{}, err
		}
		began := time.Now()
		cuts, err := f.Cuts(b.Context, 0, every)
		if err != nil {
			return Outcome{}, err
		}
		b.Trained += time.Since(began)
		b.Say("  %s: %d rounds looked at", o.name, len(cuts))
		picture := chart.Boxes{Title: o.name + ": weights of a client before and after the cut", XLabel: "round", YLabel: "weight", Groups: []chart.BoxGroup{{Name: "original value"}, {Name: "estimation"}}}
		least := 1.0
		for _, c := range cuts {
			picture.Categories = append(picture.Categories, fmt.Sprint(c.Round))
			var boxes [2]chart.Box
			for g, weights := range [][]float32{c.Trained, c.Truncated} {
				if boxes[g], err = chart.BoxOf(wide(weights)); err != nil {
					return Outcome{}, err
				}
				picture.Groups[g].Boxes = append(picture.Groups[g].Boxes, boxes[g])
			}
			part := (boxes[1].Q3 - boxes[1].Q1) / (boxes[0].Q3 - boxes[0].Q1)
			least = min(least, part)
			table.Rows = append(table.Rows, Row{Settings: []string{o.name, fmt.Sprint(c.Round)}, Ours: Value(100 * part), Runs: 1})
		}
		out.Figures = append(out.Figures, Figure{Name: fmt.Sprintf("figure-2%c", 'a'+i), Caption: picture.Title, Drawing: picture})
		out.Checks = append(out.Checks, Check{States: o.name + ": the cut weights follow the trained ones (their middle half is at least 90% as wide)", Holds: least >= 0.9, Seen: fmt.Sprintf("%.1f%% at the least", 100*least)})
	}
	out.Tables = []Table{table}
	return out, nil
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// budget003 is one of the paper's three: σ0 and how many rounds Algorithm 4 allows with it.
type budget003 struct{ epsilon, noise float64 }

var budgets = []budget003{{0.5, 26}, {2, 26}, {8, 10}}

func (g budget003) algorithm4() (*adaptive.Budget, error) {
	return adaptive.NewBudget(g.epsilon, 1e-5, g.noise)
}

// rounds is what the budget allows, or fewer on the fast scale.
func (g budget003) rounds(b *Bench, most int) (int, error) {
	a, err := g.algorithm4()
	if err != nil {
		return 0, err
	}
	return min(a.Contributions(), Pick(b, most, a.Contributions())), nil
}

func (g budget003) mechanism() string {
	return fmt.Sprintf("privacy.mechanism={kind: adaptive, sigma0: %g, beta: 1.1, reading: batch, budget: {epsilon: %g, delta: 1e-5}}", g.noise, g.epsilon)
}

// budgets003 draws accuracy over rounds for each budget.
func budgets003(b *Bench) (Outcome, error) {
	out := Outcome{Notes: notes003(b, "The budget is asked before a round, so that 7, 108 and 208 of them fit; the loop as printed would run one more. δ is what Algorithm 4 claims: the printed scheme has no guarantee.")}
	if b.Scale == Fast {
		out.Notes = append(out.Notes, "Fast: at most 20 rounds at epsilon 2 and 8.")
	}
	table := Table{Title: "accuracy when the budget is spent, or the fast scale ends", Columns: []string{"optimizer", "epsilon claimed", "rounds"}, Unit: "%"}
	at := map[string]experiment.Tally{}
	for i, g := range budgets {
		rounds, err := g.rounds(b, 20)
		if err != nil {
			return Outcome{}, err
		}
		picture := chart.Line{Title: fmt.Sprintf("MNIST, claimed epsilon %g, sigma0 %g", g.epsilon, g.noise), XLabel: "round", YLabel: "test accuracy, %"}
		for _, o := range optimizers003 {
			variants, results, err := b.Runs("printed", append(changes003(b, 2, o.local(b, 16, 75), g.mechanism()), fmt.Sprintf("rounds=%d", rounds))...)
			if err != nil {
				return Outcome{}, err
			}
			series := chart.Series{Name: o.name}
			if series.X, series.Y, err = meanOverSeeds(b, variants); err != nil {
				return Outcome{}, err
			}
			picture.Series = append(picture.Series, series)
			t := experiment.Tallies(variants, results)[0]
			at[fmt.Sprintf("%s %g", o.name, g.epsilon)] = t
			var paper *float64
			switch g.epsilon {
			case 0.5:
				paper = Value(o.accuracy)
			case 8:
				paper = Value(97) // "around 97%"
			}
			table.Rows = append(table.Rows, accuracyRow([]string{o.name, trim(g.epsilon), fmt.Sprint(rounds)}, paper, t))
		}
		out.Figures = append(out.Figures, Figure{Name: fmt.Sprintf("figure-3%c", 'a'+i), Caption: picture.Title, Drawing: picture})
	}
	spent, err := spentFigure003()
	if err != nil {
		return Outcome{}, err
	}
	out.Figures = append(out.Figures, spent)
	for _, o := range optimizers003 {
		half, two, eight := at[o.name+" 0.5"], at[o.name+" 2"], at[o.name+" 8"]
		out.Checks = append(out.Checks, ahead(o.name+": epsilon 2 is ahead of 0.5", two, half, 0), ahead(o.name+": epsilon 8 is not behind 2", eight, two, 0))
	}
	out.Checks = append(out.Checks, ahead("epsilon 0.5: Momentum is ahead of SGD", at["Momentum 0.5"], at["SGD 0.5"], 0), ahead("epsilon 0.5: Adam is ahead of SGD", at["Adam 0.5"], at["SGD 0.5"], 0),
		ahead("epsilon 0.5: RMSprop is ahead of SGD", at["RMSprop 0.5"], at["SGD 0.5"], 0))
	out.Tables = []Table{table}
	return out, nil
}

// meanOverSeeds is the mean accuracy after each round.
func meanOverSeeds(b *Bench, variants []experiment.Combination) (rounds, accuracy []float64, err error) {
	for _, v := range variants {
		lines, err := b.Store.Metrics(v.Config)
		if err != nil {
			return nil, nil, err
		}
		at := 0
		for _, l := range lines {
			if l.Accuracy == nil {
				continue
			}
			if at == len(rounds) {
				rounds, accuracy = append(rounds, float64(l.Round)), append(accuracy, 0)
			}
			accuracy[at] += 100 * *l.Accuracy / float64(len(variants))
			at++
		}
	}
	return rounds, accuracy, nil
}

// spentFigure003 is the pink line of Figure 3: δ by Algorithm 4.
func spentFigure003() (Figure, error) {
	picture := chart.Line{Title: "δ by Algorithm 4, as the paper claims", XLabel: "rounds", YLabel: "delta", YLog: true}
	for _, g := range budgets {
		a, err := g.algorithm4()
		if err != nil {
			return Figure{}, err
		}
		series := chart.Series{Name: fmt.Sprintf("epsilon %g, sigma0 %g", g.epsilon, g.noise)}
		for round := 1; round <= a.Contributions()+1; round++ {
			if delta := a.Spent(round); delta > 1e-20 {
				series.X, series.Y = append(series.X, float64(round)), append(series.Y, delta)
			}
		}
		picture.Series = append(picture.Series, series)
	}
	return Figure{Name: "figure-3d", Caption: picture.Title, Drawing: picture}, nil
}
