package statement

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hubbub/accountant"
	"hubbub/ledger"
)

// central is the demo's kind of run.
func central() Facts {
	return Facts{
		Protection: Central, Unit: accountant.Client, Delta: 1e-5, Clip: 1, Noise: 1.1,
		Clients: 60000, Rounds: 250, Poisson: true, CohortSize: 240, Seeded: true,
	}
}

func local() Facts {
	f := central()
	f.Protection, f.Noise, f.Clients, f.CohortSize, f.Rounds = Local, 20, 4, 2, 10
	f.Took = []int{3, 7, 5, 5}
	return f
}

func inTraining() Facts {
	f := local()
	f.Protection, f.Unit, f.Noise = InTraining, accountant.Record, 1
	f.BatchRate = []float64{0.1, 0.01, 0.02, 0.02}
	f.LocalSteps = []int{5, 5, 5, 7}
	return f
}

// together is a run in which four clients take part in every round.
func together() Facts {
	f := central()
	f.Protection, f.Unit, f.Noise, f.Poisson, f.Clients, f.CohortSize, f.Rounds = Together, accountant.Record, 30, false, 4, 4, 5
	f.Took = []int{5, 5, 5, 5}
	f.SumOf = func(noise float64, clients int) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: math.Sqrt(noise * float64(clients))}
	}
	f.Aggregated = true
	f.NoiseRange = [2]float64{1e-6, 1e6}
	return f
}

func row(t *testing.T, f Facts, who Adversary, unit accountant.Unit) Row {
	t.Helper()
	r, err := f.Row(who, unit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func epsilon(t *testing.T, about accountant.About, delta float64) float64 {
	t.Helper()
	b, err := accountant.Epsilon(about, delta, accountant.Best)
	if err != nil {
		t.Fatal(err)
	}
	return b.Epsilon
}

func wantEpsilon(t *testing.T, r Row, want accountant.About) {
	t.Helper()
	if r.Epsilon == nil {
		t.Fatalf("no guarantee: %s", r.Why)
	}
	if w := epsilon(t, want, r.Delta); *r.Epsilon != w {
		t.Errorf("against %s: epsilon %v, the event costs %v", r.Adversary, *r.Epsilon, w)
	}
}

func TestCentralNoiseProtectsFromAllButTheServer(t *testing.T) {
	f := central()
	amplified := accountant.About{Adjacency: accountant.AddRemove, Unit: accountant.Client, Event: accountant.Repeat{Count: 250,
		Event: accountant.Poisson{Rate: 0.004, Event: accountant.Gaussian{NoiseMultiplier: 1.1}}}}
	wantEpsilon(t, row(t, f, Public, accountant.Client), amplified)
	wantEpsilon(t, row(t, f, Clients, accountant.Client), amplified)
	wantEpsilon(t, row(t, f, Public, accountant.Record), accountant.About{Adjacency: amplified.Adjacency, Unit: accountant.Record, Event: amplified.Event})
	if r := row(t, f, Server, accountant.Client); r.Epsilon != nil || r.Guarantee != "none" || !strings.Contains(r.Why, "must be trusted") {
		t.Errorf("against the server: %+v", r)
	}
}

func TestAmplificationIsDroppedWhenAbandonedRoundsTellTheCohortsSize(t *testing.T) {
	f := central()
	f.MinSurvivors = 200 // a cohort of 240 on average falls below it now and then
	f.Took = []int{4, 9, 2}
	wantEpsilon(t, row(t, f, Public, accountant.Client), accountant.About{Adjacency: accountant.ZeroOut, Unit: accountant.Client,
		Event: accountant.Repeat{Count: 9, Event: accountant.Gaussian{NoiseMultiplier: 1.1}}})
	f.MinSurvivors = 50 // never happens: 12 standard deviations
	r := row(t, f, Public, accountant.Client)
	f.MinSurvivors = 0
	if free := row(t, f, Public, accountant.Client); *r.Epsilon < *free.Epsilon || *r.Epsilon > 1.02**free.Epsilon {
		t.Errorf("epsilon %v with a minimum that never bites, %v without", *r.Epsilon, *free.Epsilon)
	}
}

func TestFixedCohortsArePricedForReplacingAClient(t *testing.T) {
	f := central()
	f.Poisson = false
	event := func(rate float64) accountant.About {
		return accountant.About{Adjacency: accountant.ReplaceOne, Unit: accountant.Client, Event: accountant.Repeat{Count: 250,
			Event: accountant.WithoutReplacement{Rate: rate, Event: accountant.Gaussian{NoiseMultiplier: 0.55}}}}
	}
	f.Noise = 1.1
	wantEpsilon(t, row(t, f, Public, accountant.Client), event(240.0/60000))
	wantEpsilon(t, row(t, f, Clients, accountant.Client), event(240.0/59999))
	f.CohortSize = 60000 // everyone, always: nothing is drawn
	wantEpsilon(t, row(t, f, Public, accountant.Client), accountant.About{Adjacency: accountant.ZeroOut, Unit: accountant.Client,
		Event: accountant.Repeat{Count: 250, Event: accountant.Gaussian{NoiseMultiplier: 1.1}}})
}

func TestLocalNoiseIsChargedToWhoTookPartMost(t *testing.T) {
	f := local()
	f.MinSurvivors = 2
	gaussian := func(honest float64) accountant.About {
		return accountant.About{Adjacency: accountant.ZeroOut, Unit: accountant.Client, Event: accountant.Repeat{Count: 7,
			Event: accountant.Gaussian{NoiseMultiplier: 20 * math.Sqrt(honest)}}}
	}
	wantEpsilon(t, row(t, f, Server, accountant.Client), gaussian(1))
	wantEpsilon(t, row(t, f, Clients, accountant.Client), gaussian(1)) // takes its own noise out of two
	wantEpsilon(t, row(t, f, Public, accountant.Client), gaussian(2))
}

func TestSharesOfNoiseAreStatedForWhatEachAdversarySees(t *testing.T) {
	f := central()
	f.Protection, f.Noise, f.Took, f.Distance = Distributed, 300, []int{2, 9, 4}, 1e-25
	f.Total = func(rate float64) accountant.Event { return accountant.RoundedSkellam{Rate: rate, L2: 10} }
	f.Share = func(rate float64) accountant.Event { return accountant.RoundedSkellam{Rate: rate / 2, L2: 10} }
	f.Fewer = func(rate float64) accountant.Event { return accountant.RoundedSkellam{Rate: rate * 0.9, L2: 10} }
	f.Hidden = func(rate float64) accountant.Event { return accountant.RoundedSkellam{Rate: rate * 0.8, L2: 10} }
	once := func(e accountant.Event) accountant.About {
		return accountant.About{Adjacency: accountant.ZeroOut, Unit: accountant.Client, Event: accountant.Repeat{Count: 9, Event: e}}
	}
	near := func(name string, r Row, want accountant.About) {
		t.Helper()
		if r.Epsilon == nil {
			t.Errorf("%s: no guarantee: %s", name, r.Why)
		} else if w := epsilon(t, want, r.Delta); *r.Epsilon < w || *r.Epsilon > w*1.0001 { // the samplers' distance costs a little
			t.Errorf("%s: epsilon %v, the event costs %v", name, *r.Epsilon, w)
		}
	}
	near("the server that sees single contributions", row(t, f, Server, accountant.Client), once(f.Share(300)))
	near("the public, while the noise tells who came", row(t, f, Public, accountant.Client), once(f.Total(300)))
	near("a client that takes its own share out", row(t, f, Clients, accountant.Client), once(f.Fewer(300)))
	f.Aggregated = true
	near("the server that sees sums, and what those who collude with it know", row(t, f, Server, accountant.Client), once(f.Hidden(300)))
	if row(t, f, Server, accountant.Client).Caveat() == "" || row(t, f, Public, accountant.Client).Caveat() != "" {
		t.Error("that aggregation is simulated must be said beside the server's number, and only there")
	}
	f.ExactTotal = true
	near("the public, with the same noise whoever came", row(t, f, Public, accountant.Client), accountant.About{
		Adjacency: accountant.ZeroOut, Unit: accountant.Client,
		Event: accountant.Repeat{Count: 250, Event: accountant.Poisson{Rate: 0.004, Event: f.Total(300)}},
	})
	f.Layered, f.MaxDropouts = true, 0.1
	near("a client that knows its own share, and who takes part", row(t, f, Clients, accountant.Client), once(f.Fewer(300)))
	amplified := *row(t, f, Public, accountant.Client).Epsilon
	f.Dropout = 0.001 // 24 of 240 and more: out of the question
	if e := *row(t, f, Public, accountant.Client).Epsilon; e < amplified || e > amplified*1.001 {
		t.Errorf("a run that hardly ever loses a round costs %v, one that never does %v", e, amplified)
	}
	f.Dropout = 0.09 // now and then a round is abandoned, and that tells of the cohort
	lost := f.abandonedInARound()
	near("the public, when rounds are abandoned", row(t, f, Public, accountant.Client), accountant.About{
		Adjacency: accountant.ZeroOut, Unit: accountant.Client,
		Event: accountant.Repeat{Count: 250, Event: accountant.Poisson{Rate: 0.004 / (1 - lost), Event: f.Total(300)}},
	})
	if lost < 0.1 || lost > 0.4 {
		t.Errorf("a round is abandoned with probability %v", lost)
	}
	f.Layered, f.Dropout = false, 0
	f.Poisson = false
	near("the public, with a fixed cohort", row(t, f, Public, accountant.Client), once(f.Total(300)))
	f.Masked, f.Failure = true, 1e-5/250 // masks that fail as often as delta allows
	if r := row(t, f, Server, accountant.Client); r.Epsilon != nil {
		t.Errorf("masks that fail with probability delta were given epsilon %v", *r.Epsilon)
	}
	if r := row(t, f, Public, accountant.Client); r.Epsilon == nil {
		t.Error("the public never sees a mask")
	}
	f.Failure = 0x1p-40
	near("the server that sees masked sums", row(t, f, Server, accountant.Client), once(f.Hidden(300)))
	f.Distance = 1e-9 // a bad sampler: 250 rounds of it use up all of delta
	if r := row(t, f, Server, accountant.Client); r.Epsilon != nil {
		t.Errorf("a sampler that is off by 1e-9 a round was given epsilon %v", *r.Epsilon)
	}
}

func TestNoiseForAnyChangeIsStatedForReplacingAClient(t *testing.T) {
	f := local()
	f.AnyChange = true
	wantEpsilon(t, row(t, f, Server, accountant.Client), accountant.About{Adjacency: accountant.ReplaceOne, Unit: accountant.Client,
		Event: accountant.Repeat{Count: 7, Event: accountant.Gaussian{NoiseMultiplier: 20}}})
}

func TestTogetherOnlyThoseCountWhoseNoiseTheAdversaryCannotTakeOut(t *testing.T) {
	for _, c := range []struct {
		name       string
		who        Adversary
		aggregated bool
		counted    float64
	}{
		{"secure aggregation shows the server the sum of all", Server, true, 4},
		{"without it the server sees each contribution", Server, false, 1},
		{"a client knows its own contribution", Clients, true, 3},
		{"the public sees the sum of all", Public, true, 4},
		{"the public sees the sum of all, whatever the server saw", Public, false, 4},
	} {
		f := together()
		f.Aggregated = c.aggregated
		t.Run(c.name, func(t *testing.T) {
			wantEpsilon(t, row(t, f, c.who, accountant.Record), accountant.About{Adjacency: accountant.ReplaceOne, Unit: accountant.Record,
				Event: accountant.Repeat{Count: 5, Event: accountant.Gaussian{NoiseMultiplier: math.Sqrt(30 * c.counted)}}})
		})
	}
	if r := row(t, together(), Public, accountant.Client); r.Epsilon != nil || !strings.Contains(r.Why, "one record") {
		t.Errorf("for a client: %+v", r)
	}
}

func TestABrokenMechanismHasNoGuaranteeBesideThePapersClaim(t *testing.T) {
	f := central()
	f.Protection, f.Claim = Broken, accountant.Unsound{Why: "the noise tells of the data", Claimed: "epsilon 0.5"}
	rows, err := f.Rows()
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Epsilon != nil || r.Guarantee != "none" || r.Why != f.Claim.Why || r.ClaimedByPaper != f.Claim.Claimed || r.Assumptions != nil {
			t.Errorf("%+v", r)
		}
	}
	if costs := f.Costs(1, []int{0, 1}); len(costs) != 0 {
		t.Errorf("a ledger cannot hold what has no price: %v", costs)
	}
	if _, err := f.Calibrate(3, Public); err == nil || !strings.Contains(err.Error(), "the noise tells of the data") {
		t.Errorf("calibrating it: %v", err)
	}
}

func TestTrainingNoiseIsStatedForTheWorstClient(t *testing.T) {
	f := inTraining()
	r := row(t, f, Server, accountant.Record)
	worst := 0.0
	for c, took := range f.Took {
		event := accountant.Repeat{Count: took * f.LocalSteps[c], Event: accountant.Poisson{Rate: f.BatchRate[c], Event: accountant.Gaussian{NoiseMultiplier: 1}}}
		worst = max(worst, epsilon(t, accountant.About{Adjacency: accountant.AddRemove, Unit: accountant.Record, Event: event}, 1e-5))
	}
	if *r.Epsilon != worst {
		t.Errorf("epsilon %v, the worst client has %v", *r.Epsilon, worst)
	}
	// Paper 004's weak and strong notion: all others together see what was made from the client's uploads, so every view costs the same.
	for _, who := range []Adversary{Clients, Public} {
		if other := row(t, f, who, accountant.Record); *other.Epsilon != worst || !strings.Contains(strings.Join(other.Notes, " "), "strong federated f-DP") {
			t.Errorf("against %s: %+v", who, other)
		}
	}
	if r := row(t, f, Server, accountant.Client); r.Epsilon != nil || !strings.Contains(r.Why, "one record") {
		t.Errorf("for a whole client: %+v", r)
	}
}

func TestNoPrivacySaysSoInWords(t *testing.T) {
	rows, err := Facts{Protection: Unprotected, Unit: accountant.Client, Clients: 3, Rounds: 1, CohortSize: 3}.Rows()
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Epsilon != nil || r.Guarantee != "none" || r.Why == "" {
			t.Errorf("%+v", r)
		}
	}
}

// The ledger and the statement are made from the same prices: what a client was charged adds up to what is stated.
func TestTheLedgerAddsUpToTheStatement(t *testing.T) {
	cohorts := [][]int{{0, 1}, {1, 2}, {1}, {}, {1, 3}}
	for name, f := range map[string]Facts{"central": central(), "local": local(), "in training": inTraining(), "together": together()} {
		f.Rounds = len(cohorts)
		f.Took = make([]int, 4)
		l, _ := ledger.New("run", nil)
		for i, cohort := range cohorts {
			for _, c := range cohort {
				f.Took[c]++
			}
			for _, kind := range []ledger.Kind{ledger.Reserve, ledger.Charge} {
				if _, err := l.Append(ledger.Entry{Kind: kind, Round: i + 1, Costs: f.Costs(i+1, cohort)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, who := range Adversaries {
			r := row(t, f, who, f.Unit)
			worst := 0.0
			for client := range 4 {
				var all accountant.Compose
				var about accountant.About
				for _, spent := range l.Spent(string(who), client) {
					all = append(all, spent.Event)
					about = spent
				}
				if len(all) == 0 {
					continue
				}
				about.Event = all
				worst = max(worst, epsilon(t, about, f.Delta))
			}
			switch {
			case r.Epsilon == nil && worst > 0:
				t.Errorf("%s: charged against %s, but no guarantee is stated", name, who)
			case r.Epsilon != nil && math.Abs(*r.Epsilon-worst) > 1e-3*worst:
				t.Errorf("%s, against %s: the ledger adds up to %v, the statement says %v", name, who, worst, *r.Epsilon)
			}
		}
	}
}

func TestCalibrationMeetsItsTargetAndNoMore(t *testing.T) {
	for name, f := range map[string]Facts{"central": central(), "local": local(), "in training": inTraining(), "together": together()} {
		who := Public
		f, err := f.Calibrate(3, who)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := *row(t, f, who, f.Unit).Epsilon; got > 3 || got < 2.99 {
			t.Errorf("%s: epsilon %v at the calibrated noise, want just below 3", name, got)
		}
	}
	if _, err := central().Calibrate(3, Server); err == nil || !strings.Contains(err.Error(), "must be trusted") {
		t.Errorf("central noise against the server: %v", err)
	}
}

func TestEveryGuaranteeListsItsAssumptions(t *testing.T) {
	for name, f := range map[string]Facts{"central": central(), "local": local(), "in training": inTraining(), "together": together()} {
		rows, err := f.Rows()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			seed := slices.ContainsFunc(r.Assumptions, func(s string) bool { return strings.Contains(s, "seed") })
			if (r.Epsilon != nil) != seed {
				t.Errorf("%s against %s, %s: assumptions %q", name, r.Adversary, r.Unit, r.Assumptions)
			}
		}
	}
}

func TestRoundUpNeverMakesAnEpsilonSmaller(t *testing.T) {
	for e := 1e-9; e < 1e6; e *= 1.37 {
		if got := roundUp(e); got < e*(1-1e-12) || got > e*1.0011 {
			t.Errorf("%v became %v", e, got)
		}
	}
}
