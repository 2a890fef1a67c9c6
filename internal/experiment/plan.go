package experiment

import (
	"time"

	"hubbub/internal/algorithm"
	"hubbub/internal/rounds"
	"hubbub/statement"
)

// Plan is what a run will cost, known before anything is trained.
type Plan struct {
	Name        string          `json:"name"`
	Clients     int             `json:"clients"`
	Records     int             `json:"records"`
	Model       string          `json:"model"` // its kind
	Weights     int             `json:"weights"`
	Tensors     []Tensor        `json:"tensors"`
	Rounds      int             `json:"rounds"`
	Noise       Noise           `json:"noise,omitempty"`
	Statement   []statement.Row `json:"statement"`
	Aggregation *Aggregation    `json:"aggregation,omitempty"` // nil: the protocol is not run
	BytesUp     int64           `json:"bytes_up"`              // per client and round
	BytesDown   int64           `json:"bytes_down"`            // per client and round
	Seconds     float64         `json:"seconds"`               // estimated, on this machine as it is now
	MemoryBytes int64           `json:"memory_bytes"`
	ConfigHash  string          `json:"config_hash"`
}

// Tensor is a part of the model.
type Tensor struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// probe is how long one kind of work is tried for the estimate.
const probe = 300 * time.Millisecond

// Plan states the guarantee, and estimates time and memory by trying a little of the work.
func (f *Federation) Plan() (Plan, error) {
	rows, err := f.Facts.Rows()
	if err != nil {
		return Plan{}, err
	}
	how, err := f.aggregation()
	if err != nil {
		return Plan{}, err
	}
	var tensors []Tensor
	for _, t := range f.Net.Tensors() {
		tensors = append(tensors, Tensor{t.Name, t.Shape})
	}
	return Plan{
		Model: f.Config.Model.Kind, Tensors: tensors, Aggregation: how,
		Name: f.Config.Name, Clients: len(f.Parts), Records: f.Train.Len(), Weights: f.Net.Size(), Rounds: f.Config.Rounds,
		Noise: f.Noise(), Statement: rows, BytesUp: f.BytesUp(), BytesDown: f.BytesDown(),
		Seconds: f.estimateSeconds(), MemoryBytes: f.estimateMemory(), ConfigHash: f.Hash,
	}, nil
}

// estimateSeconds times one worker on a few clients of the first cohort, the server's noise and an evaluation.
func (f *Federation) estimateSeconds() float64 {
	crew := newCrew(f)
	model := f.Net.Init(f.key.Derive("init").Stream())
	cohort := f.sampling.Cohort(1)
	perClient := 0.0
	way, err := f.wayAfter(model, nil)
	if err == nil && len(cohort) > 0 {
		size := min(len(cohort), f.together())
		after, err := f.afterEach(1, model, len(cohort), 0)
		if err != nil {
			return 0 // the run itself will say so
		}
		began, tried := time.Now(), 0
		for from := 0; from+size <= len(cohort) && time.Since(began) < probe; from += size {
			if err := crew.contribute(crew.workers[0], way.client, 1, model, cohort[from:from+size], after); err != nil {
				break // the run itself will say so
			}
			tried += size
		}
		perClient = time.Since(began).Seconds() / float64(max(tried, 1))
	}
	began := time.Now()
	f.serverWork(crew, model)
	perRound := time.Since(began).Seconds()
	began = time.Now()
	crew.evaluate(model)
	perEvaluation := time.Since(began).Seconds()
	perRound += f.maskingSeconds(model, cohort)
	n := float64(f.Config.Rounds)
	cores := float64(len(crew.workers))
	return n*(perClient*f.Config.Cohort.Size/cores+perRound) + n/float64(f.Config.Evaluate)*perEvaluation
}

// serverWork is what the server does once a round.
func (f *Federation) serverWork(crew *crew, model []float32) {
	sum := make([]int64, f.width())
	f.way.server.ServerNoise(sum, f.key.Derive("probe").Stream())
	r := run{f: f, crew: crew, way: f.way}
	var err error
	if r.server, err = algorithm.NewOptimizer(f.Config.serverOptimizer(), len(model)); err == nil {
		r.apply(append([]float32(nil), model...), &rounds.Release{Round: 1, Sum: sum, Contributors: 1})
	}
}

// estimateMemory adds up what is held at once: data, models, and each worker's scratch.
func (f *Federation) estimateMemory() int64 {
	d, cores := int64(f.Net.Size()), int64(crewSize())
	data := int64(len(f.Train.Features)+len(f.Test.Features))*4 + int64(f.Train.Len())*8*2
	models := d * (4*8 + 8*2) // model, next model, optimizer and its copies, mean; the engine's sums
	batch := evaluationBatch
	each := d*(4+4) + int64(f.width())*8 // update and sums
	if l := f.Config.Algorithm.Local; l != nil {
		batch = max(batch, l.Batch)
		each += d * (4*4 + 8) // local weights, gradient, optimizer; the sum of clipped gradients
	}
	each += f.Net.Memory(batch) + int64(batch*f.Net.Inputs())*4
	if c := f.Config.Privacy.Mechanism; c.Kind == "waterfill" { // every gradient of a client, in float32 and in float64
		each += d * int64(f.mixed()) * 12
	}
	return data + models + cores*each
}
