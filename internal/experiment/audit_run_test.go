package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"hubbub/statement"
)

func audited(t *testing.T, overrides []string, s CanarySettings) *Federation {
	t.Helper()
	c, err := Parse("test.yaml", []byte(base), overrides)
	if err != nil {
		t.Fatal(err)
	}
	f, err := PrepareAudited(c, blobs(1, 300), blobs(2, 60), s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func runAudit(t *testing.T, f *Federation, s CanarySettings) RunAudit {
	t.Helper()
	d, err := MakeFolder(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Audit(context.Background(), d, "test", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// everyone takes part. The clients are few, so that the monitor, which does not know their updates, still sees the canaries.
var everyone = []string{
	"data.limit=20", "cohort={sampling: fixed, expected_size: 20}", "rounds=4", "evaluate_every=2", "model.hidden=[30]",
	"privacy={mechanism: {kind: gaussian, place: central, clip: 1}, target: {epsilon: 3, delta: 1e-5, against: public}}",
}

func TestCanariesOfARunThatHidesNothingAreAllFound(t *testing.T) {
	s := CanarySettings{Canaries: 100, Guesses: 60, Confidence: .95, Monitor: true}
	f := audited(t, []string{
		"privacy={mechanism: {kind: none}}", "data.limit=20", "cohort={sampling: fixed, expected_size: 20}", "rounds=4", "evaluate_every=2", "model.hidden=[60]",
	}, s)
	a := runAudit(t, f, s)
	for _, w := range a.Attacks {
		// All of 60 correct show 2.8 at 97.5%; one or two may be lost to the clients' own updates.
		if w.Claimed != nil || w.Shown.Epsilon < 2 || w.Contradicted {
			t.Errorf("%s: %+v", w.Attack, w)
		}
	}
	if n := len(a.Monitor); n != 2 || a.Monitor[n-1].Epsilon < 3 {
		t.Errorf("the monitor says %+v, want two large estimates", a.Monitor)
	}
}

func TestCanariesDoNotContradictAnHonestRun(t *testing.T) {
	s := CanarySettings{Canaries: 400, Confidence: .95, Monitor: true}
	f := audited(t, everyone, s)
	if f.Config.Cohort.Size != 420 {
		t.Fatalf("a cohort of %g, want everyone", f.Config.Cohort.Size)
	}
	a := runAudit(t, f, s)
	public := a.Attacks[0]
	if public.Against != statement.Public || public.Claimed == nil || math.Abs(*public.Claimed-3) > 0.01 {
		t.Fatalf("the claim is %+v, want epsilon 3 as without canaries", public)
	}
	// Epsilon 3 is mu 0.72: of 80 guesses on the surest fifth some 80% are correct, which shows about 0.9.
	if a.Contradicted || public.Shown.Epsilon < 0.3 || public.Shown.EpsilonFDP > 3 {
		t.Errorf("shown: %+v", public.Shown)
	}
	if last := a.Monitor[len(a.Monitor)-1].Epsilon; last < 1 || last > 6 {
		t.Errorf("the estimate is %g, the truth 3", last)
	}
	if a.In < 150 || a.In > 250 { // five deviations
		t.Errorf("%d of 400 fair coins fell on heads", a.In)
	}
}

func TestCanariesContradictARunWithTooLittleNoise(t *testing.T) {
	s := CanarySettings{Canaries: 200, Guesses: 150, Confidence: .95}
	f := audited(t, append(everyone[:len(everyone):len(everyone)], "privacy.target.epsilon=0.5", "model.hidden=[60]"), s)
	faulty := *f
	faulty.Facts.Noise /= 50
	if err := faulty.build(faulty.localTraining()); err != nil {
		t.Fatal(err)
	}
	faulty.Facts = f.Facts // claims what it did not do
	if a := runAudit(t, &faulty, s); !a.Contradicted {
		t.Errorf("not found: %+v", a.Attacks)
	}
}

func TestAlongIsTheProductWithTheDirection(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 63, 64, 65, 200} {
		signs := make([]uint64, (d+63)/64)
		for i := range signs {
			signs[i] = random.Uint64()
		}
		x, want := make([]float32, d), 0.0
		for j := range x {
			x[j] = float32(random.NormFloat64())
			want += float64(x[j]) * float64(flip(1, signs, j))
		}
		if got := along(signs, x); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d weights: %g, want %g", d, got, want)
		}
	}
}

func TestGuessesTakeTheSurest(t *testing.T) {
	k := &canaries{in: []bool{true, false, true, false, true}}
	if got := k.guess([]float64{5, 1, 4, 2, 3}, 4); got != 4 {
		t.Errorf("%d of 4 correct, want all", got)
	}
	if got := k.guess([]float64{1, 5, 2, 4, 3}, 4); got != 0 {
		t.Errorf("%d of 4 correct, want none", got)
	}
}

func TestBadCanariesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name      string
		overrides []string
		settings  CanarySettings
		want      string
	}{
		{"one canary", nil, CanarySettings{Canaries: 1, Confidence: .95}, "1 canaries outside"},
		{"more guesses than canaries", nil, CanarySettings{Canaries: 10, Guesses: 11, Confidence: .95}, "11 guesses on 10 canaries"},
		{"confidence one", nil, CanarySettings{Canaries: 10, Confidence: 1}, "confidence 1"},
		{"a run that hides records", kinds["dpsgd"], CanarySettings{Canaries: 10, Confidence: .95}, "cannot be audited by canaries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := Parse("test.yaml", []byte(base), c.overrides)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := PrepareAudited(config, blobs(1, 300), blobs(2, 60), c.settings); err == nil || !strings.Contains(err.Error(), c.want) || !IsInput(err) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}
