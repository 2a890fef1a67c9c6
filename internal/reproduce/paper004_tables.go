package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hubbub/internal/experiment"
)

var pathColumns004 = []string{"p", "sigma", "B", "K"}

func (s setting004) cells() []string {
	return []string{fmt.Sprint(s.part), fmt.Sprint(s.sigma), fmt.Sprint(s.batch), fmt.Sprint(s.steps)}
}

// made004 is a table of the paper, with the runs behind its rows.
type made004 struct {
	Outcome
	goal float64
	runs map[setting004]runs004
}

// roundsTable runs settings of a table and puts rounds, accuracies and prices beside the paper's.
func roundsTable(b *Bench, title string, all, settings []setting004) (made004, error) {
	settings = Settings(b, settings)
	goal := settings[0].goal(b)
	rounds := Table{Title: fmt.Sprintf("%s: rounds until the personal models reach %g%% on average", title, 100*goal), Columns: pathColumns004, Unit: "rounds",
		More: []string{"times the first row, paper", "ours", "our epsilon then", "accuracy, paper", "ours at the end", "without privacy, paper", "ours"}}
	made := made004{goal: goal, runs: map[setting004]runs004{}}
	made.Notes = notes004(b, settings[0].data)
	plain := map[float64]*float64{} // by the part of clients
	var first *float64              // what the first row needed
	for i, s := range settings {
		runs, err := s.run(b)
		if err != nil {
			return made, err
		}
		made.runs[s] = runs
		if s.plain > 0 && plain[s.part] == nil {
			if plain[s.part], err = s.withoutPrivacy(b, runs.results[0].Rounds); err != nil {
				return made, err
			}
		}
		row := Row{Settings: s.cells(), Paper: Value(float64(s.rounds)), Runs: len(runs.results)}
		needed, e := experiment.MeanError(runs.reached(goal))
		var times, epsilon *float64
		if math.IsNaN(needed) {
			row.Note = fmt.Sprintf("not reached in %d rounds", runs.results[0].Rounds)
		} else {
			spent, err := s.price(int(math.Ceil(needed)))
			if err != nil {
				return made, err
			}
			row.Ours, row.Error, epsilon = Value(needed), e, Value(spent.ours)
			if i == 0 {
				first = row.Ours
			}
			if first != nil {
				times = Value(needed / *first)
			}
		}
		if full := s.goal(&Bench{Scale: Full}); goal != full {
			row.Note = strings.TrimPrefix(fmt.Sprintf("%s; the paper counts to %g%%", row.Note, 100*full), "; ")
		}
		accuracy, _ := experiment.MeanError(runs.accuracies(false))
		row.More = []*float64{Value(float64(s.rounds) / float64(settings[0].rounds)), times, epsilon, told(s.accuracy), Value(accuracy), told(s.plain), plain[s.part]}
		rounds.Rows = append(rounds.Rows, row)
		if s == rows1of004[0] && b.Scale == Full {
			made.Checks = append(made.Checks, Check{States: "p = 1, sigma = 1: rounds within 30% of the paper's", Holds: math.Abs(needed/float64(s.rounds)-1) <= 0.3,
				Seen: fmt.Sprintf("%g, the paper %d", needed, s.rounds)})
		}
	}
	prices, printed, err := pricesTable(title, all)
	made.Checks = append(made.Checks, printed)
	made.Tables = []Table{rounds, prices}
	return made, err
}

// pricesTable puts the mu of every row beside our accountant's, and what it says of epsilon beside what is exact.
func pricesTable(title string, all []setting004) (Table, Check, error) {
	table := Table{Title: "mu of Theorem 2 at the paper's rounds, and epsilon at delta 1e-5", Columns: append(slices.Clone(pathColumns004), "rounds"), Unit: "mu",
		More: []string{"epsilon of that mu (CLT)", "exact, fixed batches", "exact, Poisson batches (run here)"}}
	printed := Check{States: title + ": every mu that the paper prints is the one of our accountant, to its two digits", Holds: true}
	for _, s := range all {
		p, err := s.price(s.rounds)
		if err != nil {
			return table, printed, err
		}
		table.Rows = append(table.Rows, Row{Settings: append(s.cells(), fmt.Sprint(s.rounds)), Paper: Value(s.mu), Ours: Value(p.mu), More: []*float64{Value(p.limit), Value(p.fixed), Value(p.ours)}})
		if math.Abs(p.mu-s.mu) > 0.00501 {
			printed.Holds = false
			printed.Seen += fmt.Sprintf("%.4f for %.2f; ", p.mu, s.mu)
		}
	}
	printed.Seen += fmt.Sprintf("%d rows", len(all))
	return table, printed, nil
}

// without leaves out the rows with this noise.
func without(sigma float64, all []setting004) []setting004 {
	return slices.DeleteFunc(slices.Clone(all), func(s setting004) bool { return s.sigma == sigma })
}

// told is a number of the paper, which may have none.
func told(x float64) *float64 {
	if x == 0 {
		return nil
	}
	return &x
}

// withoutPrivacy is the accuracy of the personal models after so many rounds of plain training.
func (s setting004) withoutPrivacy(b *Bench, rounds int) (*float64, error) {
	s.sigma = 0
	runs, err := runAll(b, s.data+"-plain", append(s.changes(b), fmt.Sprintf("rounds=%d", rounds), fmt.Sprintf("evaluate_every=%d", rounds), "sweep=null"))
	if err != nil {
		return nil, err
	}
	return Value(runs.accuracies(false)[0]), nil
}

// sooner checks that a needs fewer rounds than b, by two standard errors over the seeds.
func (m made004) sooner(states string, a, b setting004) Check {
	return clearly(states, differences(m.runs[b].reached(m.goal), m.runs[a].reached(m.goal)), "rounds")
}

func table1of004(b *Bench) (Outcome, error) {
	made, err := roundsTable(b, "Table 1", rows1of004, Pick(b, without(0.9, rows1of004), rows1of004))
	if err != nil || b.Scale == Full {
		return made.Outcome, err
	}
	if b.First == 0 {
		r := rows1of004
		made.Checks = append(made.Checks,
			made.sooner("sigma 0.75: with all clients sooner than with half", r[2], r[5]), made.sooner("sigma 0.75: with half of the clients sooner than with a quarter", r[5], r[8]),
			made.sooner("p = 1: sigma 0.75 sooner than sigma 1", r[2], r[0]), made.sooner("p = 0.5: sigma 0.75 sooner than sigma 1", r[5], r[3]))
	}
	open, err := readingsOf004(b)
	made.Tables = append(made.Tables, open)
	return made.Outcome, err
}

func table2of004(b *Bench) (Outcome, error) {
	settings := Pick(b, without(0.9, rows2of004), rows2of004)
	made, err := roundsTable(b, "Table 2", rows2of004, settings)
	if err != nil || b.Scale == Full || b.First > 0 {
		return made.Outcome, err
	}
	for i := 0; i < len(settings); i += 2 {
		small, large := settings[i], settings[i+1]
		made.Checks = append(made.Checks, made.sooner(fmt.Sprintf("sigma %g: B = 16 sooner than B = 8", small.sigma), large, small))
	}
	return made.Outcome, nil
}

func table3of004(b *Bench) (Outcome, error) {
	made, err := roundsTable(b, "Table 3", rows3of004, Pick(b, []setting004{rows3of004[2], rows3of004[3], rows3of004[5]}, rows3of004))
	return made.Outcome, err
}

// readingsOf004 changes what the paper leaves open, one thing at a time, at p = 1 and sigma = 1.
func readingsOf004(b *Bench) (Table, error) {
	table := Table{Title: "What the paper leaves open: rounds to 90% at p = 1, sigma = 1, one seed, if it is read otherwise", Columns: []string{"reading"}, Unit: "rounds", More: []string{"accuracy after 30 rounds"}}
	for _, reading := range []struct {
		name    string
		changes []string
	}{
		{"as in table 1: Adam's memory is kept, noise of standard deviation sigma C/B", nil},
		{"each round begins with a fresh Adam", []string{"algorithm.local.keep_memory=false"}},
		{"noise 2 sigma C/B, which Theorem 2 asks for with fixed batches", []string{"privacy.mechanism.noise_multiplier=2"}},
		{"rate 0.001", []string{"algorithm.local.lr=0.001"}},
		{"20 clients instead of 100", []string{"data.partition.clients=20", "data.limit=12000", "cohort.expected_size=20"}},
	} {
		s := rows1of004[0]
		runs, err := s.run(b, append([]string{"sweep=null"}, reading.changes...)...)
		if err != nil {
			return Table{}, err
		}
		row := Row{Settings: []string{reading.name}, Paper: Value(float64(s.rounds)), Runs: 1, More: []*float64{Value(runs.accuracies(false)[0])}}
		if needed := runs.reached(s.goal(b))[0]; math.IsNaN(needed) {
			row.Note = fmt.Sprintf("not reached in %d rounds", runs.results[0].Rounds)
		} else {
			row.Ours = Value(needed)
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// notes004 says what is special about the runs of a table.
func notes004(b *Bench, data string) []string {
	return append(curveNotes004(b, data),
		"Batches are drawn by Poisson sampling with noise sigma C, which the last column of epsilons is exact for. Theorem 2's mu is for batches of a fixed size, one record replaced and noise 2 sigma C; it is a limit, and no bound.",
		"Each client keeps the memory of its Adam from round to round; the paper does not say.")
}

// curveNotes004 says it for a figure.
func curveNotes004(b *Bench, data string) []string {
	notes := []string{"Accuracies of personal models are measured at the clients, on test records with labels that each has seen. They are for research: no noise hides them."}
	if b.Scale == Fast {
		notes = append(notes, fast004(data))
	}
	return notes
}
