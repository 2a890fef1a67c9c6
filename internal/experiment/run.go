package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"hubbub/accountant"
	"hubbub/internal/algorithm"
	"hubbub/internal/kernel"
	"hubbub/internal/rounds"
	"hubbub/mechanism"
	"hubbub/statement"
)

// Metrics is one line of metrics.jsonl. Rounds that were not evaluated have no accuracy. Cohort sizes are left out on purpose:
// publishing them would undo the amplification by sampling.
type Metrics struct {
	Round     int                              `json:"round"`
	Accuracy  *float64                         `json:"accuracy,omitempty"`
	Loss      *float64                         `json:"loss,omitempty"`
	Personal  *Personal                        `json:"personal,omitempty"`  // where clients have models of their own
	Epsilon   map[statement.Adversary]*float64 `json:"epsilon,omitempty"`   // so far; null: no guarantee
	Overflows *int                             `json:"overflows,omitempty"` // where they are allowed: coordinates of the sum
	Abandoned string                           `json:"abandoned,omitempty"`
	Seconds   float64                          `json:"seconds"` // since the start
}

// Personal are mean accuracies over the clients, each on its own test records. They are for research: what a client has, and so
// which labels it is tested on, is private, and no noise hides it here.
type Personal struct {
	Own    float64 `json:"own"`    // of each client's own model
	Global float64 `json:"global"` // of the global model
}

// Progress is told after every round.
type Progress struct {
	Rounds int // planned
	Last   Metrics
	Left   time.Duration // estimated
}

// Result is result.json.
type Result struct {
	Name                string          `json:"name"`
	Finished            bool            `json:"finished"`
	Note                string          `json:"note,omitempty"`     // why it stopped early
	Diverged            bool            `json:"diverged,omitempty"` // the training did, or its noise outgrew it
	Rounds              int             `json:"rounds"`
	Accuracy            float64         `json:"accuracy"`
	Loss                float64         `json:"loss"`
	Seconds             float64         `json:"seconds"`
	BytesPerClientRound int64           `json:"bytes_per_client_round"`
	BytesUp             int64           `json:"bytes_up"`
	BytesDown           int64           `json:"bytes_down"`
	Noise               Noise           `json:"noise,omitempty"`
	Statement           []statement.Row `json:"statement"`
	ConfigHash          string          `json:"config_hash"`
	ModelHash           string          `json:"model_hash"`
	Personal            *Personal       `json:"personal,omitempty"`
	Overflows           *Overflows      `json:"overflows,omitempty"`
}

// Noise names the parameter of the mechanism that the guarantee rests on, and its value.
type Noise map[string]float64

// run is the state of one run.
type run struct {
	f        *Federation
	folder   Folder
	books    *books
	engine   *rounds.Engine
	crew     *crew
	way      way // of the open round
	server   algorithm.Optimizer
	metrics  *os.File
	lines    []Metrics
	last     checkpoint // after the last complete round
	good     checkpoint // after the last round whose model was measured and found finite
	took     []int      // how often each client took part, the open round included
	began    time.Time  // shifted by what earlier parts of the run took
	kept     time.Time  // when the last checkpoint was written
	progress func(Progress)
	personal *personal     // nil: clients have no models of their own
	writing  time.Duration // what the last checkpoint took
}

// Start runs the experiment in a new folder.
func (f *Federation) Start(ctx context.Context, d Folder, version string, progress func(Progress)) (Result, error) {
	text, err := f.Config.Text()
	if err != nil {
		return Result{}, err
	}
	if err := d.write(configFile, text); err != nil {
		return Result{}, err
	}
	first := checkpoint{model: f.Net.Init(f.key.Derive("init").Stream())}
	r, err := f.open(d, first, progress)
	if err != nil {
		return Result{}, err
	}
	return r.loop(ctx, version)
}

// Resume goes on where the folder's checkpoint was made.
func (f *Federation) Resume(ctx context.Context, d Folder, version string, progress func(Progress)) (Result, error) {
	at, err := d.readCheckpoint(f.Hash, f.Net.Size())
	if err != nil {
		return Result{}, err
	}
	r, err := f.open(d, at, progress)
	if err != nil {
		return Result{}, err
	}
	return r.loop(ctx, version)
}

func (f *Federation) open(d Folder, at checkpoint, progress func(Progress)) (*run, error) {
	r := &run{f: f, folder: d, crew: newCrew(f), last: at, good: at, took: f.participation(at.round), progress: progress}
	r.began = time.Now().Add(-time.Duration(at.seconds * float64(time.Second)))
	var err error
	if r.server, err = algorithm.NewOptimizer(f.Config.serverOptimizer(), f.Net.Size()); err != nil {
		return nil, err
	}
	if f.personal.Alphas != nil {
		r.personal = f.newPersonal()
		if err := r.personal.restore(at.personal, at.metadata); err != nil {
			return nil, inputError("%s: %w", d.file(checkpointFile), err)
		}
	}
	if at.round > 0 {
		if err := r.server.Restore(at.server); err != nil {
			return nil, inputError("%s: %w", d.file(checkpointFile), err)
		}
	}
	if r.lines, err = d.readMetrics(at.round); err != nil {
		return nil, err
	}
	if r.books, err = openBooks(d, f.Hash, at.entries); err != nil {
		return nil, err
	}
	if r.metrics, err = os.OpenFile(d.file(metricsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, inputError("open the metrics: %w", err)
	}
	r.engine, err = rounds.New(rounds.Config{
		Sampling: f.sampling, Rounds: f.Config.Rounds, First: at.round + 1, Dimension: f.width(), MinSurvivors: f.Facts.MinSurvivors,
		Costs: f.Facts.Costs, Tolerated: f.toleration(),
		ServerNoise: func(round int, sum []int64) {
			f.way.server.ServerNoise(sum, f.serverKey(round).Stream())
		},
	})
	return r, err
}

// loop runs the rounds that are left and keeps what came of them, also when it is interrupted or the training diverges.
func (r *run) loop(ctx context.Context, version string) (Result, error) {
	defer r.books.close()
	defer r.metrics.Close()
	if err := r.keepCheckpoint(); err != nil { // so that there is one from the start
		return Result{}, err
	}
	var stopped error
	for !r.engine.Done() && stopped == nil && !r.reached() && r.f.refusesRound(r.last.round+1, r.took) == nil {
		stopped = r.oneRound(ctx)
	}
	note, spent, diverged := "", r.last.round, false
	switch {
	case stopped == nil:
	case errors.Is(stopped, context.Canceled):
		note = fmt.Sprintf("stopped after round %d of %d; go on with: hubbub run %s --resume", r.last.round, r.f.Config.Rounds, r.folder.Path)
	case errors.Is(stopped, algorithm.ErrDiverged), errors.Is(stopped, mechanism.ErrNotFinite), errors.Is(stopped, mechanism.ErrTooLarge),
		errors.Is(stopped, errNoiseGrew):
		why := algorithm.ErrDiverged
		if errors.Is(stopped, errNoiseGrew) {
			why = errNoiseGrew
		}
		note = fmt.Sprintf("stopped in round %d: %v; the model of round %d was kept", r.last.round+1, why, r.good.round)
		stopped, diverged = inputError("%s", note), true
		spent++ // the failing round may have been released
		r.last, r.lines = r.good, r.lines[:r.good.round]
	default:
		return Result{}, stopped // the disk failed, say: what was kept before is still there
	}
	if err := r.keepCheckpoint(); err != nil {
		return Result{}, err
	}
	result, err := r.finish(note, version, spent, diverged)
	if err != nil {
		return Result{}, err
	}
	return result, stopped
}

// reached reports whether the accuracy that ends the run is there.
func (r *run) reached() bool {
	if r.f.Config.StopAt == 0 || len(r.lines) == 0 {
		return false
	}
	last := r.lines[len(r.lines)-1]
	if last.Personal != nil {
		return last.Personal.Own >= r.f.Config.StopAt
	}
	return last.Accuracy != nil && *last.Accuracy >= r.f.Config.StopAt
}

// oneRound either completes a round or leaves the state as it was after the one before.
func (r *run) oneRound(ctx context.Context) error {
	out, err := r.step(rounds.Begin{})
	if err != nil {
		return err
	}
	if r.way, err = r.f.wayAfter(r.last.model, r.last.before); err != nil {
		return err
	}
	if r.personal != nil {
		r.way.client = r.personal
	}
	if len(out.Send) > 0 {
		if out, err = r.gather(ctx); err != nil {
			return err
		}
	}
	line := Metrics{Round: r.last.round + 1}
	next, before := slices.Clone(r.last.model), r.last.before
	if out.Release != nil {
		line.Overflows = r.overflows(out.Release)
		r.apply(next, out.Release)
		if r.personal != nil {
			r.personal.sync(next)
		}
		if r.f.follows != nil {
			before = r.last.model
		}
	} else if out.Abandon != nil {
		line.Abandoned = out.Abandon.Why
	}
	if err := r.measure(&line, next); err != nil {
		return err
	}
	r.last = checkpoint{round: line.Round, entries: len(r.books.chain.Entries()), model: next, before: before, server: r.server.State().Clone()}
	if err := r.keepLine(line); err != nil {
		return err
	}
	if line.Loss != nil {
		r.good = r.last
	}
	return nil
}

// gather computes what the cohort of the open round sends, and tells the engine who came and who did not.
func (r *run) gather(ctx context.Context) (out rounds.Output, err error) {
	round := r.last.round + 1
	survivors, dropped := r.f.cohort(round)
	for _, c := range survivors {
		r.took[c]++
	}
	if r.f.Config.Secagg != nil && r.f.Config.Secagg.Kind == "masked" {
		return r.gatherMasked(ctx, round, survivors, dropped)
	}
	after, err := r.f.afterEach(round, r.last.model, len(survivors), len(dropped))
	if err != nil {
		return out, err
	}
	sums, err := r.crew.contributions(ctx, r.way.client, round, r.last.model, survivors, after)
	if err != nil {
		return out, err
	}
	for _, s := range sums {
		if out, err = r.step(s); err != nil {
			return out, err
		}
	}
	for _, c := range dropped {
		if out, err = r.step(rounds.Dropout{Round: round, Client: c}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// step hands the engine what happened and makes its charges durable before anything else is done with the answer.
func (r *run) step(in rounds.Input) (rounds.Output, error) {
	out, err := r.engine.Step(time.Now(), in)
	if err != nil {
		return out, err
	}
	return out, r.books.keep(out.Charge)
}

// apply takes the server's step with a release.
func (r *run) apply(model []float32, release *rounds.Release) {
	divisor := r.f.divisor(release.Contributors)
	if divisor == 0 {
		return // nobody came, and there is no noise either
	}
	mean := make([]float32, len(model))
	r.way.server.Decode(mean, release.Sum, divisor)
	if k := r.f.canaries; k != nil {
		k.observe(mean, divisor, r.f.sampling.Cohort(release.Round), r.crew.workers)
	}
	r.f.algorithm.ServerGradient(mean)
	r.server.Step(model, mean, r.f.Config.serverOptimizer().RateIn(release.Round))
}

// measure evaluates on schedule and refuses a model that has diverged.
func (r *run) measure(line *Metrics, model []float32) error {
	if !kernel.Finite(model) {
		return algorithm.ErrDiverged
	}
	if line.Round%r.f.Config.Evaluate != 0 && line.Round != r.f.Config.Rounds {
		return nil
	}
	loss, accuracy := r.crew.evaluate(model)
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return algorithm.ErrDiverged
	}
	line.Loss, line.Accuracy = &loss, &accuracy
	if r.personal != nil && r.personal.tests != nil {
		line.Personal = r.crew.evaluatePersonal(r.personal, model)
	}
	line.Epsilon = map[statement.Adversary]*float64{}
	facts := r.f.Facts
	// An abandoned round counts as well: that it was abandoned can be seen.
	facts.Rounds, facts.Took = line.Round, r.took
	for _, adversary := range statement.Adversaries {
		row, err := facts.Row(adversary, facts.Unit)
		if err != nil {
			return err
		}
		line.Epsilon[adversary] = row.Epsilon
	}
	return nil
}

func (r *run) keepLine(line Metrics) error {
	elapsed := time.Since(r.began)
	r.last.seconds = elapsed.Seconds()
	line.Seconds = math.Round(elapsed.Seconds()*1000) / 1000
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err := r.metrics.Write(append(text, '\n')); err != nil {
		return inputError("write the metrics: %w", err)
	}
	r.lines = append(r.lines, line)
	// A run that died is taken up from its last checkpoint and comes to the same end, so one a second is enough.
	if time.Since(r.kept) > max(time.Second, 20*r.writing) {
		if err := r.keepCheckpoint(); err != nil {
			return err
		}
	}
	if r.progress != nil {
		left := time.Duration(float64(elapsed) / float64(line.Round) * float64(r.f.Config.Rounds-line.Round))
		r.progress(Progress{Rounds: r.f.Config.Rounds, Last: line, Left: left})
	}
	return nil
}

func (r *run) keepCheckpoint() error {
	began := time.Now()
	text, err := r.last.encode(r.f.Hash, r.personal)
	if err != nil {
		return err
	}
	err = r.folder.write(checkpointFile, text)
	r.kept = time.Now()
	r.writing = r.kept.Sub(began) // clients' own models can be large: no more than a twentieth of the time goes into keeping them
	return err
}

// finish writes model, result and report. The statement speaks of all rounds that were spent, also past the model that is kept.
func (r *run) finish(note, version string, spent int, diverged bool) (Result, error) {
	facts := r.f.Facts
	facts.Rounds, facts.Took = spent, r.f.participation(spent)
	rows, err := facts.Rows()
	if err != nil {
		return Result{}, err
	}
	loss, accuracy := r.crew.evaluate(r.last.model)
	encoded, err := encodeModel(r.f.Net, r.last.model, map[string]string{"name": r.f.Config.Name, "config_hash": r.f.Hash, "rounds": fmt.Sprint(r.last.round)})
	if err != nil {
		return Result{}, err
	}
	hash := sha256.Sum256(encoded)
	var own *Personal
	if r.personal != nil && r.personal.tests != nil {
		own = r.crew.evaluatePersonal(r.personal, r.last.model)
	}
	result := Result{
		Personal: own,
		Name:     r.f.Config.Name, Finished: note == "", Note: note, Diverged: diverged, Rounds: r.last.round, Accuracy: accuracy, Loss: loss,
		Seconds: math.Round(r.last.seconds*1000) / 1000, BytesPerClientRound: r.f.BytesUp() + r.f.BytesDown(),
		BytesUp: r.f.BytesUp(), BytesDown: r.f.BytesDown(), Noise: r.f.Noise(), Statement: rows,
		ConfigHash: r.f.Hash, ModelHash: hex.EncodeToString(hash[:]), Overflows: r.allOverflows(),
	}
	if err := r.folder.write(modelFile, encoded); err != nil {
		return Result{}, err
	}
	page, err := r.report(result, version)
	if err != nil {
		return Result{}, err
	}
	if err := r.folder.write(reportFile, page); err != nil {
		return Result{}, err
	}
	return result, r.folder.writeJSON(resultFile, result)
}

// EpsilonAgainst finds a row of the statement for the run's own unit.
func (r Result) EpsilonAgainst(adversary statement.Adversary, unit accountant.Unit) (statement.Row, bool) {
	for _, row := range r.Statement {
		if row.Adversary == adversary && row.Unit == unit {
			return row, true
		}
	}
	return statement.Row{}, false
}
