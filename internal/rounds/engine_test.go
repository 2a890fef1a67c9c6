package rounds

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hubbub/accountant"
	"hubbub/ledger"
	"hubbub/noise"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// everyone makes an engine whose rounds invite all of three clients.
func everyone(t *testing.T, change func(*Config)) *Engine {
	t.Helper()
	c := Config{
		Sampling: Sampling{Kind: Fixed, Clients: 3, Size: 3, Key: noise.Seeded(1)}, Rounds: 2, First: 1, Dimension: 2,
		Costs: func(_ int, cohort []int) []ledger.Cost {
			return []ledger.Cost{{Against: "server", Clients: cohort, Price: accountant.About{Event: accountant.Gaussian{NoiseMultiplier: 1}}}}
		},
	}
	if change != nil {
		change(&c)
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func step(t *testing.T, e *Engine, at time.Duration, in Input) Output {
	t.Helper()
	out, err := e.Step(start.Add(at), in)
	if err != nil {
		t.Fatalf("%#v: %v", in, err)
	}
	return out
}

func TestARoundReservesInvitesChargesAndReleases(t *testing.T) {
	e := everyone(t, func(c *Config) { c.ServerNoise = func(round int, sum []int64) { sum[0] += 1000 * int64(round) } })
	out := step(t, e, 0, Begin{})
	if len(out.Charge) != 1 || out.Charge[0].Kind != ledger.Reserve || out.Release != nil {
		t.Fatalf("begin: %+v", out)
	}
	if want := []Message{{1, 0}, {1, 1}, {1, 2}}; !reflect.DeepEqual(out.Send, want) {
		t.Fatalf("invited %v, want %v", out.Send, want)
	}
	for _, c := range []int{2, 0} {
		if out := step(t, e, 0, Contribution{Round: 1, Clients: []int{c}, Sum: []int64{1, int64(c)}}); out.Release != nil || out.Charge != nil {
			t.Fatalf("the round closed before all had come: %+v", out)
		}
	}
	out = step(t, e, 0, Contribution{Round: 1, Clients: []int{1}, Sum: []int64{1, 1}})
	if out.Release == nil || !slices.Equal(out.Release.Sum, []int64{1003, 3}) || out.Release.Contributors != 3 {
		t.Fatalf("release: %+v", out.Release)
	}
	if len(out.Charge) != 1 || out.Charge[0].Kind != ledger.Charge || !slices.Equal(out.Charge[0].Costs[0].Clients, []int{0, 1, 2}) {
		t.Fatalf("charge: %+v", out.Charge)
	}
	if e.Done() {
		t.Error("done after one round of two")
	}
}

func TestOrderOfArrivalChangesNothing(t *testing.T) {
	release := func(order []int) *Release {
		e := everyone(t, nil)
		step(t, e, 0, Begin{})
		var out Output
		for _, c := range order {
			out = step(t, e, 0, Contribution{Round: 1, Clients: []int{c}, Sum: []int64{int64(c) << 40, -int64(c)}})
		}
		return out.Release
	}
	first := release([]int{0, 1, 2})
	for _, order := range [][]int{{2, 1, 0}, {1, 0, 2}} {
		if got := release(order); got.Hash != first.Hash {
			t.Errorf("order %v gave another sum", order)
		}
	}
}

func TestWhatIsLateUninvitedRepeatedOrMisshapenIsRefusedAndLeavesTheStateAlone(t *testing.T) {
	one := []int64{1, 1}
	cases := []struct {
		name string
		in   Input
		want string
	}{
		{"of an earlier round", Contribution{0, []int{0}, one}, "round 0, which is not open"},
		{"of a later round", Contribution{2, []int{0}, one}, "round 2, which is not open"},
		{"from nobody known", Contribution{1, []int{9}, one}, "client 9 is not awaited"},
		{"a second time", Contribution{1, []int{1}, one}, "client 1 is not awaited"},
		{"twice in one", Contribution{1, []int{0, 0}, one}, "stands twice"},
		{"too short", Contribution{1, []int{0}, []int64{1}}, "1 numbers, the round takes 2"},
		{"too long", Contribution{1, []int{0}, []int64{1, 2, 3}}, "3 numbers, the round takes 2"},
		{"a dropout who was heard", Dropout{1, 1}, "already heard"},
		{"a second begin", Begin{}, "still open"},
	}
	e := everyone(t, nil)
	step(t, e, 0, Begin{})
	step(t, e, 0, Contribution{1, []int{1}, one})
	for _, c := range cases {
		if _, err := e.Step(start, c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	out := step(t, e, 0, Contribution{1, []int{0, 2}, []int64{5, 5}})
	if out.Release == nil || !slices.Equal(out.Release.Sum, []int64{6, 6}) {
		t.Errorf("a refused input changed the sum: %+v", out.Release)
	}
	if _, err := e.Step(start, Contribution{1, []int{0}, one}); err == nil {
		t.Error("a closed round took a contribution")
	}
}

func TestTooFewSurvivorsAbandonAndVoid(t *testing.T) {
	e := everyone(t, func(c *Config) {
		c.MinSurvivors = 2
		c.ServerNoise = func(int, []int64) { t.Error("an abandoned round was noised") }
	})
	step(t, e, 0, Begin{})
	step(t, e, 0, Contribution{1, []int{0}, []int64{7, 7}})
	step(t, e, 0, Dropout{1, 1})
	out := step(t, e, 0, Dropout{1, 2})
	if out.Release != nil || out.Abandon == nil || out.Charge[0].Kind != ledger.Void {
		t.Fatalf("%+v", out)
	}
	if want := "1 of 3 invited clients contributed, the minimum is 2"; out.Abandon.Why != want {
		t.Errorf("why: %q, want %q", out.Abandon.Why, want)
	}
	if out = step(t, e, 0, Begin{}); out.Charge[0].Round != 2 || len(out.Send) != 3 {
		t.Errorf("the next round: %+v", out)
	}
}

func TestDeadlineClosesWithWhoCame(t *testing.T) {
	e := everyone(t, func(c *Config) { c.Deadline = time.Minute })
	if out := step(t, e, 0, Begin{}); !out.WakeAt.Equal(start.Add(time.Minute)) {
		t.Fatalf("wake at %v", out.WakeAt)
	}
	step(t, e, time.Second, Contribution{1, []int{2}, []int64{3, 4}})
	if out := step(t, e, 59*time.Second, Tick{}); out.Release != nil || out.WakeAt.IsZero() {
		t.Fatalf("closed early: %+v", out)
	}
	out := step(t, e, time.Minute, Tick{})
	if out.Release == nil || out.Release.Contributors != 1 || !slices.Equal(out.Charge[0].Costs[0].Clients, []int{2}) {
		t.Fatalf("%+v", out)
	}
	if out := step(t, e, time.Hour, Tick{}); !reflect.DeepEqual(out, Output{}) {
		t.Errorf("a tick between rounds did something: %+v", out)
	}
}

func TestEmptyCohortClosesAtOnce(t *testing.T) {
	e := everyone(t, func(c *Config) {
		c.Sampling = Sampling{Kind: Poisson, Clients: 3, Size: 1e-12, Key: noise.Seeded(1)}
		c.ServerNoise = func(_ int, sum []int64) { sum[1] = 42 }
	})
	out := step(t, e, 0, Begin{})
	if len(out.Charge) != 2 || out.Charge[0].Kind != ledger.Reserve || out.Charge[1].Kind != ledger.Charge {
		t.Fatalf("charges: %+v", out.Charge)
	}
	if out.Release == nil || out.Release.Contributors != 0 || out.Release.Sum[1] != 42 {
		t.Fatalf("%+v", out.Release)
	}
}

func TestRoundsEnd(t *testing.T) {
	e := everyone(t, func(c *Config) { c.First = 2 })
	step(t, e, 0, Begin{})
	step(t, e, 0, Contribution{2, []int{0, 1, 2}, []int64{0, 0}})
	if !e.Done() {
		t.Error("not done after the last round")
	}
	if _, err := e.Step(start, Begin{}); err == nil || !strings.Contains(err.Error(), "all 2 rounds") {
		t.Errorf("begin after the end: %v", err)
	}
}

func TestImpossibleConfigurationsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no rounds":                  func(c *Config) { c.Rounds = 0 },
		"round zero":                 func(c *Config) { c.First = 0 },
		"nothing to add":             func(c *Config) { c.Dimension = 0 },
		"more survivors than exist":  func(c *Config) { c.MinSurvivors = 4 },
		"negative deadline":          func(c *Config) { c.Deadline = -1 },
		"no clients":                 func(c *Config) { c.Sampling.Clients = 0 },
		"cohort over the population": func(c *Config) { c.Sampling.Size = 4 },
		"cohort of none":             func(c *Config) { c.Sampling.Size = 0 },
		"cohort of NaN":              func(c *Config) { c.Sampling.Size = math.NaN() },
		"half a client":              func(c *Config) { c.Sampling.Size = 1.5 },
		"unknown sampling":           func(c *Config) { c.Sampling.Kind = "roundrobin" },
	} {
		c := Config{Sampling: Sampling{Kind: Fixed, Clients: 3, Size: 3}, Rounds: 1, First: 1, Dimension: 1}
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// 2,000 rounds; each statistic is near standard normal, so a limit of 6 alarms falsely with probability 2e-9.
func TestCohortsFollowTheirLaw(t *testing.T) {
	const rounds = 2000
	for _, kind := range []Kind{Poisson, Fixed} {
		s := Sampling{Kind: kind, Clients: 50, Size: 10, Key: noise.Seeded(3)}
		counts := make([]float64, s.Clients)
		pairs, total, square := 0.0, 0.0, 0.0
		for r := range rounds {
			cohort := s.Cohort(r)
			if !slices.IsSorted(cohort) || len(slices.Compact(slices.Clone(cohort))) != len(cohort) {
				t.Fatalf("%s round %d: %v is not a sorted set", kind, r, cohort)
			}
			for _, c := range cohort {
				counts[c]++
			}
			if slices.Contains(cohort, 3) && slices.Contains(cohort, 4) {
				pairs++
			}
			total += float64(len(cohort))
			square += float64(len(cohort) * len(cohort))
		}
		for c, n := range counts {
			if z := (n - rounds*0.2) / math.Sqrt(rounds*0.2*0.8); math.Abs(z) > 6 {
				t.Errorf("%s: client %d was drawn %g times in %d rounds", kind, c, n, rounds)
			}
		}
		together, variance := 0.2*0.2, 50*0.2*0.8
		if kind == Fixed {
			together, variance = 10.0*9/(50*49), 0
		}
		if z := (pairs - rounds*together) / math.Sqrt(rounds*together); math.Abs(z) > 6 {
			t.Errorf("%s: clients 3 and 4 met %g times, want about %g", kind, pairs, rounds*together)
		}
		mean := total / rounds
		if got := square/rounds - mean*mean; math.Abs(got-variance) > 6*variance*math.Sqrt(2.0/rounds) {
			t.Errorf("%s: the size varies by %g, want %g", kind, got, variance)
		}
	}
}
