package experiment

import (
	"cmp"
	"context"
	"math"
	"slices"

	"hubbub/audit"
	"hubbub/noise"
	"hubbub/statement"
)

// WholeAudit is what an attack on all rounds of a run together showed, beside what the run states for the same rounds.
type WholeAudit struct {
	Attack     string              `json:"attack"`
	Neighbours string              `json:"neighbours"`
	Claim      statement.Row       `json:"claim"` // its epsilon is nil where the run promises nothing
	Direct     audit.Bound         `json:"direct"`
	Gaussian   audit.GaussianBound `json:"if_gaussian"`
	Trials     int                 `json:"trials"`
	Smaller    bool                `json:"smaller"` // a smaller federation of the same mechanism, rounds and epsilon was attacked
}

// AuditWhole attacks a federation as it was prepared: its mechanism with the noise that it was calibrated to, its weights, all its rounds. The
// two neighbours are the worst we know, the others contribute nothing, and the adversary adds up what it sees of all rounds along the
// direction in which the neighbours differ. Everyone must take part in every round. Bounds and claim are for the same adversary, unit, delta and number of rounds.
//
// Paper 000 is attacked in a smaller federation, calibrated to the same epsilon over as many rounds: a round of it takes too long to be
// played thousands of times.
func (f *Federation) AuditWhole(ctx context.Context, against statement.Adversary, s AuditSettings) (WholeAudit, error) {
	if err := s.check(); err != nil {
		return WholeAudit{}, err
	}
	if f.Facts.Poisson || f.Facts.CohortSize < float64(len(f.Parts)) {
		return WholeAudit{}, f.Config.refuse("cohort", "must be everyone in every round, {sampling: fixed, expected_size: %d}: the attack is on a client that always takes part", len(f.Parts))
	}
	p, err := f.wholeGame(against)
	if err != nil {
		return WholeAudit{}, err
	}
	result := WholeAudit{Attack: p.name, Neighbours: p.neighbours, Trials: s.Trials, Smaller: f.Facts.Protection == statement.Together}
	if result.Claim, err = p.f.claim(against, p.f.Config.Rounds); err != nil {
		return result, err
	}
	delta := result.Claim.Delta
	if delta == 0 {
		delta = usualDelta
	}
	result.Direct, result.Gaussian, err = p.bounds(ctx, s, delta, noise.Seeded(s.Seed).Derive("whole run"), p.f.table)
	return result, err
}

func (f *Federation) wholeGame(against statement.Adversary) (playable, error) {
	switch f.Facts.Protection {
	case statement.Together:
		return f.wholeMixing(against)
	case statement.InTraining:
		return f.wholeTraining()
	case statement.Broken:
		return f.firstUpload()
	}
	return f.wholeSums(against)
}

// bounds plays a hold-out, which chooses the thresholds, and the trials that count.
func (g game) bounds(ctx context.Context, s AuditSettings, delta float64, key noise.Key, tables func() *table) (audit.Bound, audit.GaussianBound, error) {
	var parts [2]audit.Scores
	for i, trials := range []int{cmp.Or(s.HoldOut, s.Trials), s.Trials} {
		purpose := []string{"hold-out", "counted"}[i]
		var err error
		if parts[i].Without, err = g.scores(ctx, key.Derive(purpose, side(false)), trials, false, tables); err != nil {
			return audit.Bound{}, audit.GaussianBound{}, err
		}
		if parts[i].With, err = g.scores(ctx, key.Derive(purpose, side(true)), trials, true, tables); err != nil {
			return audit.Bound{}, audit.GaussianBound{}, err
		}
	}
	direct, _, err := audit.Audit(parts[0], parts[1], delta, s.Confidence)
	if err != nil {
		return direct, audit.GaussianBound{}, err
	}
	even, err := parts[0].Choose(audit.Evenly)
	if err != nil {
		return direct, audit.GaussianBound{}, err
	}
	evenly, err := parts[1].Count(even)
	if err != nil {
		return direct, audit.GaussianBound{}, err
	}
	gaussian, err := evenly.Gaussian(delta, s.Confidence)
	return direct, gaussian, err
}

// only is the score of games that add up themselves what is seen.
func only(seen []float32) float64 { return float64(seen[0]) }

// wholeSums is about the updates of one client in all rounds.
func (f *Federation) wholeSums(against statement.Adversary) (playable, error) {
	s, err := newSums(f)
	if err != nil {
		return playable{}, err
	}
	g := game{
		name: "add up all releases along the client's direction", sees: 1, score: only,
		neighbours: "a client whose update has 8 times the clip in one weight in every round, or zeros",
	}
	d := f.Net.Size()
	s.update = make([]float32, d)
	s.update[0] = float32(overClip * max(f.Facts.Clip, 1)) // without a clip, as large as with one
	s.others = 1                                           // whose noise is the total's, however many there are
	if f.Facts.Protection == statement.Local {
		s.others = f.Facts.MinSurvivors - 1
		if against == statement.Server {
			s.alone = true
			g.name = "add up all contributions along the client's direction"
		}
	}
	if f.Facts.AnyChange {
		g.neighbours = "a client that wants every weight far up in every round, or far down"
		for i := range d {
			s.update[i], s.otherwise[i] = 1e3, -1e3
		}
	}
	direction := make([]float64, d)
	for i := range direction {
		direction[i] = float64(s.update[i] - s.otherwise[i])
	}
	normalise(direction)
	first := f.Net.Init(f.key.Derive("init").Stream())
	g.play = func(t *table, seen []float32, with bool) error {
		mean, model, before := make([]float32, d), first, []float32(nil)
		game := *s
		total := 0.0
		for range f.Config.Rounds {
			if f.follows != nil { // intervals come from the releases so far
				way, err := f.wayAfter(model, before)
				if err != nil {
					return err
				}
				round := *f
				round.way = way
				game.f, game.encoder = &round, way.client.(updates).mechanism
			}
			if err := game.once(t, mean, with); err != nil {
				return err
			}
			for i, v := range mean {
				total += direction[i] * float64(v)
			}
			if f.follows != nil {
				before, model = model, slices.Clone(model)
				for i, v := range mean {
					model[i] += v / float32(f.Config.Cohort.Size)
				}
			}
		}
		seen[0] = float32(total)
		return nil
	}
	return playable{g, f}, nil
}

func normalise(x []float64) {
	square := 0.0
	for _, v := range x {
		square += v * v
	}
	for i := range x {
		x[i] /= math.Sqrt(square)
	}
}
