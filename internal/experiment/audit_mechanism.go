package experiment

import (
	"context"
	"math"
	"slices"

	"hubbub/internal/algorithm"
	"hubbub/noise"
	"hubbub/statement"
)

// MechanismAudit is what the attacks on one mechanism found.
type MechanismAudit struct {
	Kind         string         `json:"kind"`
	Changed      []string       `json:"changed,omitempty"` // of the usual settings
	Fault        Fault          `json:"fault,omitempty"`
	Trials       int            `json:"trials"`
	Confidence   float64        `json:"confidence"` // of all attacks together
	Noise        Noise          `json:"noise"`
	Attacks      []AttackResult `json:"attacks"`
	Contradicted bool           `json:"contradicted"`
}

// AuditMechanism attacks a mechanism in every way we know, through the code that a run uses, and holds what comes of it against
// the statement. The confidence is shared between the attacks (Bonferroni): the first, on a single round, gets half of what may go
// wrong, the others share the rest. A planted fault changes the code, not the claims.
func AuditMechanism(ctx context.Context, kind string, overrides []string, fault Fault, s AuditSettings) (MechanismAudit, error) {
	if err := s.check(); err != nil {
		return MechanismAudit{}, err
	}
	if err := fault.check(kind); err != nil {
		return MechanismAudit{}, err
	}
	key := noise.Seeded(s.Seed)
	played, err := games(ctx, kind, overrides, fault, key)
	if err != nil {
		return MechanismAudit{}, err
	}
	result := MechanismAudit{Kind: kind, Changed: overrides, Fault: fault, Trials: s.Trials, Confidence: s.Confidence, Noise: played[0].f.Noise()}
	wrong := 1 - s.Confidence
	for i, p := range played {
		s.Confidence = 1 - wrong*share(i, len(played))
		r, err := p.game.attack(ctx, s, key.Derive("attack", uint64(i)), p.f.table)
		if err != nil {
			return result, err
		}
		result.Attacks = append(result.Attacks, r)
		result.Contradicted = result.Contradicted || r.Contradicted
	}
	return result, nil
}

// share is what attack i of so many gets.
func share(i, of int) float64 {
	switch {
	case of == 1:
		return 1
	case i == 0:
		return 0.5
	}
	return 0.5 / float64(of-1)
}

// table is working space for games on this federation.
func (f *Federation) table() *table {
	return &table{worker: &worker{
		Worker: algorithm.NewWorker(f.Net, f.Train), update: make([]float32, f.Net.Size()), sum: make([]int64, f.width()),
	}}
}

// playable is a game together with the federation whose code it plays.
type playable struct {
	game
	f *Federation
}

const (
	fewFeatures  = 1  // 4 weights
	manyFeatures = 31 // 64 weights: enough for a norm to tell something
)

// games are all the ways we know to attack a kind.
func games(ctx context.Context, kind string, overrides []string, fault Fault, key noise.Key) ([]playable, error) {
	honest, err := subject(kind, fewFeatures, overrides)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "dpsgd", "waterfill":
		g, err := recordGame(kind, honest, fault)
		return []playable{g}, err
	}
	list, err := clientGames(ctx, honest, fault, key)
	if err != nil {
		return nil, err
	}
	if !honest.amplifies() {
		return list, nil
	}
	sampled, err := sampledGames(ctx, kind, overrides, fault, key)
	if err != nil {
		return nil, err
	}
	list = append(list, sampled...)
	if honest.Facts.Protection != statement.Distributed {
		return list, nil
	}
	// The same kind with noise in shares, of which some may be lacking.
	inShares, err := subject(kind, fewFeatures, append(slices.Clone(overrides), "secagg.noise=minimum", "cohort.min_survivors=2"))
	if err != nil {
		return nil, err
	}
	more, err := clientGames(ctx, inShares, fault, key.Derive("shares"))
	if err != nil {
		return nil, err
	}
	for _, p := range more {
		if p.fewer == 0 && p.learn { // the difference of rounds and the mask were looked at already
			list = append(list, p)
		}
	}
	return list, nil
}

// amplifies says whether the noise is the same whoever takes part, so that sampling the cohort hides too.
func (f *Federation) amplifies() bool {
	return f.Config.Cohort.Sampling == "fixed" &&
		(f.Facts.Protection == statement.Central || f.Facts.Protection == statement.Distributed && f.Facts.ExactTotal && f.Facts.Aggregated)
}

func recordGame(kind string, honest *Federation, fault Fault) (playable, error) {
	f, err := honest.plant(fault)
	if err != nil {
		return playable{}, err
	}
	g := game{sees: f.Net.Size(), learn: true}
	if kind == "dpsgd" {
		g.name = "look for the record in the client's update"
		g.neighbours = "a record with the largest gradient, or with none; all other records have none"
		g.play, err = f.trainingGame()
	} else {
		g.name = "look for the record in the sum of all clients"
		g.neighbours = "a record with the largest gradient, or with the opposite one; all other records have none"
		g.fewer = 4
		g.play, err = f.mixingGame()
	}
	if err != nil {
		return playable{}, err
	}
	g.claim, err = honest.claim(statement.Server, 1)
	return playable{g, f}, err
}

// clientGames are about one client that takes part for certain.
func clientGames(ctx context.Context, honest *Federation, fault Fault, key noise.Key) ([]playable, error) {
	f, err := honest.plant(fault)
	if err != nil {
		return nil, err
	}
	s, err := newSums(f)
	if err != nil {
		return nil, err
	}
	against := statement.Server
	neighbours := "an update of 8 times the clip, or zeros"
	where := "the sum of a round"
	switch {
	case honest.Facts.Protection == statement.Central:
		against, s.others = statement.Public, 1
	case honest.Facts.Protection == statement.Local, !honest.Facts.Aggregated:
		s.alone, where = true, "the client's contribution"
	case honest.Facts.ExactTotal:
		s.others = 1
	default: // as few as may survive
		s.others = max(0, honest.Facts.MinSurvivors-1)
		where = "the sum of as few clients as may survive"
	}
	base := game{sees: f.Net.Size(), learn: true}
	if base.claim, err = honest.claim(against, 1); err != nil {
		return nil, err
	}
	norm := honest.Facts.Clip * overClip
	if honest.Facts.AnyChange {
		norm = 1e3
		neighbours = "an update that is far too large, or the opposite one"
	}
	if err := s.worst(ctx, norm, honest.Facts.AnyChange, key, f); err != nil {
		return nil, err
	}
	first := base
	first.name, first.neighbours, first.play = "look for the update in "+where, neighbours, s.once
	second := base
	second.fewer = 50 // every trial has keys of its own
	second.name, second.neighbours = "subtract the second round from the first", neighbours+", in the first round; zeros in the second"
	second.play = s.twice(fault == KeyReused)
	if second.claim, err = honest.claim(against, 2); err != nil {
		return nil, err
	}
	list := []playable{{first, f}, {second, f}}
	if honest.Facts.Protection == statement.Distributed && honest.Facts.Aggregated {
		bits := f.way.server.BitsPerWeight()
		maskBits := bits
		if fault == WrongModulus {
			maskBits = bits - 2
		}
		third := base
		third.sees, third.learn, third.score = f.width(), false, largest
		third.name, third.neighbours, third.play = "look at the client's masked contribution", neighbours, s.masked(bits, maskBits)
		list = append(list, playable{third, f})
	}
	if honest.Facts.Protection == statement.Distributed && honest.Facts.Aggregated && !honest.Facts.ExactTotal && s.others > 0 {
		curious := *s
		curious.others-- // it knows its own share and takes it out
		fourth := base
		fourth.name, fourth.neighbours, fourth.play = "take the own share out of the sum, as a curious client", neighbours, curious.once
		if fourth.claim, err = honest.claim(statement.Clients, 1); err != nil {
			return nil, err
		}
		list = append(list, playable{fourth, f})
	}
	return list, nil
}

// worst tries a few updates on a pilot and keeps the one that can be told apart best.
func (s *sums) worst(ctx context.Context, norm float64, opposite bool, key noise.Key, f *Federation) error {
	const pilot = 4000
	best := math.Inf(-1)
	var chosen, otherwise []float32
	for i, update := range directions(f.Net.Size(), norm) {
		s.update = update
		if opposite {
			s.otherwise = slices.Clone(update)
			for j := range s.otherwise {
				s.otherwise[j] *= -1
			}
		}
		g := game{sees: f.Net.Size(), play: s.once}
		learned, err := g.discriminant(ctx, key.Derive("direction", uint64(i)), pilot, f.table)
		if err != nil {
			return err
		}
		// How far apart the mean scores are, over their deviation.
		g.score = learned.Score
		apart := 0.0
		var means, deviations [2]float64
		for k, with := range []bool{false, true} {
			scores, err := g.scores(ctx, key.Derive("apart", uint64(i), side(with)), pilot, with, f.table)
			if err != nil {
				return err
			}
			means[k], deviations[k] = meanAndDeviation(scores)
		}
		if spread := math.Hypot(deviations[0], deviations[1]); spread > 0 {
			apart = (means[1] - means[0]) / spread
		}
		if apart > best {
			best, chosen, otherwise = apart, s.update, s.otherwise
		}
	}
	s.update, s.otherwise = chosen, otherwise
	return nil
}

func meanAndDeviation(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(deviation)
}

// sampledGames are about one client of a cohort that is drawn by coins, in the eyes of those who see releases only.
func sampledGames(ctx context.Context, kind string, overrides []string, fault Fault, key noise.Key) ([]playable, error) {
	overrides = append(slices.Clone(overrides), "cohort={sampling: poisson, expected_size: 4}", "privacy.target.against=public")
	var list []playable
	for _, wide := range []bool{false, true} {
		if wide && kind == "laplace" {
			continue // a norm tells nothing that a coordinate does not
		}
		features := fewFeatures
		if wide {
			features = manyFeatures
		}
		honest, err := subject(kind, features, overrides)
		if err != nil {
			return nil, err
		}
		f, err := honest.plant(fault)
		if err != nil {
			return nil, err
		}
		s, err := newSums(f)
		if err != nil {
			return nil, err
		}
		s.others, s.absent, s.rate = 1, true, honest.Facts.CohortSize/float64(honest.Facts.Clients)
		if err := s.worst(ctx, honest.Facts.Clip*overClip, false, key.Derive("sampled", side(wide)), f); err != nil {
			return nil, err
		}
		g := game{sees: f.Net.Size(), play: s.once, neighbours: "a client that tosses its coin to take part, or no such client; the coins of the others are known"}
		if wide {
			g.fewer = 4
			g.name, g.score = "measure the norm of the release", energy
		} else {
			g.name, g.learn = "look for a client of a secret cohort in the release", true
		}
		if g.claim, err = honest.claim(statement.Public, 1); err != nil {
			return nil, err
		}
		list = append(list, playable{g, f})
	}
	return list, nil
}
