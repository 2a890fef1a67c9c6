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
		Method: waterfill.Method(m.Method), Clients: clients, Records: len(f.Parts[0]), Dimension: f.Net.Size(),
		Batch: m.Batch, Clip: m.Clip, Variance: variance,
	})
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
	clip2 := c.Privacy.Mechanism.Clip * c.Privacy.Mechanism.Clip
	f.Facts.Protection = statement.Together
	f.Facts.Aggregated = c.Secagg.Kind == "ideal"
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
	f.way = way{fillingClient{m, f.Config.Privacy.Mechanism.Clip}, withoutServerNoise{m}}
	return nil
}

// fillingClient computes the gradient of each record by itself, since the mechanism mixes them.
type fillingClient struct {
	mechanism *waterfill.Mechanism
	clip      float64
}

func (c fillingClient) contribute(w *worker, model []float32, _ int, records []int, random noise.Key) error {
	var chosen []int
	for _, i := range c.mechanism.Sample(random.Derive("sample").Stream()) {
		chosen = append(chosen, records[i])
	}
	if size := len(chosen) * len(model); cap(w.rows) < size {
		w.rows = make([]float32, size)
	} else {
		w.rows = w.rows[:size]
	}
	if err := w.PerExample(w.rows, model, chosen); err != nil {
		return err
	}
	gradients, err := waterfill.NewGradients(w.rows, len(chosen), c.clip)
	if err != nil {
		return fmt.Errorf("gradients of a client: %w", err)
	}
	return c.mechanism.Contribute(w.sum, gradients, random.Derive("noise").Stream())
}
