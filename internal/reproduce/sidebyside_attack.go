package reproduce

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"hubbub/internal/experiment"
)

// attacked is what is kept of an attack on a configuration, beside its run.
type attacked struct {
	Shown    float64
	Largest  float64
	Gaussian float64 // below 0: not asked
	BytesUp  int64
	trials   int
}

// attack measures what an attack on a mechanism shows, and what a client sends, or finds what was measured before.
func (b *Bench) attack(c *experiment.Config, r rival, epsilon float64) (attacked, error) {
	trials := Pick(b, r.trials, 5*r.trials)
	if r.noise == claimed {
		trials = max(trials, int(5*math.Exp(epsilon))) // without a mistake, so many show epsilon + 0.3
	}
	folder, err := b.Store.Folder(c)
	if err != nil {
		return attacked{}, err
	}
	file := filepath.Join(folder.Path, fmt.Sprintf("attack-%s-%s-%d.json", r.against, r.paper, trials))
	var a attacked
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &a) == nil {
		a.trials = trials
		return a, nil
	}
	f, err := b.Store.Prepare(c)
	if err != nil {
		return a, err
	}
	b.Say("  attacking %s, %d trials", r.name, trials)
	if r.paper == "001" {
		a, err = b.attackSum(f, trials)
	} else {
		a, err = b.attackAll(f, r, trials)
	}
	if err != nil {
		return a, err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return a, err
	}
	a.trials = trials
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return a, fmt.Errorf("keep what an attack showed: %w", err)
	}
	return a, nil
}

// attackAll is the attack on all rounds.
func (b *Bench) attackAll(f *experiment.Federation, r rival, trials int) (attacked, error) {
	whole, err := f.AuditWhole(b.Context, r.against, experiment.AuditSettings{Trials: trials, HoldOut: min(trials, Pick(b, r.trials, 5*r.trials)), Confidence: 0.95, Seed: 1})
	if err != nil {
		return attacked{}, err
	}
	a := attacked{Shown: whole.Direct.Epsilon, Largest: whole.Direct.Largest, Gaussian: whole.Gaussian.Epsilon, BytesUp: f.BytesUp()}
	if r.noise != proved || math.IsInf(a.Gaussian, 1) {
		a.Gaussian = -1
	}
	if f.Facts.Aggregated {
		a.BytesUp, err = f.MaskedBytes()
	}
	return a, err
}

// attackSum is that of paper 001 on the first round: the others' updates are all that hides one of them.
func (b *Bench) attackSum(f *experiment.Federation, trials int) (attacked, error) {
	leaks, err := f.Leak(b.Context, experiment.LeakOptions{Samples: 3 * f.Net.Size(), Candidates: 200, Trials: trials, Delta: compareDelta}, nil)
	if err != nil {
		return attacked{}, err
	}
	bytes, err := f.MaskedBytes()
	return attacked{Shown: leaks[0].Bound.Epsilon, Largest: leaks[0].Bound.Largest, Gaussian: -1, BytesUp: bytes}, err
}
