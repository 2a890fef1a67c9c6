package experiment

import (
	"context"
	"math"

	"hubbub/audit"
	"hubbub/audit/onerun"
	"hubbub/internal/data"
	"hubbub/statement"
)

// CanarySettings say how a run is audited.
type CanarySettings struct {
	Canaries   int     // planted
	Guesses    int     // made; 0: a fifth of the canaries
	Confidence float64 // of all bounds together
	Monitor    bool    // estimate epsilon while the run goes on
}

// RunAudit is what the canaries of one run showed.
type RunAudit struct {
	Result       Result         `json:"result"`
	Canaries     int            `json:"canaries"`
	In           int            `json:"canaries_in"`
	Attacks      []RunAttack    `json:"attacks"`
	Monitor      []MonitorPoint `json:"monitor,omitempty"`
	Contradicted bool           `json:"contradicted"`
	delta        float64
}

// RunAttack is one way to guess the coins, held against the statement.
type RunAttack struct {
	Attack       string              `json:"attack"`
	Against      statement.Adversary `json:"against"`
	Claimed      *float64            `json:"claimed_epsilon"`
	Why          string              `json:"why,omitempty"` // there is no claim
	Shown        onerun.Bound        `json:"shown"`
	Contradicted bool                `json:"contradicted"`
}

// MonitorPoint is the estimate after a round.
type MonitorPoint struct {
	Round int `json:"round"`
	audit.CosineEstimate
}

// usualDelta stands in where a run has none, because it claims nothing.
const usualDelta = 1e-5

// PrepareAudited is Prepare for a run with canaries behind its clients. The share of clients in a cohort stays what it was, so that
// noise and claims are those of the run without them.
func PrepareAudited(c *Config, train, test *data.Set, s CanarySettings) (*Federation, error) {
	const most = 100_000
	switch {
	case s.Canaries < 2 || s.Canaries > most:
		return nil, inputError("audit: %d canaries outside [2, %d]", s.Canaries, most)
	case s.Guesses < 0 || s.Guesses > s.Canaries:
		return nil, inputError("audit: %d guesses on %d canaries: not more than there are", s.Guesses, s.Canaries)
	case !(s.Confidence > 0 && s.Confidence < 1):
		return nil, inputError("audit: confidence %g outside (0, 1): use 0.95, say", s.Confidence)
	}
	alone, err := Prepare(c, train, test)
	if err != nil {
		return nil, err
	}
	larger := *c
	clients := float64(len(alone.Parts))
	larger.Cohort.Size *= (clients + float64(s.Canaries)) / clients
	if larger.Cohort.Sampling == "fixed" {
		larger.Cohort.Size = math.Round(larger.Cohort.Size)
	}
	f, err := prepare(&larger, train, test, s.Canaries)
	if err != nil {
		return nil, err
	}
	return f, f.plantCanaries(s.Canaries)
}

// Audit runs a federation that was prepared with canaries, and guesses their coins from what it releases.
func (f *Federation) Audit(ctx context.Context, d Folder, version string, s CanarySettings, progress func(Progress, *MonitorPoint)) (RunAudit, error) {
	if f.canaries == nil {
		return RunAudit{}, inputError("audit: no canaries were planted: use PrepareAudited")
	}
	a := RunAudit{Canaries: s.Canaries, delta: f.Facts.Delta}
	if a.delta == 0 {
		a.delta = usualDelta
	}
	for _, in := range f.canaries.in {
		if in {
			a.In++
		}
	}
	watch := func(p Progress) {
		var point *MonitorPoint
		if s.Monitor && p.Last.Accuracy != nil {
			if e, err := audit.EstimateByCosines(f.canaries.cosines(), f.Net.Size(), a.delta); err == nil {
				point = &MonitorPoint{p.Last.Round, e}
				a.Monitor = append(a.Monitor, *point)
			}
		}
		if progress != nil {
			progress(p, point)
		}
	}
	var err error
	if a.Result, err = f.Start(ctx, d, version, watch); err != nil {
		return a, err
	}
	if err := a.attack(f, s); err != nil {
		return a, err
	}
	return a, d.writeJSON("audit.json", a)
}

// attack guesses twice: knowing the releases only, and knowing the cohorts as well. The confidence is shared.
func (a *RunAudit) attack(f *Federation, s CanarySettings) error {
	guesses := s.Guesses
	if guesses == 0 {
		guesses = max(1, s.Canaries/5)
	}
	confidence := 1 - (1-s.Confidence)/2
	for _, way := range []struct {
		name    string
		against statement.Adversary
		scores  []float64
	}{
		{"look along each canary's direction in all releases", statement.Public, f.canaries.all()},
		{"look in the releases of the rounds that the canary took part in", statement.Server, f.canaries.took},
	} {
		g := onerun.Guesses{Canaries: s.Canaries, Guessed: guesses, Correct: f.canaries.guess(way.scores, guesses)}
		shown, err := g.Bound(a.delta, confidence)
		if err != nil {
			return err
		}
		row, _ := a.Result.EpsilonAgainst(way.against, f.Facts.Unit)
		r := RunAttack{Attack: way.name, Against: way.against, Claimed: row.Epsilon, Why: row.Why, Shown: shown}
		r.Contradicted = row.Epsilon != nil && shown.Epsilon > *row.Epsilon
		a.Contradicted = a.Contradicted || r.Contradicted
		a.Attacks = append(a.Attacks, r)
	}
	return nil
}
