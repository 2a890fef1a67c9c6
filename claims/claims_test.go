package claims

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every verdict but "holds" has a counterexample, so that no claim is called false without a proof that runs.
func TestEveryClaimIsWhole(t *testing.T) {
	form := regexp.MustCompile(`^00[0-4]\.[a-zA-Z0-9.-]+$`)
	seen := map[string]bool{}
	papers := map[string]bool{}
	for _, c := range All() {
		if !form.MatchString(c.ID) || seen[strings.ToLower(c.ID)] {
			t.Errorf("ID %q is of another form, or a second one", c.ID)
		}
		seen[strings.ToLower(c.ID)] = true
		papers[c.Paper()] = true
		for name, text := range map[string]string{"place": c.Place, "says": c.Says, "why": c.Why, "ours": c.Ours, "where": c.Where} {
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("%s: %s is %q", c.ID, name, text)
			}
		}
		if !slices.Contains(Verdicts, c.Verdict) {
			t.Errorf("%s: verdict %q", c.ID, c.Verdict)
		}
		if c.Verdict != Holds && !c.Runs() {
			t.Errorf("%s is %s without a counterexample", c.ID, c.Verdict)
		}
		if found, err := Find(c.ID); err != nil || found.ID != c.ID {
			t.Errorf("%s is not found (%v)", c.ID, err)
		}
	}
	if len(papers) != len(Papers) {
		t.Errorf("claims of %d papers, want %d", len(papers), len(Papers))
	}
	if _, err := Find("003.99"); err == nil {
		t.Error("a claim that nobody made was found")
	}
}

// The quick ones; the slow test runs all.
func TestEvidenceSupportsTheVerdict(t *testing.T) {
	slow := []string{"000.eq38-lower", "001.threshold", "001.chunks"}
	for _, c := range All() {
		if !c.Runs() || slices.Contains(slow, c.ID) {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			e, err := c.Run()
			if err != nil {
				t.Error(err)
			}
			if e.Ran == "" || e.Claimed.String() == "" || e.Found.String() == "" {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Numbers that were computed independently of this code.
func TestGoldenEvidence(t *testing.T) {
	for _, c := range []struct {
		id             string
		claimed, found float64
		tolerance      float64 // relative
	}{
		{"000.eq38", 0, .132157, 1e-5},
		{"000.table1-filling", .120503, math.Inf(1), 1e-5},
		{"001.gamma", .3326235525, math.NaN(), 1e-5},
		{"002.n", math.NaN(), 31.7, 1e-3},
		{"002.dimension", 0, 2.20785, 1e-5},
		{"002.eq15", .223130, .429784, 1e-5},
		{"002.bits", math.NaN(), .39316, 1e-4},
		{"003.1", .5, 6.2946, 1e-6},
		{"003.algorithm2", 1e-5, 3.317847e-05, 1e-6},
		{"004.1", .182093, .635270, 1e-2}, // 100,000 simulations: a relative standard error of 0.0024
		{"004.mu", math.NaN(), 2.711030, 1e-6},
		{"004.limit-poisson", 10.480824, 10.82366, 1e-4},
	} {
		claim, err := Find(c.id)
		if err != nil {
			t.Fatal(err)
		}
		e, err := claim.Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []struct {
			name      string
			got, want float64
		}{{"claimed", e.Claimed.Value, c.claimed}, {"found", e.Found.Value, c.found}} {
			if math.IsNaN(n.want) || n.got == n.want {
				continue
			}
			if !(math.Abs(n.got-n.want) <= c.tolerance*math.Abs(n.want)) {
				t.Errorf("%s: %s %.9g, want %.9g", c.id, n.name, n.got, n.want)
			}
		}
	}
}

// A verdict that its evidence does not support is an error, in both directions.
func TestVerdictsWithoutSupportAreErrors(t *testing.T) {
	show := func(contradict bool) func() (Evidence, error) {
		return func() (Evidence, error) { return Evidence{Contradict: contradict}, nil }
	}
	for _, c := range []struct {
		verdict    Verdict
		contradict bool
		fails      bool
	}{{False, true, false}, {False, false, true}, {Corrected, true, false}, {Corrected, false, true}, {Holds, false, false}, {Holds, true, true}} {
		_, err := Claim{ID: "000.x", Verdict: c.verdict, show: show(c.contradict)}.Run()
		if errors.Is(err, ErrUnsupported) != c.fails || (err != nil) != c.fails {
			t.Errorf("%s, contradicted %t: %v", c.verdict, c.contradict, err)
		}
	}
	if _, err := (Claim{ID: "000.x", Verdict: Holds}).Run(); err == nil || errors.Is(err, ErrUnsupported) {
		t.Errorf("a claim with nothing to run: %v", err)
	}
}

func TestNumbersWithoutAValueAreNull(t *testing.T) {
	for n, want := range map[Number]string{
		{1.5, "x"}:           `{"value":1.5,"words":"x"}`,
		{math.Inf(1), "eps"}: `{"value":null,"words":"eps"}`,
	} {
		if got, err := json.Marshal(n); err != nil || string(got) != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
	}
	if s := number(math.NaN(), "as divergence").String(); s != "undefined as divergence" {
		t.Error(s)
	}
}

// evidenceLine is one of those that only a run writes.
var evidenceLine = regexp.MustCompile(`(?m)^- (Ran|Claimed|Found): .*\n`)

// The page is what the command writes; what was found is held against it by the slow test.
func TestThePageIsUpToDate(t *testing.T) {
	page, err := os.ReadFile("../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	if evidenceLine.ReplaceAllString(string(page), "") != Markdown(nil) {
		t.Error("docs/claims.md is not what the claims say: run hubbub claims --markdown --run > docs/claims.md")
	}
	ran := 0
	for _, c := range All() {
		if c.Runs() {
			ran++
		}
	}
	if got := len(evidenceLine.FindAllString(string(page), -1)); got != 3*ran {
		t.Errorf("the page has %d lines of evidence, want 3 for each of %d claims", got, ran)
	}
}
