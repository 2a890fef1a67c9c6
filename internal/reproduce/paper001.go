package reproduce

import (
	"fmt"
	"math"
	"slices"
	"time"

	"hubbub/audit"
	"hubbub/audit/sums"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// paper001 is the audit of secure aggregation.
func paper001() Paper {
	return Paper{ID: "001", Title: "Secure aggregation is not private against membership inference attacks", Items: []Item{
		{"figure 1", "what sums of independent entries leak in theory, beside the Gaussian", theoryFigure, time.Minute},
		{"figure 2", "Adult, records dealt evenly: which of two updates is in the sum", adultFigure, 15 * time.Minute},
		{"figure 3", "MNIST in place of EMNIST Digits, records dealt evenly", func(b *Bench) (Outcome, error) { return digitsFigure(b, "figure-3", "mnist", "dealt evenly") }, 45 * time.Minute},
		{"figure 4", "MNIST in place of EMNIST Digits, labels dealt by Dirichlet(1)", func(b *Bench) (Outcome, error) { return digitsFigure(b, "figure-4", "mnist-dirichlet", "Dirichlet(1)") }, 45 * time.Minute},
		{"figure 5", "ours: the same attack on sums with our noise", noiseFigure, 10 * time.Minute},
	}}
}

// cohorts001 are the paper's n + 1.
var cohorts001 = []int{60, 70, 90}

// theoryFigure draws delta over epsilon where the law of the others' sum is known.
func theoryFigure(*Bench) (Outcome, error) {
	out := Outcome{Notes: []string{
		"The paper gives no numbers; its text says that the curves are close to those of Gaussian noise with the same covariance, for uniform entries even with few clients. The Gaussian's value (Theorem 2) stands in its column.",
		"\"Both cases satisfy the conditions of Corollary 1\" does not hold: Gamma noise is not symmetric. Ours is the delta of the two updates at opposite ends, in the direction that is easier to tell; for Gamma it bounds the worst pair from below.",
	}}
	table := Table{Title: "delta at epsilon 1", Columns: []string{"entries of an update", "n", "d"}, Unit: "delta"}
	at := map[sums.Updates]map[[2]int][2]float64{sums.Gamma: {}, sums.Uniform: {}} // by law, clients and entries: delta and the Gaussian's
	for _, p := range []struct {
		letter, about string
		law           sums.Updates
		clients       int
	}{{"a", "exponential", sums.Gamma, 100}, {"b", "uniform", sums.Uniform, 10}} {
		picture := chart.Line{Title: fmt.Sprintf("Entries %s, %d other clients", p.about, p.clients), XLabel: "epsilon", YLabel: "delta", YLog: true, YMin: Value(1e-6), YMax: Value(1), Height: 320}
		for _, dim := range []int{1, 10, 100} {
			for _, n := range []int{10, 100} {
				s, err := sums.New(p.law, n, dim)
				if err != nil {
					return Outcome{}, err
				}
				exact, err := s.Delta(1)
				if err != nil {
					return Outcome{}, err
				}
				row := Row{Settings: []string{p.about, fmt.Sprint(n), fmt.Sprint(dim)}, Paper: Value(s.GaussianDelta(1)), Ours: Value(exact.Upper)}
				if certain := s.Certain(); certain > 1e-6 {
					row.Note = fmt.Sprintf("told for certain with probability %.2g", certain)
				}
				table.Rows = append(table.Rows, row)
				at[p.law][[2]int{n, dim}] = [2]float64{exact.Lower, s.GaussianDelta(1)}
				if n != p.clients {
					continue
				}
				law, gaussian := chart.Series{Name: fmt.Sprintf("d = %d", dim)}, chart.Series{Name: fmt.Sprintf("d = %d, Gaussian", dim)}
				for i := range 33 {
					epsilon := float64(i) / 4
					b, err := s.Delta(epsilon)
					if err != nil {
						return Outcome{}, err
					}
					law.X, law.Y = append(law.X, epsilon), append(law.Y, shown(b.Upper))
					gaussian.X, gaussian.Y = append(gaussian.X, epsilon), append(gaussian.Y, shown(s.GaussianDelta(epsilon)))
				}
				picture.Series = append(picture.Series, law, gaussian)
			}
		}
		out.Figures = append(out.Figures, Figure{Name: "figure-1" + p.letter, Caption: picture.Title, Drawing: picture})
	}
	out.Tables = []Table{table}
	few, one, hundred := at[sums.Uniform][[2]int{10, 10}], at[sums.Uniform][[2]int{10, 1}][0], at[sums.Uniform][[2]int{10, 100}][0]
	skew := at[sums.Gamma][[2]int{10, 10}]
	out.Checks = []Check{
		{"uniform entries, 10 clients, 10 entries: within 1% of the Gaussian at epsilon 1", math.Abs(few[0]-few[1]) <= 0.01*few[1], fmt.Sprintf("%.6f and %.6f", few[0], few[1])},
		{"uniform entries, 10 clients: from 1 to 100 entries delta at epsilon 1 grows fivefold at least", hundred > 5*one, fmt.Sprintf("%.4f and %.4f", one, hundred)},
		{"exponential entries, 10 clients, 10 entries: the sum leaks more than the Gaussian says", skew[0] > skew[1], fmt.Sprintf("%.6f and %.6f", skew[0], skew[1])},
	}
	return out, nil
}

// shown leaves a gap where a delta is too small for the picture.
func shown(delta float64) float64 {
	if delta < 1e-6 {
		return math.NaN()
	}
	return delta
}

// reading is a way to read the attack: which directions of the sum the attacker uses.
type reading struct {
	name  string
	ridge float64
	leaks []experiment.Leak
}

func adultFigure(b *Bench) (Outcome, error) {
	readings := []*reading{{"data", 0, nil}, {"all bits", sums.RoundingRidge, nil}}
	for i, r := range readings {
		o := experiment.LeakOptions{Candidates: 5000, Trials: Pick(b, 2000, 5000), Cohorts: cohorts001, Ridge: r.ridge}
		if err := r.measure(b, "adult", Pick(b, 4-2*i, 10), o); err != nil {
			return Outcome{}, err
		}
	}
	out := leakOutcome("figure-2", "Adult", 0.005, readings)
	out.Notes = append(out.Notes,
		"Updates have 210 weights, but 96 directions carry data: the two outputs move against each other, the features of each category add up to the bias, and education stands there twice. In the other 114 updates differ by the rounding of float32 alone: eigenvalues of the covariance are at least 1e-10 in the 96 and at most 1e-16 in the others. \"Data\" leaves those out. \"All bits\" uses them: the paper lets the server see the exact sum, and its published script drops eigenvalues below 1e-20 only.",
		"Clients share one data set without replacement, so that 90 of 100 hide less than 60: their sum is nearly that of all records, which does not vary.",
	)
	if b.Scale == Fast {
		out.Notes = append(out.Notes, "Fast: four initial models (all bits: two) instead of ten, 2,000 trials instead of 5,000; samples and candidates are the paper's.")
	}
	for _, r := range readings {
		for _, cohort := range cohorts001 {
			if r.ridge == 0 && cohort != 90 {
				continue
			}
			fpr, fnr := r.balanced(cohort)
			out.Checks = append(out.Checks, Check{fmt.Sprintf("Adult, %d clients, %s: both rates are at most 0.005 together", cohort, r.name), fpr <= 0.005 && fnr <= 0.005,
				fmt.Sprintf("false positives at most %.4f, false negatives at most %.4f (95%%, mean of %d initial models)", fpr, fnr, len(r.of(cohort)))})
		}
	}
	return out, nil
}

// digitsFigure is figure 3 or 4.
func digitsFigure(b *Bench, figure, file, partition string) (Outcome, error) {
	r := &reading{name: partition}
	o := experiment.LeakOptions{Cohorts: cohorts001}
	if b.Scale == Fast {
		o.Samples, o.Candidates, o.Trials = 10_000, 500, 1000
	}
	if err := r.measure(b, file, Pick(b, 1, 5), o); err != nil {
		return Outcome{}, err
	}
	out := leakOutcome(figure, "MNIST", math.NaN(), []*reading{r})
	out.Notes = append(out.Notes, "MNIST (60,000 pictures, 600 a client) stands in for EMNIST Digits (280,000 pictures): the same shape, labels and model of 7,850 weights.")
	if b.Scale == Fast {
		out.Notes = append(out.Notes, "Fast: one initial model instead of five, covariance from 10,000 updates instead of 25,000, the pair from 500 instead of 1,000, 1,000 trials instead of 5,000: so few can show no epsilon above 5.60 (5,000: 7.21).")
	}
	for _, cohort := range cohorts001 {
		epsilon, _ := r.audited(cohort)
		largest := r.of(cohort)[0].Bound.Largest
		out.Checks = append(out.Checks, Check{fmt.Sprintf("MNIST, %s, %d clients: the audited epsilon is within 5%% of the largest auditable", partition, cohort), epsilon >= 0.95*largest,
			fmt.Sprintf("%.4f of %.4f", epsilon, largest)})
	}
	return out, nil
}

// measure attacks the sums of an experiment with so many initial models, each a seed and kept by itself.
func (r *reading) measure(b *Bench, file string, models int, o experiment.LeakOptions) error {
	for seed := range models {
		leaks, err := b.Leaks(file, o, fmt.Sprintf("seed=%d", seed+1))
		if err != nil {
			return err
		}
		r.leaks = append(r.leaks, leaks...)
	}
	return nil
}

// of is what was found for a size of cohort, one for each initial model.
func (r *reading) of(cohort int) []experiment.Leak {
	return slices.DeleteFunc(slices.Clone(r.leaks), func(l experiment.Leak) bool { return l.Others != cohort-1 })
}

// mean is the mean of a number over the initial models, and its standard error.
func (r *reading) mean(cohort int, number func(experiment.Leak) float64) (mean, standardError float64) {
	var values []float64
	for _, l := range r.of(cohort) {
		values = append(values, number(l))
	}
	return experiment.MeanError(values)
}

// balanced are the rates half way between the two updates: a threshold that no trial had a say in.
func (r *reading) balanced(cohort int) (fpr, fnr float64) {
	fpr, _ = r.mean(cohort, func(l experiment.Leak) float64 { return l.Balanced.FalsePositive })
	fnr, _ = r.mean(cohort, func(l experiment.Leak) float64 { return l.Balanced.FalseNegative })
	return fpr, fnr
}

func (r *reading) audited(cohort int) (epsilon, standardError float64) {
	return r.mean(cohort, func(l experiment.Leak) float64 { return l.Bound.Epsilon })
}

// leakOutcome makes the tables and pictures of an attack: rates, and the audited curve. rate is what the paper says of the rates; NaN: nothing.
func leakOutcome(figure, data string, rate float64, readings []*reading) Outcome {
	rates := Table{Title: data + ": the larger of both rates of mistakes, at a threshold half way between the two updates; upper ends with 95% confidence, mean over initial models", Columns: []string{"clients", "setting"}, Unit: "%"}
	epsilons := Table{Title: data + ": audited epsilon at delta 1e-5; the paper's column is the largest that so many trials can show, which it says is about reached", Columns: []string{"clients", "setting"}, Unit: "epsilon"}
	var out Outcome
	letter := 'a'
	for _, r := range readings {
		about := data + ", " + r.name
		tradeoff := chart.Line{Title: about + ": rates of mistakes", XLabel: "false positives at most", YLabel: "false negatives at most", XLog: true, YLog: true}
		curve := chart.Line{Title: about + ": audited epsilon and delta", XLabel: "epsilon", YLabel: "delta", YLog: true}
		for _, cohort := range cohorts001 {
			leaks := r.of(cohort)
			name := fmt.Sprintf("%d clients", cohort)
			cells := []string{fmt.Sprint(cohort), r.name}
			fpr, fnr := r.balanced(cohort)
			distance, _ := r.mean(cohort, func(l experiment.Leak) float64 { return l.Distance / l.Gaussianity.Deviate })
			row := Row{Settings: cells, Ours: Value(100 * max(fpr, fnr)), Runs: len(leaks), Note: fmt.Sprintf("the two are %.2f standard deviations of the sum apart", distance)}
			if !math.IsNaN(rate) {
				row.Paper = Value(100 * rate)
			}
			rates.Rows = append(rates.Rows, row)
			epsilon, e := r.audited(cohort)
			wrong := 0
			for _, l := range leaks {
				wrong += l.Errors.FalsePositives + l.Errors.FalseNegatives
			}
			epsilons.Rows = append(epsilons.Rows, Row{Settings: cells, Paper: Value(leaks[0].Bound.Largest), Ours: Value(epsilon), Error: e, Runs: len(leaks),
				Note: fmt.Sprintf("%d mistakes in %d guesses", wrong, 2*len(leaks)*leaks[0].Errors.Negatives)})
			tradeoff.Series = append(tradeoff.Series, rateSeries(name, leaks))
			curve.Series = append(curve.Series, deltaSeries(name, leaks))
		}
		curve.Series = append(curve.Series, largestSeries(r.leaks[0]))
		out.Figures = append(out.Figures, Figure{Name: figure + string(letter), Caption: tradeoff.Title, Drawing: tradeoff}, Figure{Name: figure + string(letter+1), Caption: curve.Title, Drawing: curve})
		letter += 2
	}
	out.Tables = []Table{rates, epsilons}
	return out
}

// rateSeries averages the curves of initial models threshold by threshold, as the paper does.
func rateSeries(name string, leaks []experiment.Leak) chart.Series {
	s := chart.Series{Name: name, X: make([]float64, len(leaks[0].Curve)), Y: make([]float64, len(leaks[0].Curve))}
	for _, l := range leaks {
		for i, r := range l.Curve {
			s.X[i] += r.FalsePositive / float64(len(leaks))
			s.Y[i] += r.FalseNegative / float64(len(leaks))
		}
	}
	return s
}

func deltaSeries(name string, leaks []experiment.Leak) chart.Series {
	s := chart.Series{Name: name}
	for i, p := range leaks[0].ByDelta {
		if p.Delta < 1e-3 { // which a logarithmic axis would give most of its room
			continue
		}
		mean := 0.0
		for _, l := range leaks {
			mean += l.ByDelta[i].Epsilon / float64(len(leaks))
		}
		s.X, s.Y = append(s.X, mean), append(s.Y, p.Delta)
	}
	return s
}

// largestSeries is the curve of an attack without a mistake.
func largestSeries(l experiment.Leak) chart.Series {
	s := chart.Series{Name: "largest auditable"}
	for _, p := range l.ByDelta {
		if p.Delta < 1e-3 {
			continue
		}
		largest, err := audit.Largest(l.Errors.Negatives, p.Delta, l.Bound.Confidence)
		if err != nil { // the trials and deltas were accepted before
			largest = math.NaN()
		}
		s.X, s.Y = append(s.X, largest), append(s.Y, p.Delta)
	}
	return s
}
