package reproduce

import (
	"fmt"
	"math"
	"slices"

	"hubbub/accountant"
	"hubbub/audit"
	"hubbub/audit/span"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
	"hubbub/mechanism/waterfill"
	"hubbub/noise"
)

// counterexample000 is Figure 3, and the same question about real gradients.
func counterexample000(b *Bench) (Outcome, error) {
	out := Outcome{Notes: []string{
		"Four users, 20 gradients each, 64 weights. The last quarter of all gradients is zero, but for the one record that user 4 replaces. The attack looks whether anything is in the last quarter of the sum.",
		"Theorem 1 on real gradients: a record leaks if more than a ten-thousandth of its gradient lies outside the span of all others. hubbub audit span does the same for any kept run.",
	}}
	toy, picture, checks, err := fourUsers()
	if err != nil {
		return Outcome{}, err
	}
	real := Table{Title: "records whose gradient lies outside the span of the others, of those measured", Columns: []string{"model", "gradients", "weights", "rank", "round"}, Unit: "%"}
	for _, c := range []struct {
		file, name string
		rounds     []int
		changes    []string
		mostRows   int
	}{
		{"span", "linear, pictures of 7x7", []int{0, 10, 40}, nil, 3000},
		{"linear", "linear", []int{0}, []string{"data.limit=1200", "privacy.mechanism.variance=1", "privacy.delta=1e-4", "privacy.target=null"}, 1200},
	} {
		f, err := b.federation(c.file, c.changes...)
		if err != nil {
			return Outcome{}, err
		}
		next := 0
		err = f.Follow(b.Context, c.rounds[len(c.rounds)-1], func(round int, model []float32) error {
			if round != c.rounds[next] {
				return nil
			}
			next++
			records := firstRecords(f, c.mostRows)
			rows, err := f.Gradients(model, records)
			if err != nil {
				return err
			}
			test, err := span.New(rows, len(records))
			if err != nil {
				return err
			}
			const measured = 300
			leaks := 0
			for i := range measured {
				d, err := test.Row(i * len(records) / measured)
				if err != nil {
					return err
				}
				if d.Leaks {
					leaks++
				}
			}
			real.Rows = append(real.Rows, Row{Settings: []string{c.name, fmt.Sprint(len(records)), fmt.Sprint(f.Net.Size()), fmt.Sprint(test.Rank()), fmt.Sprint(round)},
				Ours: Value(100 * float64(leaks) / measured), Runs: 1, Note: fmt.Sprintf("smallest eigenvalue %.3g over all weights, %.3g in the span", test.Smallest(), test.Eigenvalues()[test.Rank()-1])})
			if c.file == "linear" {
				checks = append(checks, Check{States: "with fewer records than weights every gradient lies outside the span of the others", Holds: leaks == measured,
					Seen: fmt.Sprintf("%d of %d", leaks, measured)})
			}
			return nil
		})
		if err != nil {
			return Outcome{}, err
		}
	}
	out.Tables, out.Checks = []Table{toy, real}, checks
	out.Figures = []Figure{{Name: "figure-3", Caption: picture.Title, Drawing: picture}}
	return out, nil
}

// federation prepares the experiment of a file.
func (b *Bench) federation(file string, changes ...string) (*experiment.Federation, error) {
	variants, err := b.variants(file, changes)
	if err != nil {
		return nil, err
	}
	return b.Store.Prepare(variants[0].Config)
}

// firstRecords takes as many records of each client as there is room for.
func firstRecords(f *experiment.Federation, most int) []int {
	var records []int
	for _, part := range f.Parts {
		records = append(records, part[:min(len(part), most/len(f.Parts))]...)
	}
	return records
}

// fourUsers carries the counterexample out: with secure aggregation alone, and with the mechanisms that have a guarantee.
func fourUsers() (table Table, picture chart.Line, checks []Check, err error) {
	const users, records, dimension, batch, epsilon, delta, trials = 4, 20, 64, 4, 1, 1e-4, 1000
	random := noise.Seeded(3).Stream()
	values := make([]float64, users*records*dimension)
	random.Gaussian(values)
	for row := range users * records {
		clear(values[row*dimension+3*dimension/4 : (row+1)*dimension])
	}
	replaced := append([]float64(nil), values...)
	random.Gaussian(replaced[(users-1)*records*dimension : (users-1)*records*dimension+dimension]) // user 4's first record, all of it
	for row := range users * records {
		toUnit(values[row*dimension : (row+1)*dimension])
		toUnit(replaced[row*dimension : (row+1)*dimension])
	}
	var clipped [2][users]*waterfill.Gradients
	for which, from := range [][]float64{values, replaced} {
		for user := range users {
			if clipped[which][user], err = waterfill.NewGradients(from[user*records*dimension:(user+1)*records*dimension], records, 1); err != nil {
				return
			}
		}
	}
	table = Table{Title: fmt.Sprintf("guesses whether user 4 replaced a record, from the sum alone: %d trials each way", trials), Columns: []string{"mechanism"}, Unit: "%"}
	picture = chart.Line{Title: "Secure aggregation alone: each weight of a sum", XLabel: "weight", YLabel: "|sum of updates|"}
	for _, c := range []struct {
		name   string
		method waterfill.Method
	}{{"secure aggregation alone", ""}, {"GSGD-DP, epsilon 1", waterfill.GSGDDP}, {"GD-DP, epsilon 1", waterfill.GDDP}} {
		config := waterfill.Config{Method: c.method, Clients: users, Records: records, Dimension: dimension, Clip: 1, Variance: 1e-9}
		if c.method != waterfill.GDDP {
			config.Batch = batch
		}
		if c.method == "" {
			config.Method = waterfill.GSGDDP
		} else if config.Variance, err = varianceFor(config, epsilon, delta); err != nil {
			return
		}
		m, err := waterfill.New(config)
		if err != nil {
			return table, picture, nil, err
		}
		sum := func(which, trial int) ([]float32, error) {
			total, mean := make([]int64, dimension), make([]float32, dimension)
			from := [][]float64{values, replaced}[which]
			for user := range users {
				key := noise.Seeded(33).Derive(c.name, uint64(trial), uint64(user))
				if c.method == "" {
					addMix(mean, from[user*records*dimension:(user+1)*records*dimension], records, batch, key)
				} else if err := m.Contribute(total, clipped[which][user], key.Stream()); err != nil {
					return nil, err
				}
			}
			if c.method != "" {
				m.Decode(mean, total, 1)
			}
			return mean, nil
		}
		var energies [2][]float64
		for which := range energies {
			for trial := range 2 * trials { // the first half sets the threshold
				mean, err := sum(which, 2*trial+which)
				if err != nil {
					return table, picture, nil, err
				}
				energies[which] = append(energies[which], energy(mean[3*dimension/4:]))
				if trial == 0 && c.method == "" {
					picture.Series = append(picture.Series, sizes([]string{"as it was", "one record of user 4 replaced"}[which], mean))
				}
			}
		}
		threshold := bestThreshold(energies[0][:trials], energies[1][:trials])
		e := audit.Errors{Positives: trials, Negatives: trials}
		for i := trials; i < 2*trials; i++ {
			if energies[0][i] > threshold {
				e.FalsePositives++
			}
			if energies[1][i] <= threshold {
				e.FalseNegatives++
			}
		}
		bound, err := e.Bound(delta, .95)
		if err != nil {
			return table, picture, nil, err
		}
		right := 100 * float64(2*trials-e.FalsePositives-e.FalseNegatives) / (2 * trials)
		table.Rows = append(table.Rows, Row{Settings: []string{c.name}, Ours: Value(right), Note: fmt.Sprintf("right guesses; epsilon at least %.2f with 95%% confidence (at most %.2f could be shown)", bound.Epsilon, bound.Largest)})
		if c.method == "" {
			checks = append(checks, Check{States: "secure aggregation alone: every guess is right", Holds: right == 100, Seen: fmt.Sprintf("%.1f%%", right)})
		} else {
			checks = append(checks, Check{States: c.name + ": the attack shows no more than that", Holds: bound.Epsilon <= epsilon, Seen: fmt.Sprintf("at least %.2f", bound.Epsilon)})
		}
	}
	return table, picture, checks, nil
}

// toUnit scales a gradient to the clip, 1.
func toUnit(x []float64) {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	for i := range x {
		x[i] /= math.Sqrt(square)
	}
}

// addMix adds a Gaussian mix of gradients: what a user sends who relies on secure aggregation alone.
func addMix(sum []float32, gradients []float64, rows int, batch float64, key noise.Key) {
	weights := make([]float64, rows)
	key.Stream().Gaussian(weights)
	d := len(gradients) / rows
	for i, xi := range weights {
		w := 1/float64(rows) + xi/math.Sqrt(batch*float64(rows))
		for j, g := range gradients[i*d : (i+1)*d] {
			sum[j] += float32(w * g)
		}
	}
}

// varianceFor is the noise at which one round of a mechanism costs epsilon.
func varianceFor(c waterfill.Config, epsilon, delta float64) (float64, error) {
	lo, hi := math.Log(1e-8), math.Log(1e4)
	for range 50 {
		c.Variance = math.Exp((lo + hi) / 2)
		m, err := waterfill.New(c)
		if err != nil {
			return 0, err
		}
		bound, err := accountant.Epsilon(m.About(), delta, accountant.Best)
		if err != nil || bound.Epsilon > epsilon {
			lo = (lo + hi) / 2
		} else {
			hi = (lo + hi) / 2
		}
	}
	return math.Exp(hi), nil
}

func energy(x []float32) float64 {
	total := 0.0
	for _, v := range x {
		total += float64(v) * float64(v)
	}
	return total
}

// bestThreshold is the value of a sample below which most of the low and above which most of the high lie.
func bestThreshold(low, high []float64) float64 {
	low, high = slices.Sorted(slices.Values(low)), slices.Sorted(slices.Values(high))
	best, threshold := -1, 0.0
	for _, t := range slices.Concat(low, high) {
		notAbove, _ := slices.BinarySearch(low, math.Nextafter(t, math.Inf(1)))
		missed, _ := slices.BinarySearch(high, math.Nextafter(t, math.Inf(1)))
		if right := notAbove + len(high) - missed; right > best {
			best, threshold = right, t
		}
	}
	return threshold
}

func sizes(name string, x []float32) chart.Series {
	s := chart.Series{Name: name}
	for i, v := range x {
		s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, math.Abs(float64(v)))
	}
	return s
}
