package reproduce

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// paper002 is the distributed Skellam mechanism.
func paper002() Paper {
	return Paper{ID: "002", Title: "The distributed Skellam mechanism: a novel approach to federated learning with differential privacy", Items: []Item{
		{"figure 1", "accuracy on MNIST over epsilon, bits and batch size", func(b *Bench) (Outcome, error) { return skellamFigure(b, "mnist", "figure-1", 15) }, full002()},
		{"figure 2", "accuracy on Fashion-MNIST over epsilon, bits and batch size", func(b *Bench) (Outcome, error) { return skellamFigure(b, "fashion-mnist", "figure-2", 10) }, full002()},
	}}
}

// rivals002 are the mechanisms of the figures, by the file of their experiment, and what a legend calls them.
var rivals002 = []struct{ file, name string }{
	{"ours", "ours"}, {"smm", "SMM"}, {"dsm", "DSM as printed"}, {"ddg", "DDG"}, {"central", "central DP-SGD"}, {"cpsgd", "cpSGD, 32 bits"},
}

// inEveryPanel counts those that come first. Colours go by place, and a mechanism has the same one in all panels.
const inEveryPanel = 4

// panel002 is one of the three panels of a figure.
type panel002 struct {
	letter, unit string
	values       []string
	set          func(value string) string // what changes in the experiment; changes are separated by blanks
	rivals       func(file string) bool
}

// panels002 are the panels of either figure.
func panels002(scale Scale) []panel002 {
	epsilons, batches := []string{"1", "3"}, []string{"240", "960"} // what the files say needs no further runs
	if scale == Full {
		epsilons, batches = []string{"1", "2", "3", "4", "5"}, []string{"120", "240", "480", "960"}
	}
	all := func(string) bool { return true }
	shares := func(file string) bool { return file != "cpsgd" && file != "central" }
	return []panel002{
		{"a", "epsilon", epsilons, func(v string) string { return "privacy.target.epsilon=" + v }, all},
		{"b", "bits per weight", []string{"6", "8", "10", "12"}, func(v string) string {
			return "privacy.mechanism.bits=" + v + " privacy.mechanism.overflow=allow"
		}, shares},
		{"c", "batch size", batches, func(v string) string {
			rounds := map[string]string{"120": "500", "240": "250", "480": "125", "960": "62"}[v]
			return fmt.Sprintf("cohort.expected_size=%s rounds=%s evaluate_every=%s", v, rounds, rounds)
		}, all},
	}
}

// seeds002 are the seeds of a point, named by panel, file and value: five in full, and else two where something is stated of it.
func seeds002(scale Scale, point string) []string {
	switch {
	case scale == Full:
		return []string{"1", "2", "3", "4", "5"}
	case slices.Contains(stated002, point):
		return []string{"1", "2"}
	}
	return []string{"1"}
}

// stated002 are the points that the checks compare.
var stated002 = []string{"plain", "a central 3", "a ours 3", "a dsm 3", "a ddg 3", "a cpsgd 3", "b ours 6", "b ours 12"}

// full002 is about how long a figure takes in full. Some runs stand in two panels, and are run once.
func full002() time.Duration {
	const perRun = 6 * time.Second // the mean: from 1 with central noise to 17 with SMM, of 250 rounds
	points := 1                    // without privacy
	for _, p := range panels002(Full) {
		for _, r := range rivals002 {
			if p.rivals(r.file) {
				points += len(p.values)
			}
		}
	}
	return time.Duration(points*len(seeds002(Full, ""))) * perRun
}

func skellamFigure(b *Bench, data, file string, overDDG float64) (Outcome, error) {
	panels := panels002(b.Scale)
	title := map[string]string{"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST"}[data]
	out := Outcome{Notes: []string{
		"The paper's figures have no numbers beside them; what its text says of them is in the last table.",
		"Panels a and c use 10 bits: the paper does not say how many it used. Without privacy the batch size is 240 in all panels. The total noise is fixed whoever comes, and priced for the clients that are really in a round (the paper counts all 60,000: its noise would be 250 times too small).",
		"cpSGD is priced by its own closed form and advanced composition, which asks for more noise than the accounting that the paper used. The paper gives neither its clip nor its levels; here they are those of the others.",
		"Overflows: \"expected\" is the chance that noise alone takes a coordinate out of its range. Updates and their rounding come on top.",
	}}
	if b.Scale == Fast {
		out.Notes = append(out.Notes, "Fast: two seeds instead of five for the points that the checks compare, one for the others, and fewer values of epsilon and batch size.")
	}
	plain, err := b.Sweep("plain", "data.name="+data, sweepSeeds(b.Scale, "plain"))
	if err != nil {
		return Outcome{}, err
	}
	at := map[string]experiment.Tally{"plain": plain[0]} // by panel, file and value
	for _, p := range panels {
		picture := chart.Line{Title: fmt.Sprintf("%s: accuracy over %s", title, p.unit), XLabel: p.unit, YLabel: "test accuracy, %"}
		table := Table{Title: fmt.Sprintf("(%s) %s, accuracy over %s", p.letter, title, p.unit), Columns: []string{"mechanism", p.unit}, Unit: "%"}
		for _, r := range rivals002 {
			if !p.rivals(r.file) {
				continue
			}
			series := chart.Series{Name: r.name}
			for _, v := range p.values {
				point := p.letter + " " + r.file + " " + v
				changes := append([]string{"data.name=" + data, sweepSeeds(b.Scale, point)}, strings.Fields(p.set(v))...)
				tallies, err := b.Sweep(r.file, changes...)
				if err != nil {
					return Outcome{}, err
				}
				t := tallies[0]
				at[point] = t
				table.Rows = append(table.Rows, accuracyRow([]string{r.name, v}, nil, t))
				addPoint(&series, number(v), points(t), 100*t.Error)
			}
			picture.Series = append(picture.Series, series)
		}
		flat := chart.Series{Name: "no privacy"}
		for _, v := range p.values {
			flat.X, flat.Y = append(flat.X, number(v)), append(flat.Y, points(plain[0]))
		}
		picture.Series = slices.Insert(picture.Series, inEveryPanel, flat)
		out.Tables = append(out.Tables, table)
		out.Figures = append(out.Figures, Figure{Name: file + p.letter, Caption: picture.Title, Drawing: picture})
	}
	out.Tables = append(out.Tables, overflows002(panels[1], at, title))
	out.Checks = checks002(at, data)
	said := Table{Title: "what the text says of this figure", Columns: []string{"statement"}, Unit: "points"}
	lead, e := paired(at["a dsm 3"], at["a ddg 3"])
	said.Rows = append(said.Rows,
		Row{Settings: []string{"DSM ahead of DDG at epsilon 3"}, Paper: Value(overDDG), Ours: Value(lead), Error: e, Note: "section 4, \"consistently around\"; which bits, and which bound on DDG's norm, is not said"},
		Row{Settings: []string{"cpSGD, the best over epsilon, at most"}, Paper: Value(30), Ours: Value(bestOf(at, "a cpsgd")), Note: "section 4; clip and levels of cpSGD are not given"},
	)
	out.Tables = append(out.Tables, said)
	return out, nil
}

func sweepSeeds(scale Scale, point string) string {
	return "sweep={seed: [" + strings.Join(seeds002(scale, point), ", ") + "]}"
}

// overflows002 says how often a coordinate of a sum left its bits in the runs of panel b.
func overflows002(bits panel002, at map[string]experiment.Tally, title string) Table {
	t := Table{Title: title + ", epsilon 3: overflows per round and coordinate", Columns: []string{"mechanism", "bits", "expected of noise alone"}}
	said := map[string]*float64{"8": Value(1e-3), "10": Value(0), "12": Value(0)} // appendix A.3
	for _, r := range rivals002 {
		if !bits.rivals(r.file) {
			continue
		}
		for _, v := range bits.values {
			tally := at[bits.letter+" "+r.file+" "+v]
			row := Row{Settings: []string{r.name, v, "-"}, Runs: tally.Seeds}
			var all experiment.Overflows
			for _, result := range tally.Results {
				if o := result.Overflows; o != nil {
					all = experiment.Overflows{Count: all.Count + o.Count, Coordinates: all.Coordinates + o.Coordinates, NoiseAlone: o.NoiseAlone}
				}
			}
			if all.Coordinates > 0 {
				row.Settings[2], row.Ours, row.Note = trim(all.NoiseAlone), Value(all.Rate()), fmt.Sprintf("%d of %d", all.Count, all.Coordinates)
				if r.file == "dsm" {
					row.Paper = said[v]
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// checks002 are the orders and distances that we state at epsilon 3.
func checks002(at map[string]experiment.Tally, data string) []Check {
	say := func(text string) string { return data + ", epsilon 3: " + text }
	a := func(file string) experiment.Tally { return at["a "+file+" 3"] }
	return []Check{
		ahead(say("no privacy is ahead of central noise"), at["plain"], a("central"), 0),
		near(say("ours is within 0.5 points of central noise"), a("ours"), a("central"), 0.5),
		ahead(say("ours is ahead of DSM as printed by 5 points"), a("ours"), a("dsm"), 5),
		ahead(say("DSM is ahead of DDG"), a("dsm"), a("ddg"), 0),
		ahead(say("DDG is ahead of cpSGD"), a("ddg"), a("cpsgd"), 0),
		near(say("ours with 6 bits is within 1.5 points of ours with 12"), at["b ours 6"], at["b ours 12"], 1.5),
	}
}

// bestOf is the highest accuracy of a series, in percentage points.
func bestOf(at map[string]experiment.Tally, prefix string) float64 {
	best := 0.0
	for key, t := range at {
		if strings.HasPrefix(key, prefix+" ") {
			best = max(best, points(t))
		}
	}
	return best
}
