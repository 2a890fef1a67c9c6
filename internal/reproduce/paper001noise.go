package reproduce

import (
	"fmt"

	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// noiseFigure attacks sums with our noise: integer noise under secure aggregation, calibrated to an epsilon.
func noiseFigure(b *Bench) (Outcome, error) {
	trials := Pick(b, 1000, 5000)
	o := experiment.LeakOptions{Samples: Pick(b, 5000, 25_000), Candidates: Pick(b, 500, 5000), Trials: trials}
	out := Outcome{Notes: []string{
		"Adult, 60 of 100 clients, updates clipped to 0.02 (about half of their usual norm, and less than the smallest), put on a grid and added up with Skellam noise for this epsilon at delta 1e-5, against the server. The attacker knows the noise and takes it into its covariance.",
		"The statement is about a client that sends its update or nothing, so that is attacked first. The paper's pair, two updates, differs by much less than the clip: the same noise hides it much better.",
		"\"If Gaussian\" assumes that the trade-off of the attack has the shape of a Gaussian's, which fills in tails that few trials reach; it is no proof.",
	}}
	if b.Scale == Fast {
		out.Notes = append(out.Notes, fmt.Sprintf("Fast: %d trials instead of 5,000, the covariance from 5,000 updates instead of 25,000, the worst from 500 instead of 5,000, one initial model; the paper's pair at two epsilons only.", trials))
	}
	table := Table{Title: "Adult, 60 clients: audited epsilon at delta 1e-5, beside the epsilon of the noise", Columns: []string{"noise", "attack"}, Unit: "epsilon"}
	picture := chart.Line{Title: "How much noise makes the attack fail", XLabel: "epsilon of the noise", YLabel: "audited epsilon", XLog: true, Height: 320}
	exact, direct, shaped := chart.Series{Name: "audited = true"}, chart.Series{Name: "update or nothing"}, chart.Series{Name: "update or nothing, if Gaussian"}
	pairs, largest := chart.Series{Name: "the paper's pair"}, chart.Series{Name: "largest auditable"}
	audited := map[string]float64{}
	for _, epsilon := range []string{"0.5", "1", "2", "4", "8", "16"} {
		change := "privacy.target.epsilon=" + epsilon
		absent := o
		absent.Absent = true
		leaks, err := b.Leaks("adult-noise", absent, change)
		if err != nil {
			return Outcome{}, err
		}
		l, x := leaks[0], number(epsilon)
		exact.X, exact.Y = append(exact.X, x), append(exact.Y, x)
		largest.X, largest.Y = append(largest.X, x), append(largest.Y, l.Bound.Largest)
		direct.X, direct.Y = append(direct.X, x), append(direct.Y, l.Bound.Epsilon)
		shaped.X, shaped.Y = append(shaped.X, x), append(shaped.Y, l.Gaussian.Epsilon)
		audited["nothing "+epsilon], audited["gaussian "+epsilon] = l.Bound.Epsilon, l.Gaussian.Epsilon
		table.Rows = append(table.Rows,
			Row{Settings: []string{epsilon, "update or nothing"}, Ours: Value(l.Bound.Epsilon), Runs: 1, Note: fmt.Sprintf("%.2f standard deviations apart", l.Distance)},
			Row{Settings: []string{epsilon, "update or nothing, if Gaussian"}, Ours: Value(l.Gaussian.Epsilon), Runs: 1})
		if b.Scale == Fast && epsilon != "2" && epsilon != "16" {
			continue
		}
		if leaks, err = b.Leaks("adult-noise", o, change); err != nil {
			return Outcome{}, err
		}
		pairs.X, pairs.Y = append(pairs.X, x), append(pairs.Y, leaks[0].Bound.Epsilon)
		audited["pair "+epsilon] = leaks[0].Bound.Epsilon
		table.Rows = append(table.Rows, Row{Settings: []string{epsilon, "the paper's pair"}, Ours: Value(leaks[0].Bound.Epsilon), Runs: 1, Note: fmt.Sprintf("%.2f standard deviations apart", leaks[0].Distance)})
	}
	picture.Series = []chart.Series{exact, direct, shaped, pairs, largest}
	out.Tables, out.Figures = []Table{table}, []Figure{{Name: "figure-5", Caption: picture.Title, Drawing: picture}}
	stays := func(attack, key string) Check {
		return Check{fmt.Sprintf("noise for epsilon 2, %s: the audited epsilon stays below 2", attack), audited[key+" 2"] < 2, fmt.Sprintf("%.4f", audited[key+" 2"])}
	}
	out.Checks = []Check{
		stays("update or nothing", "nothing"), stays("update or nothing, if Gaussian", "gaussian"), stays("the paper's pair", "pair"),
		{"noise for epsilon 16: the same attack shows more than 2", audited["nothing 16"] > 2, fmt.Sprintf("%.4f", audited["nothing 16"])},
	}
	return out, nil
}
