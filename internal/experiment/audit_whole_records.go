package experiment

import (
	"fmt"
	"slices"

	"hubbub/internal/algorithm"
	"hubbub/internal/data"
	"hubbub/noise"
	"hubbub/statement"
)

// certain is a bias so large that the model is sure of its class: the gradient of a record of that class is zero, and stays so whatever a
// run of noisy steps adds to it.
const certain = 100

// wholeTraining is about one record of a client that trains by DP-SGD in every round. The model is certain of all records, but the target
// has another label: its gradient is the largest, the same in every step, and lies in the last biases, as all features are zero.
func (f *Federation) wholeTraining() (playable, error) {
	records, d, classes := len(f.Parts[0]), f.Net.Size(), f.Train.Classes
	quiet := *f
	quiet.Train = &data.Set{
		Name: "audit", Shape: f.Train.Shape, Classes: classes,
		Labels: make([]uint8, records+1), Features: make([]float32, (records+1)*f.Train.Dim()),
	}
	quiet.Train.Labels[records] = 1      // the target
	own, other := d-classes, d-classes+1 // the biases of the class of all others, and of the target's
	model := make([]float32, d)
	model[own] = certain
	without := make([]int, records)
	for i := range without {
		without[i] = i
	}
	with := slices.Clone(without)
	with[0] = records
	g := game{
		name: "add up how far the client's models moved along the record's gradient", sees: 1, score: only,
		neighbours: "a record with the largest gradient in every step, or with none; all other records have none",
	}
	g.play = func(t *table, seen []float32, in bool) error {
		trained, helper := make([]float32, d), slices.Clone(model)
		list := without
		if in {
			list = with
		}
		var memory algorithm.State
		total := 0.0
		for round := range f.Config.Rounds {
			if err := quiet.trainOnce(t.worker.Worker, trained, helper, &memory, 1+round, list, t); err != nil {
				return err
			}
			total += float64(trained[other]-helper[other]) - float64(trained[own]-helper[own])
			if f.personal.Alphas != nil {
				f.personal.Helper(0, helper, trained, model)
			}
		}
		seen[0] = float32(total)
		return nil
	}
	return playable{g, &quiet}, nil
}

// trainOnce sets trained to what a client makes of a model in one round.
func (f *Federation) trainOnce(w *algorithm.Worker, trained, model []float32, memory *algorithm.State, round int, records []int, t *table) error {
	if f.personal.Alphas != nil {
		return f.personal.Train(w, trained, model, memory, round, records, t.random)
	}
	if err := f.algorithm.Update(w, trained, model, round, records, t.random); err != nil {
		return err
	}
	for i, v := range model {
		trained[i] += v
	}
	return nil
}

// wholeMixing is about one record of a client of paper 000 in all rounds, in a smaller federation with the same target.
func (f *Federation) wholeMixing(against statement.Adversary) (playable, error) {
	m, t := f.Config.Privacy.Mechanism, f.Config.Privacy.Target
	if t == nil {
		return playable{}, inputError("audit: a waterfill run is attacked in a smaller one with the same target: give it a target instead of a variance")
	}
	mechanism := fmt.Sprintf("privacy.mechanism={kind: waterfill, method: %s, batch: 2, clip: %g}", m.Method, m.Clip)
	if m.Method == "gd-dp" {
		mechanism = fmt.Sprintf("privacy.mechanism={kind: waterfill, method: gd-dp, clip: %g}", m.Clip)
	}
	small, err := subject("waterfill", fewFeatures, []string{
		mechanism, fmt.Sprintf("rounds=%d", f.Config.Rounds),
		fmt.Sprintf("privacy.target={epsilon: %g, delta: %g, against: %s}", t.Epsilon, t.Delta, against),
	})
	if err != nil {
		return playable{}, err
	}
	once, err := small.mixingGame()
	if err != nil {
		return playable{}, err
	}
	return playable{game{
		name: "add up all releases along the record's gradient", sees: 1, score: only,
		neighbours: fmt.Sprintf("a record with the largest gradient in every round, or with the opposite one; %d clients of %d records, all others without a gradient", mixingClients, subjectRecords),
		play: func(t *table, seen []float32, with bool) error {
			mean, total := make([]float32, small.Net.Size()), 0.0
			for range small.Config.Rounds {
				if err := once(t, mean, with); err != nil {
					return err
				}
				total += float64(mean[0])
			}
			seen[0] = float32(total)
			return nil
		},
	}, small}, nil
}

// firstUpload attacks paper 003 as printed, by the first upload alone. The server sends a model of zeros. A weight whose feature is
// zero in all of a client's records stays zero, its interval has no width, and so it gets no noise: whoever sees another value knows
// that a record with that feature is there. Only if it comes last is it missed: the paper's estimate does not look at the last batch.
func (f *Federation) firstUpload() (playable, error) {
	const corner = 0 // a pixel that is dark in all pictures, and bright in the target
	records, dim := f.Parts[0], f.Train.Dim()
	lit := *f
	lit.Train = &data.Set{Name: "audit", Shape: f.Train.Shape, Classes: f.Train.Classes, Labels: make([]uint8, len(records)+1)}
	without := make([]int, len(records))
	for i, r := range records {
		row := f.Train.Features[r*dim : (r+1)*dim]
		if row[corner] != 0 {
			return playable{}, inputError("audit: record %d of %s has a first feature that is not zero: the attack on the adaptive mechanism needs one that is zero in all records of a client", r, f.Train.Name)
		}
		lit.Train.Features = append(lit.Train.Features, row...)
		lit.Train.Labels[i], without[i] = f.Train.Labels[r], i
	}
	target := len(records)
	lit.Train.Features = append(lit.Train.Features, lit.Train.Features[:dim]...) // the first record, but for the corner
	lit.Train.Features[target*dim+corner] = 1
	lit.Train.Labels[target] = lit.Train.Labels[0]
	with := slices.Clone(without)
	with[0] = target
	model := make([]float32, f.Net.Size())
	telling, err := lit.movedOnlyBy(target, without, model)
	if err != nil {
		return playable{}, err
	}
	return playable{game{
		name: "count the weights of the first upload that only the record can move", sees: 1, score: only,
		neighbours: "a record with a bright pixel in the corner, or dark as in all other pictures",
		play: func(t *table, seen []float32, in bool) error {
			list := without
			if in {
				list = with
			}
			key, err := noise.NewKey(keys{t.random})
			if err != nil {
				return err
			}
			clear(t.worker.sum)
			if err := f.way.client.contribute(t.worker, model, 1, list, key); err != nil {
				return err
			}
			moved := 0
			for _, i := range telling {
				if t.worker.sum[i] != 0 {
					moved++
				}
			}
			seen[0] = float32(moved)
			return nil
		},
	}, &lit}, nil
}

// movedOnlyBy lists the weights in which the target has a gradient and the others, together, have none.
func (f *Federation) movedOnlyBy(target int, others []int, model []float32) ([]int, error) {
	w := f.table().worker
	alone, together := make([]float32, len(model)), make([]float32, len(model))
	if err := w.MeanGradient(alone, model, []int{target}); err != nil {
		return nil, err
	}
	if err := w.MeanGradient(together, model, others); err != nil {
		return nil, err
	}
	var telling []int
	for i, v := range alone {
		if v != 0 && together[i] == 0 {
			telling = append(telling, i)
		}
	}
	if len(telling) == 0 {
		return nil, fmt.Errorf("audit: internal error: the target's feature moves no weight by itself")
	}
	return telling, nil
}
