package secagg

import (
	"errors"
	"strings"
	"testing"
)

func TestParametersThatCannotWorkAreRefused(t *testing.T) {
	good := Params{Cohort: 10, Threshold: 6, MinSurvivors: 7, Colluders: 1, Dim: 1000, Bits: 20}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Params)
	}{
		{"nobody", func(p *Params) { p.Cohort = 0 }},
		{"one client", func(p *Params) { p.Cohort, p.Threshold, p.MinSurvivors = 1, 1, 1 }},
		{"two clients", func(p *Params) { p.Cohort, p.Threshold, p.MinSurvivors = 2, 2, 2 }},
		{"a threshold of one", func(p *Params) { p.Threshold = 1 }},
		{"a threshold above the survivors", func(p *Params) { p.Threshold = 8 }},
		{"more survivors than clients", func(p *Params) { p.MinSurvivors = 11 }},
		{"a sum of two", func(p *Params) { p.MinSurvivors, p.Threshold = 2, 2 }},
		{"as many colluders as the threshold", func(p *Params) { p.Colluders = 6 }},
		{"a negative number", func(p *Params) { p.Colluders = -1 }},
		{"no elements", func(p *Params) { p.Dim = 0 }},
		{"too many elements", func(p *Params) { p.Dim = MaxDim + 1 }},
		{"no bits", func(p *Params) { p.Bits = 0 }},
		{"63 bits", func(p *Params) { p.Bits = 63 }},
		{"a chunk that is no multiple", func(p *Params) { p.Chunk = 100 }},
		{"a chunk that is too long", func(p *Params) { p.Chunk = MaxChunk + ChunkUnit }},
		{"a negative chunk", func(p *Params) { p.Chunk = -ChunkUnit }},
		{"fewer layers than dropouts", func(p *Params) { p.Layers = 2 }},
		{"a threshold where it is computed", func(p *Params) { p.Cohort, p.MinSurvivors = 1000, 900 }},
		{"no graph for so many colluders and dropouts", func(p *Params) { p.Cohort, p.MinSurvivors, p.Threshold, p.Colluders = 1000, 900, 0, 950 }},
	} {
		p := good
		c.change(&p)
		if err := p.Check(); !errors.Is(err, ErrParams) {
			t.Errorf("%s: got %v, want ErrParams", c.name, err)
		}
		if _, err := NewServer(p, nil); !errors.Is(err, ErrParams) {
			t.Errorf("%s: the server starts: %v", c.name, err)
		}
	}
}

// What is claimed, for each setting: the weakest assumption that a proof needs decides.
func TestTheClaimIsWhatWasProved(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      Params
		pinned bool
		want   Adversary
		says   string
	}{
		{"2t > n + c and a pinned roster", Params{Cohort: 100, Threshold: 56, MinSurvivors: 70, Colluders: 10}, true, Malicious, "up to 10 clients"},
		{"2t = n + c", Params{Cohort: 100, Threshold: 55, MinSurvivors: 70, Colluders: 10}, true, HonestButCurious, "2·55 <= 100 + 10"},
		{"no roster", Params{Cohort: 100, Threshold: 90, MinSurvivors: 95}, false, HonestButCurious, "roster"},
		{"a graph that is not complete", Params{Cohort: 1000, MinSurvivors: 900, Colluders: 50}, true, HonestButCurious, "2^-40"},
	} {
		c.p.Dim, c.p.Bits = 1, 1
		if err := c.p.Check(); err != nil {
			t.Fatal(err)
		}
		got, why := c.p.Claim(c.pinned)
		if got != c.want || !strings.Contains(why, c.says) || !strings.Contains(why, got.String()) {
			t.Errorf("%s: %v, %q; want %v and %q in it", c.name, got, why, c.want, c.says)
		}
	}
}

func TestAClientInsistsOnItsPolicy(t *testing.T) {
	p := Params{Cohort: 100, Threshold: 60, MinSurvivors: 70, Colluders: 10, Dim: 1000, Bits: 20}
	strict := Policy{MinSurvivors: 70, Colluders: 10, Against: Malicious, MaxDim: 1000}
	for _, c := range []struct {
		name   string
		change func(p *Params, y *Policy, pinned *bool)
		want   error
	}{
		{"just what it wants", func(*Params, *Policy, *bool) {}, nil},
		{"a smaller sum", func(p *Params, y *Policy, _ *bool) { p.MinSurvivors = 69 }, ErrPolicy},
		{"a lowered threshold", func(p *Params, y *Policy, _ *bool) { p.Threshold = 55 }, ErrPolicy},
		{"fewer colluders provided for", func(p *Params, y *Policy, _ *bool) { p.Colluders = 9 }, ErrPolicy},
		{"no roster", func(_ *Params, _ *Policy, pinned *bool) { *pinned = false }, ErrPolicy},
		{"keys on X25519 alone", func(p *Params, y *Policy, _ *bool) { y.Hybrid = true }, ErrPolicy},
		{"a longer vector", func(p *Params, y *Policy, _ *bool) { p.Dim = 1001 }, ErrPolicy},
		{"a cohort that the threshold is too low for", func(p *Params, y *Policy, _ *bool) { p.Cohort = 110 }, ErrPolicy},
		{"a policy that allows sums of two", func(p *Params, y *Policy, _ *bool) { y.MinSurvivors = 2 }, ErrPolicy},
		{"impossible parameters", func(p *Params, y *Policy, _ *bool) { p.Bits = 99 }, ErrParams},
	} {
		p, y, pinned := p, strict, true
		c.change(&p, &y, &pinned)
		if err := y.Check(p, pinned); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAProposalIsAboutTheModelThatCame(t *testing.T) {
	p := Params{ModelHash: [32]byte{1}, Cohort: 5, Threshold: 3, MinSurvivors: 3, Dim: 1, Bits: 1}
	if got, err := Accept(p.Encode(), p.ModelHash); err != nil || got != p {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := Accept(p.Encode(), [32]byte{2}); !errors.Is(err, ErrOtherRound) {
		t.Errorf("another model: %v", err)
	}
	p.Bits = 0
	if _, err := Accept(p.Encode(), p.ModelHash); !errors.Is(err, ErrParams) {
		t.Errorf("no bits: %v", err)
	}
}

// Every field of the parameters is in the hash that everything is bound to.
func TestTheContextBindsEveryParameter(t *testing.T) {
	base := Params{Cohort: 10, Threshold: 6, MinSurvivors: 7, Colluders: 1, Dim: 1000, Bits: 20, Chunk: ChunkUnit, Layers: 3}
	seen := map[[32]byte]string{base.context(): "the base"}
	for name, change := range map[string]func(*Params){
		"round": func(p *Params) { p.Round[31] = 1 }, "model": func(p *Params) { p.ModelHash[31] = 1 }, "cohort": func(p *Params) { p.Cohort++ },
		"threshold": func(p *Params) { p.Threshold-- }, "survivors": func(p *Params) { p.MinSurvivors++ }, "colluders": func(p *Params) { p.Colluders++ },
		"dimension": func(p *Params) { p.Dim++ }, "bits": func(p *Params) { p.Bits++ }, "chunk": func(p *Params) { p.Chunk *= 2 },
		"layers": func(p *Params) { p.Layers++ }, "hybrid": func(p *Params) { p.Hybrid = true },
	} {
		p := base
		change(&p)
		if other, twice := seen[p.context()]; twice {
			t.Errorf("%s and %s have one context", name, other)
		}
		seen[p.context()] = name
	}
}
