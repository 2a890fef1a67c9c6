package experiment

import (
	"fmt"

	"hubbub/accountant"
	"hubbub/mechanism/waterfill"
	"hubbub/noise"
	"hubbub/statement"
)

// filling is the mechanism of paper 000 with this variance, for a sum over so many clients.
func (f *Federation) filling(variance float64, clients int) (*waterfill.Mechanism, error) {
	m := f.Config.Privacy.Mechanism
	return waterfill.New(waterfill.Config{
		Method: waterfill.Method(m.Method), Clients: clients, Records: f.mixed(), Dimension: f.Net.Size(),
		Batch: m.Batch, Clip: m.Clip, Variance: variance,
	})
}

// mixed is how many updates a client mixes: one per record, or one per group of records where clients train.
func (f *Federation) mixed() int {
	if groups := f.Config.Privacy.Mechanism.Groups; groups > 0 {
		return groups
	}
	return len(f.Parts[0])
}

// fillNoise states the facts of clients whose sampling hides their records, together.
func (f *Federation) fillNoise() error {
	c := f.Config
	if c.Cohort.Size != float64(len(f.Parts)) {
		return c.refuse("cohort.expected_size", "must be %d, all clients there are: what waterfill promises counts on the noise of everyone", len(f.Parts))
	}
	for client, records := range f.Parts {
		if len(records) != len(f.Parts[0]) {
			return c.refuse("data.partition", "gives client 0 %d records and client %d %d: waterfill needs the same number for everyone; use kind iid, and a data.limit that is a multiple of the clients",
				len(f.Parts[0]), client, len(records))
		}
	}
	if groups := c.Privacy.Mechanism.Groups; groups > len(f.Parts[0]) {
		return c.refuse("privacy.mechanism.groups", "must be at most %d, the records of a client: no group may be empty", len(f.Parts[0]))
	}
	clip2 := c.Privacy.Mechanism.Clip * c.Privacy.Mechanism.Clip
	f.Facts.Protection = statement.Together
	f.aggregate()
	f.Facts.MinSurvivors = len(f.Parts) // a round without everyone is abandoned
	// Below, noise is no more than a millionth of a gradient; above, ten times as large.
	f.Facts.NoiseRange = [2]float64{1e-12 * clip2, 100 * clip2}
	f.Facts.SumOf = func(variance float64, clients int) accountant.Event {
		m, err := f.filling(variance, clients)
		if err != nil {
			return accountant.Unsound{Why: err.Error()} // the settings were checked: only an impossible variance is left
		}
		return m.Event()
	}
	if _, err := f.filling(clip2*1e-3, 1); err != nil {
		return c.refuse("privacy.mechanism", "is impossible: %v", err)
	}
	return nil
}

func (f *Federation) buildFilling() error {
	m, err := f.filling(f.Facts.Noise, len(f.Parts))
	if err != nil {
		return f.Config.refuse("privacy.mechanism", "is impossible: %v", err)
	}
	client := fillingClient{mechanism: m, clip: f.Config.Privacy.Mechanism.Clip}
	if f.Config.Privacy.Mechanism.Groups > 0 {
		client.training = f.algorithm
	}
	f.way = way{client, withoutServerNoise{m}}
	return nil
}

// fillingClient computes what the mechanism mixes: the gradient of each record by itself, or (section 6 of the paper) in the place of
// gradients the updates of local training, one for each group of records. A record is in one group, so replacing it changes one row of
// the matrix either way, by no more than the clip allows, and the price is the same.
type fillingClient struct {
	mechanism *waterfill.Mechanism
	clip      float64
	training  clientAlgorithm // nil: gradients
}

func (c fillingClient) contribute(w *worker, model []float32, round int, records []int, random noise.Key) error {
	chosen := c.mechanism.Sample(random.Derive("sample").Stream())
	if size := len(chosen) * len(model); cap(w.rows) < size {
		w.rows = make([]float32, size)
	} else {
		w.rows = w.rows[:size]
	}
	if err := c.compute(w, model, round, records, chosen, random); err != nil {
		return err
	}
	gradients, err := waterfill.NewGradients(w.rows, len(chosen), c.clip)
	if err != nil {
		return fmt.Errorf("gradients of a client: %w", err)
	}
	return c.mechanism.Contribute(w.sum, gradients, random.Derive("noise").Stream())
}

// compute writes the rows that were chosen.
func (c fillingClient) compute(w *worker, model []float32, round int, records, chosen []int, random noise.Key) error {
	if c.training == nil {
		of := make([]int, len(chosen))
		for i, row := range chosen {
			of[i] = records[row]
		}
		return w.PerExample(w.rows, model, of)
	}
	groups := c.mechanism.Records()
	for i, row := range chosen {
		group := records[row*len(records)/groups : (row+1)*len(records)/groups]
		w.training.Restart(random.Derive("training", uint64(row)))
		if err := c.training.Update(w.Worker, w.rows[i*len(model):(i+1)*len(model)], model, round, group, &w.training); err != nil {
			return err
		}
	}
	return nil
}
