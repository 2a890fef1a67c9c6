package experiment

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"hubbub/accountant"
	"hubbub/audit"
	"hubbub/noise"
	"hubbub/statement"
)

// game is an attack in the making: two neighbouring inputs, the real code between them and the adversary, and what it sees.
type game struct {
	name       string // what the adversary does
	neighbours string // the two inputs, in words
	claim      statement.Row
	sees       int    // numbers that the adversary sees
	play       player // makes them once
	score      func(seen []float32) float64
	learn      bool // the score is learned from what is seen, by a linear discriminant; score is nil
	fewer      int  // one trial is made where others make so many: what it looks for is not subtle, and trials are dear; 0 is 1
}

// player fills seen with what the adversary sees of one trial, with the target or without. It is called by many goroutines, each with
// its own table.
type player func(t *table, seen []float32, with bool) error

// table is the working space of one goroutine.
type table struct {
	random *noise.Stream
	worker *worker
	mean   []float32
}

// AuditSettings say how hard to look.
type AuditSettings struct {
	Trials     int     // counted with the target, and as many without; as many again choose the threshold
	HoldOut    int     // so many choose it instead, in AuditWhole: where scores leave no doubt, few do; 0: as many again
	Confidence float64 // that no bound of an audit is above the truth
	Seed       uint64
	Progress   func(attack string, done float64) // optional
}

// AttackResult is what one attack found.
type AttackResult struct {
	Attack     string              `json:"attack"`
	Neighbours string              `json:"neighbours"`
	Against    statement.Adversary `json:"against"`
	Claimed    float64             `json:"claimed_epsilon"`
	Guarantee  string              `json:"guarantee"`
	// Direct assumes nothing: above the claim, it contradicts it.
	Direct   audit.Bound         `json:"direct"`
	Gaussian audit.GaussianBound `json:"if_gaussian"`
	Guesses  audit.Sure          `json:"guesses"`
	Trials   int                 `json:"trials"` // of either kind that were counted
	// Curve are points of the trade-off between the mistakes, against the one that the statement's event has. It rests on no single
	// delta, so it often shows more than Direct.
	Curve        []audit.TradeoffPoint `json:"curve"`
	Violated     int                   `json:"curve_violated"` // points at which fewer mistakes were made than the claim allows
	Contradicted bool                  `json:"contradicted"`   // by Direct, or by Curve
}

func (s AuditSettings) check() error {
	const most = 20_000_000 // scores take a gigabyte
	if s.Trials < 100 || s.Trials > most {
		return inputError("audit: %d trials outside [100, %d]", s.Trials, most)
	}
	if !(s.Confidence > 0 && s.Confidence < 1) {
		return inputError("audit: confidence %g outside (0, 1): use 0.95, say", s.Confidence)
	}
	return nil
}

// attack plays the game: a pilot teaches the score, a hold-out chooses thresholds, and the counted trials give the bounds. All three
// are different trials, so nothing that is counted was looked at before.
func (g game) attack(ctx context.Context, s AuditSettings, key noise.Key, tables func() *table) (AttackResult, error) {
	r := AttackResult{
		Attack: g.name, Neighbours: g.neighbours, Against: g.claim.Adversary, Claimed: math.Inf(1), Guarantee: g.claim.Guarantee,
	}
	if g.claim.Epsilon == nil {
		return r, fmt.Errorf("audit: %s: there is no claim to audit: %s", g.name, g.claim.Why)
	}
	r.Claimed = *g.claim.Epsilon
	// Most for the bound; the curve, which looks where mistakes are many, is content with less.
	confidence, ofCurve := 1-(1-s.Confidence)*0.8, 1-(1-s.Confidence)*0.2
	trials := max(s.Trials/max(1, g.fewer), min(s.Trials, 2000))
	r.Trials = trials
	if g.learn {
		pilot := 4000
		if g.fewer > 1 {
			pilot = 1000
		}
		learned, err := g.discriminant(ctx, key.Derive("pilot"), pilot, tables)
		if err != nil {
			return r, err
		}
		g.score = learned.Score
	}
	var done atomic.Int64
	report := func() {
		if s.Progress != nil {
			s.Progress(g.name, float64(done.Add(1))/4)
		}
	}
	var parts [2]audit.Scores
	for i, purpose := range []string{"hold-out", "counted"} {
		for _, with := range []bool{false, true} {
			scores, err := g.scores(ctx, key.Derive(purpose, side(with)), trials, with, tables)
			if err != nil {
				return r, err
			}
			if with {
				parts[i].With = scores
			} else {
				parts[i].Without = scores
			}
			report()
		}
	}
	holdOut, counted := parts[0], parts[1]
	var err error
	if r.Direct, r.Guesses, err = audit.Audit(holdOut, counted, g.claim.Delta, confidence); err != nil {
		return r, err
	}
	even, err := holdOut.Choose(audit.Evenly)
	if err != nil {
		return r, err
	}
	evenly, err := counted.Count(even)
	if err != nil {
		return r, err
	}
	if r.Gaussian, err = evenly.Gaussian(g.claim.Delta, confidence); err != nil {
		return r, err
	}
	const points = 5 // for either kind of mistake
	thresholds, err := holdOut.Spread(points)
	if err != nil {
		return r, err
	}
	claimed := claimedCurve{about: *g.claim.Event}
	if r.Curve, err = counted.Curve(thresholds, &claimed, ofCurve); err != nil {
		return r, err
	}
	for _, p := range r.Curve {
		if p.Violated {
			r.Violated++
		}
	}
	r.Contradicted = r.Direct.Epsilon > r.Claimed || r.Violated > 0
	return r, claimed.failed
}

// claimedCurve is the trade-off function of an event, as the accountant bounds it from below.
type claimedCurve struct {
	about  accountant.About
	failed error
}

// Beta is the least rate of misses at a rate alpha of false alarms.
func (c *claimedCurve) Beta(alpha float64) float64 {
	t, err := accountant.Tradeoff(c.about, alpha)
	if err != nil {
		c.failed = fmt.Errorf("audit: the claimed trade-off: %w", err)
	}
	return t.Beta // 0 beside an error: nothing is claimed
}

func side(with bool) uint64 {
	if with {
		return 1
	}
	return 0
}

// discriminant learns a score from a pilot.
func (g game) discriminant(ctx context.Context, key noise.Key, trials int, tables func() *table) (audit.Discriminant, error) {
	var seen [2][]float32
	for i, with := range []bool{false, true} {
		seen[i] = make([]float32, trials*g.sees)
		err := parallel(ctx, trials, key.Derive("side", side(with)), tables, func(t *table, trial int) error {
			return g.play(t, seen[i][trial*g.sees:(trial+1)*g.sees], with)
		})
		if err != nil {
			return nil, err
		}
	}
	return audit.Learn(seen[0], seen[1], g.sees)
}

func (g game) scores(ctx context.Context, key noise.Key, trials int, with bool, tables func() *table) ([]float64, error) {
	scores := make([]float64, trials)
	err := parallel(ctx, trials, key, tables, func(t *table, trial int) error {
		if len(t.mean) < g.sees {
			t.mean = make([]float32, g.sees)
		}
		seen := t.mean[:g.sees]
		if err := g.play(t, seen, with); err != nil {
			return err
		}
		scores[trial] = g.score(seen)
		return nil
	})
	return scores, err
}

// parallel makes trials on all cores, in blocks that have a stream each: the same on any number of cores.
func parallel(ctx context.Context, trials int, key noise.Key, tables func() *table, one func(t *table, trial int) error) error {
	const block = 2000
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			t := tables()
			for {
				b := int(next.Add(1)) - 1
				if b*block >= trials || ctx.Err() != nil {
					return
				}
				t.random = key.Derive("block", uint64(b)).Stream()
				for trial := b * block; trial < min(trials, (b+1)*block); trial++ {
					if errs[i] = one(t, trial); errs[i] != nil {
						next.Store(int64(trials)) // the others need not go on
						return
					}
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
