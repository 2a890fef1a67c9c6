package experiment

import (
	"fmt"

	"hubbub/accountant"
	"hubbub/internal/algorithm"
	"hubbub/internal/data"
	"hubbub/internal/nn"
	"hubbub/internal/rounds"
	"hubbub/mechanism"
	"hubbub/mechanism/adaptive"
	"hubbub/noise"
	"hubbub/statement"
)

// Federation is an experiment with its data: everything that a run needs, checked.
type Federation struct {
	Config *Config
	Hash   string // of the configuration
	Train  *data.Set
	Test   *data.Set
	Parts  data.Partition // Parts[c] lists the records of client c
	Net    *nn.Net
	Facts  statement.Facts // of the whole run, the noise calibrated

	sampling  rounds.Sampling
	algorithm clientAlgorithm
	way       way                // of an update in every round, unless it follows the releases
	follows   *adaptive.Released // whose intervals follow the releases; nil for the other mechanisms
	budget    *adaptive.Budget   // that the printed mechanism is to keep to; nil: it is run without one
	batched   protector          // clients of one record each: many of them are computed at once and clipped by this; nil: one by one
	gradients runsEncoder        // clients of one record each whose gradients are protected one by one, but computed together; nil: computed one by one too
	key       noise.Key

	personal      algorithm.PriFedSync // where clients have models of their own
	personalTests [][]int              // what each measures it on
	canaries      *canaries            // that an audit planted; nil: none

	granularity float64 // of integer noise: as given, or fitted to the bits
}

// clientAlgorithm is what a client computes, and how the server takes it.
type clientAlgorithm interface {
	Update(w *algorithm.Worker, update, model []float32, round int, records []int, random *noise.Stream) error
	ServerGradient(mean []float32)
}

// Prepare deals the data out, checks what depends on it, and chooses the noise.
func Prepare(c *Config, train, test *data.Set) (*Federation, error) {
	return prepare(c, train, test, 0)
}

// prepare is Prepare with so many canaries behind the clients.
func prepare(c *Config, train, test *data.Set, canaries int) (*Federation, error) {
	if len(c.Sweep) > 0 {
		return nil, c.refuse("sweep", "stands for several experiments, which hubbub run carries out; for a single one add --set sweep=null")
	}
	hash, err := c.Hash()
	if err != nil {
		return nil, err
	}
	f := &Federation{Config: c, Hash: hash, Train: train, Test: test, key: noise.Seeded(c.Seed)}
	if c.Data.Limit > 0 {
		f.Train = train.Head(c.Data.Limit)
	}
	if c.Data.TestLimit > 0 {
		f.Test = test.Head(c.Data.TestLimit)
	}
	if f.Parts, err = f.deal(); err != nil {
		return nil, c.refuse("data.partition", "cannot be dealt: %v", err)
	}
	f.Parts = append(f.Parts, make(data.Partition, canaries)...) // without records
	if f.Net, err = f.network(); err != nil {
		return nil, err
	}
	clients := len(f.Parts)
	if c.Cohort.Size > float64(clients) {
		return nil, c.refuse("cohort.expected_size", "must be at most %d, the clients there are", clients)
	}
	if c.Cohort.MinSurvivors > clients {
		return nil, c.refuse("cohort.min_survivors", "must be at most %d, the clients there are", clients)
	}
	f.sampling = rounds.Sampling{Kind: rounds.Kind(c.Cohort.Sampling), Clients: clients, Size: c.Cohort.Size, Key: f.key}
	if err := f.protect(); err != nil {
		return nil, err
	}
	how, err := f.aggregation()
	if err != nil {
		return nil, err
	}
	if how != nil {
		f.Facts.Protocol = how.Claim
	}
	if size := c.Data.PersonalTest; size > 0 {
		byShare := c.Data.Partition.Kind == "dirichlet-equal" || c.Data.Partition.Kind == "dirichlet"
		if f.personalTests, err = dealTests(f.Train, f.Test, f.Parts, size, byShare, f.key); err != nil {
			return nil, c.refuse("data.personal_test", "cannot be dealt: %v", err)
		}
	}
	// Only the central Gaussian takes sums: local noise and integer rounding belong to every update by itself.
	sums := f.Facts.Protection == statement.Unprotected || c.Privacy.Mechanism.Kind == "gaussian" && f.Facts.Protection == statement.Central
	if c.Algorithm.Kind == "fedsgd" && c.Data.Partition.Kind == "records" && canaries == 0 {
		if sums {
			f.batched = f.way.server.(protector)
		} else {
			f.gradients, _ = f.way.server.(runsEncoder)
		}
	}
	return f, nil
}

func (f *Federation) deal() (data.Partition, error) {
	p := f.Config.Data.Partition
	random := f.key.Derive("partition").Stream()
	switch p.Kind {
	case "records":
		return data.Records(f.Train.Len())
	case "iid":
		return data.IID(f.Train.Len(), p.Clients, random)
	case "shards":
		return data.Shards(f.Train.Labels, p.Clients, p.Shards, random)
	case "dirichlet":
		return data.Dirichlet(f.Train.Labels, f.Train.Classes, p.Clients, p.Alpha, max(1, p.MinRecords), random)
	case "dirichlet-equal":
		return data.EqualDirichlet(f.Train.Labels, f.Train.Classes, p.Clients, p.Alpha, random)
	}
	return nil, fmt.Errorf("kind %q is unknown", p.Kind)
}

// protect states the facts, calibrates the noise if a target asks for it, and makes algorithm and mechanism.
func (f *Federation) protect() error {
	c := f.Config
	p := c.Privacy
	f.Facts = statement.Facts{
		Unit: accountant.Unit(p.Unit), Delta: p.Delta, Clip: p.Mechanism.Clip, Noise: p.Mechanism.noise(),
		Clients: len(f.Parts), Rounds: c.Rounds, Poisson: c.Cohort.Sampling == "poisson", CohortSize: c.Cohort.Size,
		MinSurvivors: c.Cohort.MinSurvivors, Dropout: c.Cohort.Dropout, OwnTests: c.Data.PersonalTest > 0, Seeded: true, Memo: statement.NewMemo(),
	}
	if !f.Facts.Poisson && !c.doc.Has("cohort.min_survivors") { // all are waited for: the engine abandons a round that lacks one
		f.Facts.MinSurvivors = int(c.Cohort.Size)
	}
	switch {
	case p.Mechanism.Kind == "none":
		f.Facts.Protection = statement.Unprotected
	case p.Mechanism.Kind == "dpsgd":
		f.Facts.Protection = statement.InTraining
	case p.Mechanism.kind().broken:
		f.Facts.Protection = statement.Broken
	case p.Mechanism.Kind == "adaptive-released":
		f.Facts.Protection, f.Facts.AnyChange = statement.Local, true
	case p.Mechanism.Kind == "waterfill":
		if err := f.fillNoise(); err != nil {
			return err
		}
	case p.Mechanism.kind().shares:
		if err := f.shareNoise(); err != nil {
			return err
		}
	default:
		f.Facts.Protection = statement.Protection(p.Mechanism.Place)
		if p.Mechanism.Kind == "laplace" {
			f.Facts.Total = func(scale float64) accountant.Event { return accountant.Laplace{Scale: scale, Dim: f.Net.Size()} }
		}
	}
	average := c.localTraining()
	if f.Facts.Protection == statement.InTraining {
		if p.Mechanism.Schedule != nil {
			f.Facts.Factor = average.Sizes.Factor
		}
		for _, records := range f.Parts {
			f.Facts.BatchRate = append(f.Facts.BatchRate, average.RateFor(len(records)))
			f.Facts.LocalSteps = append(f.Facts.LocalSteps, average.StepsFor(len(records)))
		}
	}
	if f.Facts.Protection != statement.Unprotected {
		f.Facts.Took = f.participation(c.Rounds)
	}
	if t := p.Target; t != nil {
		f.Facts.Delta = t.Delta
		calibrated, err := f.Facts.Calibrate(t.Epsilon, statement.Adversary(t.Against))
		if err != nil {
			return c.refuse("privacy.target", "cannot be reached: %v", err)
		}
		f.Facts = calibrated
	}
	return f.build(average)
}

// serverKey is where the noise of the server comes from.
func (f *Federation) serverKey(round int) noise.Key {
	return f.key.Derive("server noise", uint64(round))
}

func (f *Federation) build(average algorithm.FedAvg) error {
	if f.Config.Algorithm.Local != nil {
		if err := average.Check(); err != nil {
			return f.Config.refuse("algorithm.local", "is impossible: %v", err)
		}
	}
	switch f.Config.Privacy.Mechanism.Kind {
	case "adaptive":
		return f.buildPrinted(average)
	case "adaptive-released":
		f.algorithm = f.training(average)
		return f.buildFollowing()
	case "waterfill":
		f.algorithm = f.training(average)
		return f.buildFilling()
	}
	protect, err := f.protector(&average)
	if err != nil {
		return f.Config.refuse("privacy.mechanism", "is impossible: %v", err)
	}
	f.algorithm = f.training(average)
	f.way = way{updates{f.algorithm, protect}, protect}
	if a := f.Config.Algorithm; a.Kind == "prifedsync" {
		if n := len(f.Parts); len(a.Alphas) > n {
			return f.Config.refuse("algorithm.alphas", "must be at most %d, the clients there are", n)
		}
		f.personal = algorithm.PriFedSync{FedAvg: average, Alphas: a.helperAlphas(), Keep: a.Local.Keep}
		f.way.client = f.newPersonal() // a run has one of its own
	}
	return nil
}

// training is the algorithm of the file.
func (f *Federation) training(average algorithm.FedAvg) clientAlgorithm {
	switch f.Config.Algorithm.Kind {
	case "fedavg", "prifedsync":
		return average
	case "fedprox":
		return algorithm.FedProx{FedAvg: average, Mu: f.Config.Algorithm.Mu}
	}
	return algorithm.FedSGD{}
}

// protector makes the mechanism on updates. Noise inside local training is put into the algorithm instead.
func (f *Federation) protector(average *algorithm.FedAvg) (protector, error) {
	place := mechanism.Central
	switch f.Facts.Protection {
	case statement.Unprotected:
		return mechanism.None{}, nil
	case statement.Broken:
		m := f.Config.Privacy.Mechanism
		average.Guess = &algorithm.Guess{Rule: algorithm.GuessRule(m.Estimate), Clip: m.Clip, Multiplier: m.Noise}
		f.Facts.Claim = accountant.Unsound{
			Why:     "dpsgd-estimated: noise or clip are sized by the client's own gradients, which tells of the data and is not charged for",
			Claimed: fmt.Sprintf("each step a Gaussian mechanism of noise multiplier %g for one record, as if its size were public", m.Noise),
		}
		return mechanism.None{}, average.Guess.Check()
	case statement.Distributed:
		return f.buildShares()
	case statement.InTraining:
		var err error
		average.Noise, err = mechanism.NewGaussian(place, f.Facts.Clip, f.Facts.Noise) // the client itself does the summing
		return mechanism.None{}, err
	case statement.Local:
		place = mechanism.Local
	}
	if f.Config.Privacy.Mechanism.Kind == "laplace" {
		return mechanism.NewLaplace(place, f.Facts.Clip, f.Facts.Noise)
	}
	return mechanism.NewGaussian(place, f.Facts.Clip, f.Facts.Noise)
}

// participation counts how often each client is drawn in the first rounds. Cohorts depend on no data, so a simulation
// knows them beforehand.
func (f *Federation) participation(upTo int) []int {
	took := make([]int, len(f.Parts))
	for r := 1; r <= upTo; r++ {
		survivors, _ := f.cohort(r)
		for _, c := range survivors {
			took[c]++
		}
	}
	return took
}

// divisor turns the sum of a round into a mean. Under privacy it is the expected cohort: the real one would tell who came.
func (f *Federation) divisor(contributors int) float64 {
	if f.Facts.Protection == statement.Unprotected || f.Facts.Protection == statement.Broken || f.personal.Alphas != nil {
		return float64(contributors) // or the noise is in the models themselves, whoever came
	}
	return f.Config.Cohort.Size
}

// Noise is the noise of the run by name: as given, or as calibrated.
func (f *Federation) Noise() Noise {
	if f.Facts.Protection == statement.Unprotected {
		return nil
	}
	n := Noise{f.Config.Privacy.Mechanism.kind().noise: f.Facts.Noise}
	if f.granularity > 0 {
		n["granularity"] = f.granularity
	}
	return n
}

// BytesUp is what a client sends in a round: in a cohort of the expected size, and if nobody drops out, the masks' keys and shares included.
func (f *Federation) BytesUp() int64 {
	if f.Facts.Masked {
		if p, err := f.secaggParams(1, nil, int(f.Config.Cohort.Size)); err == nil {
			return int64(p.SentBytes())
		}
	}
	return (int64(f.width())*int64(f.way.server.BitsPerWeight()) + 7) / 8
}

// MaskedBytes is BytesUp with secure aggregation, also where sums in the clear stand for it or nothing is hidden at all: 32 bits of a
// weight are then enough for what float32 knows.
func (f *Federation) MaskedBytes() (int64, error) {
	c, side := *f.Config, f.way.server
	if c.Secagg == nil {
		c.Secagg = &Secagg{Kind: "masked"}
		side = bits32{side}
	}
	masked := *f
	masked.Config, masked.way.server = &c, side
	p, err := masked.secaggParams(1, nil, int(c.Cohort.Size))
	return int64(p.SentBytes()), err
}

type bits32 struct{ serverSide }

// BitsPerWeight is that of float32.
func (bits32) BitsPerWeight() int { return 32 }

// width is the number of integers in a contribution. A rotation pads it to a power of two.
func (f *Federation) width() int {
	if m, ok := f.way.server.(interface{ Width() int }); ok {
		return m.Width()
	}
	return f.Net.Size()
}

// BytesDown is what a client receives in a round: the model in float32.
func (f *Federation) BytesDown() int64 { return int64(f.Net.Size()) * 4 }
