package reproduce

import (
	"fmt"
	"math"
	"time"

	"hubbub/accountant"
	"hubbub/accountant/fdp"
	"hubbub/accountant/pld"
	"hubbub/internal/experiment"
)

// paper004 is federated f-differential privacy with PriFedSync.
func paper004() Paper {
	const hour = time.Hour
	return Paper{ID: "004", Title: "Federated f-Differential Privacy (PriFedSync)", Items: []Item{
		{"table 1", "MNIST: rounds until the personal models reach 90% on average", table1of004, 2 * hour},
		{"table 2", "MNIST: small and large batches", table2of004, 2 * hour},
		{"table 3", "CIFAR-10: rounds until the personal models reach 52% on average", table3of004, 10 * hour},
		{"figure 1", "MNIST: personal models against the global one", personalFigure, 3 * hour},
		{"figure 2", "MNIST: batch sizes", batchFigure, 4 * hour},
		{"figure 3", "CIFAR-10: personal models against the global one, half of the clients a round", cifarFigure, 4 * hour},
		{"figure 4", "the trade-off function of a sampled Gaussian mechanism", tradeoffFigure, 0},
		{"figure 5", "MNIST: sampling rates of clients", samplingFigure, 4 * hour},
		{"figure 6", "CIFAR-10: labels of ten clients, and accuracy with all clients in every round", labelsFigure, 4 * hour},
	}}
}

// setting004 is a row of the paper's tables.
type setting004 struct {
	data         string // mnist or cifar
	part, sigma  float64
	batch, steps int
	rounds       int     // that the paper needed
	mu           float64 // that it prints for them
	accuracy     float64 // that it reached then, in percent
	plain        float64 // that it reached without privacy; 0: not told
}

var (
	rows1of004 = []setting004{
		{"mnist", 1, 1, 16, 38, 93, 2.71, 90.03, 98.74}, {"mnist", 1, 0.9, 16, 38, 83, 3.10, 90.25, 98.72}, {"mnist", 1, 0.75, 16, 38, 64, 3.96, 90.10, 98.55},
		{"mnist", 0.5, 1, 16, 38, 194, 3.92, 90.02, 98.90}, {"mnist", 0.5, 0.9, 16, 38, 176, 4.51, 90.02, 98.83}, {"mnist", 0.5, 0.75, 16, 38, 127, 5.58, 90.11, 98.54},
		{"mnist", 0.25, 1, 16, 38, 386, 5.52, 90.00, 98.75}, {"mnist", 0.25, 0.9, 16, 38, 325, 6.13, 90.00, 98.75}, {"mnist", 0.25, 0.75, 16, 38, 245, 7.75, 90.04, 98.55},
	}
	rows2of004 = []setting004{ // the rows with B = 16 are those of table 1
		{"mnist", 0.5, 1, 8, 76, 266, 3.24, 0, 0}, {"mnist", 0.5, 1, 16, 38, 194, 3.92, 0, 0}, {"mnist", 0.5, 0.9, 8, 76, 229, 3.64, 0, 0},
		{"mnist", 0.5, 0.9, 16, 38, 176, 4.51, 0, 0}, {"mnist", 0.5, 0.75, 8, 76, 191, 4.84, 0, 0}, {"mnist", 0.5, 0.75, 16, 38, 127, 5.58, 0, 0},
	}
	rows3of004 = []setting004{
		{"cifar", 1, 1, 16, 32, 468, 6.70, 52.03, 64.72}, {"cifar", 1, 0.75, 16, 32, 321, 9.77, 52.22, 62.55}, {"cifar", 1, 0.5, 16, 32, 207, 26.81, 52.23, 59.61},
		{"cifar", 0.5, 1, 16, 32, 904, 9.31, 52.07, 64.65}, {"cifar", 0.5, 0.75, 16, 32, 671, 14.13, 52.04, 62.53}, {"cifar", 0.5, 0.5, 16, 32, 405, 37.51, 52.01, 59.85},
	}
)

// records is how many a client has.
func (s setting004) records() int {
	if s.data == "cifar" {
		return 500
	}
	return 600
}

// goal is the accuracy that the rounds are counted to. The small network for CIFAR-10 comes to a little less than the paper's.
func (s setting004) goal(b *Bench) float64 {
	if s.data == "cifar" {
		return Pick(b, 0.5, 0.52)
	}
	return 0.9
}

// prices004 are what a number of rounds costs.
type prices004 struct {
	mu    float64 // Theorem 2's limit, for batches of a fixed size
	limit float64 // the epsilon that this mu stands for
	fixed float64 // exact, for the trade-off function that has this limit
	ours  float64 // exact, for what is really run: Poisson batches, and a record that is there or not
}

func (s setting004) price(rounds int) (p prices004, err error) {
	const delta = 1e-5
	rate, count := float64(s.batch)/float64(s.records()), s.steps*rounds
	step := fdp.Sampled{Mu: 1 / s.sigma, Rate: rate}
	if p.mu, err = step.LimitMu(count); err != nil {
		return p, err
	}
	if p.limit, err = fdp.Epsilon(p.mu, delta); err != nil {
		return p, err
	}
	fixed, err := step.Epsilon(count, delta, pld.Options{})
	if err != nil {
		return p, err
	}
	bound, err := accountant.Epsilon(accountant.About{Event: accountant.Repeat{Count: count,
		Event: accountant.Poisson{Rate: rate, Event: accountant.Gaussian{NoiseMultiplier: s.sigma}}}}, delta, accountant.Best)
	p.fixed, p.ours = fixed.Upper, bound.Epsilon
	return p, err
}

// runs004 is what came of a setting, seed by seed.
type runs004 struct {
	results []experiment.Result
	lines   [][]experiment.Metrics
}

// run runs a setting. In full it stops at the goal, or after half as many rounds again as the paper needed. Fast runs are small and go on to
// their end, so that tables and figures share them.
func (s setting004) run(b *Bench, more ...string) (runs004, error) {
	changes := append(s.changes(b), Pick(b, fmt.Sprintf("rounds=%d", s.fastRounds()), fmt.Sprintf("rounds=%d", s.rounds*3/2)))
	return runAll(b, s.data, append(changes, more...))
}

func runAll(b *Bench, file string, changes []string) (runs004, error) {
	variants, results, err := b.Runs(file, changes...)
	if err != nil {
		return runs004{}, err
	}
	all := runs004{results: results}
	for _, v := range variants {
		lines, err := b.Store.Metrics(v.Config)
		if err != nil {
			return runs004{}, err
		}
		all.lines = append(all.lines, lines)
	}
	return all, nil
}

// changes turn the experiment file into this setting.
func (s setting004) changes(b *Bench) []string {
	changes := []string{fmt.Sprintf("algorithm.local.batch=%d", s.batch), fmt.Sprintf("algorithm.local.steps=%d", s.steps)}
	if s.sigma > 0 {
		changes = append(changes, fmt.Sprintf("privacy.mechanism.noise_multiplier=%g", s.sigma))
	}
	if b.Scale == Full {
		return append(changes, fmt.Sprintf("cohort.expected_size=%g", s.part*100))
	}
	return append(changes, s.smaller()...)
}

// reached is the first round in which the goal was seen, by seed; NaN where it was not.
func (r runs004) reached(goal float64) []float64 {
	rounds := make([]float64, len(r.lines))
	for i, lines := range r.lines {
		rounds[i] = math.NaN()
		for _, m := range lines {
			if m.Personal != nil && m.Personal.Own >= goal {
				rounds[i] = float64(m.Round)
				break
			}
		}
	}
	return rounds
}

// accuracies are those of the personal or the global models at the end, in percent, by seed.
func (r runs004) accuracies(global bool) []float64 {
	values := make([]float64, len(r.results))
	for i, result := range r.results {
		if values[i] = 100 * result.Personal.Own; global {
			values[i] = 100 * result.Personal.Global
		}
	}
	return values
}

// differences are a minus b, seed by seed.
func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// clearly checks that values are above 0 by two standard errors; a NaN among them fails it.
func clearly(states string, values []float64, unit string) Check {
	mean, e := experiment.MeanError(values)
	return Check{States: states, Holds: mean > 2*e && mean > 0, Seen: fmt.Sprintf("%+.2f %s, standard error %.2f", mean, unit, e)}
}
