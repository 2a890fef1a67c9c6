package reproduce

import (
	"fmt"
	"math"

	"hubbub/audit/span"
	"hubbub/internal/chart"
	"hubbub/mechanism/waterfill"
)

// subspace000 is section 4.4 on real gradients: the smallest eigenvalues round by round, in subspaces that a principal component analysis of
// all clients' gradients finds, and the bound that Theorem 3 would then give.
func subspace000(b *Bench) (Outcome, error) {
	s := b.setting000()
	sizes := []int{5, 20, 50}
	rounds := Pick(b, []int{0, 5, 10, 15, 20, 25}, []int{0, 10, 25, 50, 75, 100})
	f, err := b.federation("linear", append(s.changes(b, waterfill.GDDP, 4, 0), "sweep=null")...)
	if err != nil {
		return Outcome{}, err
	}
	picture := chart.Line{Title: "Smallest eigenvalue, added up over 50 clients, linear model", XLabel: "round", YLabel: "sum of smallest eigenvalues", YLog: true}
	for _, k := range sizes {
		picture.Series = append(picture.Series, chart.Series{Name: fmt.Sprintf("%d dimensions", k)})
	}
	table := Table{Title: "Theorem 3 (equation 34) with measured eigenvalues, delta 1e-4, one round without noise", Columns: []string{"round", "dimensions of the subspace"}, Unit: "epsilon"}
	out := Outcome{Notes: []string{
		"Over all 7,850 weights the smallest eigenvalue is 0 in every round: a client has fewer records than the model has weights. Assumption 3 fails, and Theorem 2 gives nothing.",
		"The subspace is found from gradients of all clients, which no server under secure aggregation sees. Assumption 4 wants every gradient to lie in it; the note says what part of the squared norms does not. So these epsilons are what the formula gives, not guarantees: the true one is none.",
	}}
	leastOutside := 1.0
	next := 0
	err = f.Follow(b.Context, rounds[len(rounds)-1], func(round int, model []float32) error {
		if round != rounds[next] {
			return nil
		}
		next++
		pooled := firstRecords(f, 1000)
		rows, err := f.Gradients(model, pooled)
		if err != nil {
			return err
		}
		all, err := span.New(rows, len(pooled))
		if err != nil {
			return err
		}
		spaces := make([]*span.Subspace, len(sizes))
		for i, k := range sizes {
			if spaces[i], err = all.Principal(k); err != nil {
				return err
			}
		}
		total, outside := make([]float64, len(sizes)), make([]float64, len(sizes))
		for _, records := range f.Parts {
			if rows, err = f.Gradients(model, records); err != nil {
				return err
			}
			for i := range sizes {
				smallest, beyond, err := spaces[i].Smallest(rows, len(records))
				if err != nil {
					return err
				}
				total[i] += smallest
				outside[i] += beyond / float64(len(f.Parts))
			}
		}
		for i, k := range sizes {
			series := &picture.Series[i]
			series.X, series.Y = append(series.X, float64(round)), append(series.Y, total[i])
			leastOutside = min(leastOutside, outside[i])
			row := Row{Settings: []string{fmt.Sprint(round), fmt.Sprint(k)}, Runs: 1, Note: fmt.Sprintf("sum of smallest eigenvalues %.3g; %.1f%% of the squared norms lie outside", total[i], 100*outside[i])}
			if e := (span.Mix{Smallest: total[i], Records: s.records, Batch: float64(s.batch), Clip: clip000}).Epsilon(delta000); !math.IsInf(e, 1) {
				row.Ours = Value(e)
			} else {
				row.Note = "no order is left: no bound; " + row.Note
			}
			table.Rows = append(table.Rows, row)
		}
		b.Say("  smallest eigenvalues after round %d", round)
		return nil
	})
	if err != nil {
		return Outcome{}, err
	}
	out.Tables = []Table{table}
	out.Figures = []Figure{{Name: "section-4", Caption: picture.Title, Drawing: picture}}
	out.Checks = []Check{{States: "Assumption 4 fails: in every round and subspace, more than a hundredth of the squared norms of real gradients lies outside", Holds: leastOutside > .01,
		Seen: fmt.Sprintf("at least %.1f%%", 100*leastOutside)}}
	return out, nil
}

// eigenvalues000 is Figure 4 from real gradients.
func eigenvalues000(b *Bench) (Outcome, error) {
	s := b.setting000()
	out := Outcome{Notes: []string{
		"The covariance of one client's mix, its eigenvalues largest first, at the models before the first and after the last round; the level is the variance that GSGD-DP needs for epsilon 4 over all rounds, by our accountant.",
	}}
	f, err := b.federation("linear", append(s.changes(b, waterfill.GSGDDP, 4, 0), "sweep=null")...)
	if err != nil {
		return Outcome{}, err
	}
	level := f.Facts.Noise
	// The models are those of GD-DP, which costs less to follow: the picture is about gradients, not about the way to them.
	walk, err := b.federation("linear", append(s.changes(b, waterfill.GDDP, 4, 0), "sweep=null")...)
	if err != nil {
		return Outcome{}, err
	}
	table := Table{Title: fmt.Sprintf("noise that one client adds, its trace, at the level %.3g", level), Columns: []string{"round", "noise"}, Unit: "trace"}
	err = walk.Follow(b.Context, s.rounds, func(round int, model []float32) error {
		if round != 0 && round != s.rounds {
			return nil
		}
		rows, err := f.Gradients(model, f.Parts[0])
		if err != nil {
			return err
		}
		g, err := waterfill.NewGradients(rows, len(f.Parts[0]), clip000)
		if err != nil {
			return err
		}
		filling, err := waterfill.Fill(g, float64(s.batch), level)
		if err != nil {
			return err
		}
		sampled, filled := filling.Eigenvalues(), filling.Lifted()
		before, after, isotropic := chart.Series{Name: "sampling alone"}, chart.Series{Name: "water-filling"}, chart.Series{Name: "isotropic noise"}
		added, above, mix := 0.0, 0, 0.0
		for i, lifted := range filled {
			value := 0.0
			if i < len(sampled) {
				value = sampled[i]
			}
			mix += value
			added += lifted - value
			if value > level {
				above++
			}
			if shown := i < 200 || i%100 == 0; !shown {
				continue
			}
			x := float64(i + 1)
			if value > level*1e-4 { // what rounding leaves of a zero is not shown
				before.X, before.Y = append(before.X, x), append(before.Y, value)
			}
			after.X, after.Y = append(after.X, x), append(after.Y, lifted)
			isotropic.X, isotropic.Y = append(isotropic.X, x), append(isotropic.Y, value+level)
		}
		whole := level * float64(len(filled))
		table.Rows = append(table.Rows,
			Row{Settings: []string{fmt.Sprint(round), "water-filling"}, Ours: Value(added), Runs: 1, Note: fmt.Sprintf("%d of %d directions are above the level and get none", above, len(filled))},
			Row{Settings: []string{fmt.Sprint(round), "isotropic"}, Ours: Value(whole), Runs: 1},
			Row{Settings: []string{fmt.Sprint(round), "of sampling itself"}, Ours: Value(mix), Runs: 1})
		out.Checks = append(out.Checks,
			Check{States: fmt.Sprintf("round %d: no eigenvalue is below the level after water-filling", round), Holds: filled[len(filled)-1] >= level*(1-1e-12), Seen: fmt.Sprintf("%.6g, the level is %.6g", filled[len(filled)-1], level)},
			Check{States: fmt.Sprintf("round %d: water-filling adds less noise than isotropic noise", round), Holds: added < whole, Seen: fmt.Sprintf("%.4g and %.4g: %.2f%% less", added, whole, 100*(1-added/whole))})
		title := fmt.Sprintf("Eigenvalues of one client's update, after round %d", round)
		out.Figures = append(out.Figures, Figure{Name: fmt.Sprintf("figure-4%c", 'a'+len(out.Figures)), Caption: title,
			Drawing: chart.Line{Title: title, XLabel: "eigenvalue, by rank", YLabel: "variance", XLog: true, YLog: true, Series: []chart.Series{before, after, isotropic}}})
		return nil
	})
	out.Tables = []Table{table}
	return out, err
}
