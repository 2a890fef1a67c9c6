package reproduce

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"hubbub/internal/experiment"
)

// measured makes points of every mechanism whose attacks came out as they should.
func measured() []point {
	var all []point
	for _, r := range rivals {
		p := point{rival: r, shown: 6, largest: 6, gaussian: -1, tally: experiment.Tally{Seeds: 2, Accuracy: 0.8}}
		if r.noise == nothing {
			all = append(all, p)
			continue
		}
		for _, p.asked = range []float64{0.5, 2, 8} {
			switch r.noise {
			case proved:
				p.public, p.server, p.shown, p.gaussian = Value(p.asked), Value(p.asked), p.asked/2, p.asked*0.9
			case claimed:
				p.shown = p.asked + 0.1
			}
			all = append(all, p)
		}
	}
	return all
}

func TestAnAttackThatContradictsFailsTheComparison(t *testing.T) {
	failed := func(all []point) (states []string) {
		for _, c := range auditChecks(all) {
			if !c.Holds {
				states = append(states, c.States)
			}
		}
		return states
	}
	if got := failed(measured()); len(got) > 0 {
		t.Fatalf("fails without a reason: %q", got)
	}
	for _, c := range []struct {
		name, mechanism string
		spoil           func(*point)
		want            string
	}{
		{"more is shown than holds", "SMM", func(p *point) { p.shown = *p.public + 0.01 }, "SMM: the attack shows no more than the true epsilon"},
		{"what should hold against the server does not", "adaptive, sound against the server", func(p *point) { p.server = nil }, "adaptive, sound against the server: the attack shows no more than the true epsilon"},
		{"a false claim is not refuted", "adaptive as printed", func(p *point) { p.shown = p.asked }, "adaptive as printed: the attack shows more than is claimed"},
		{"a sum without noise seems to hide", "secure aggregation alone", func(p *point) { p.shown = 5 }, "secure aggregation alone: the attack shows all that so many trials can show, within 5%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := measured()
			for i := range all {
				if all[i].name == c.mechanism {
					c.spoil(&all[i])
					break
				}
			}
			if got := failed(all); len(got) != 1 || got[0] != c.want {
				t.Errorf("failed %q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryPictureOfTheComparisonCanBeDrawn(t *testing.T) {
	for _, f := range compareFigures(measured()) {
		svg, err := f.Drawing.SVG()
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		unit := strings.TrimPrefix(f.Name, "compare-")
		for _, r := range rivals {
			wanted := r.noise == proved && (unit == string(r.unit) || unit == "audited" || unit == "gaussian") || r.noise == claimed && unit == "audited"
			if drawn := bytes.Contains(svg, []byte(">"+r.name+"<")); drawn != wanted && r.noise != nothing {
				t.Errorf("%s: %q drawn: %t, want %t", f.Name, r.name, drawn, wanted)
			}
		}
	}
}

func TestNoTrueEpsilonIsStatedWhereNoneHolds(t *testing.T) {
	s := compareSheet(measured())
	for _, row := range s.Rows {
		claim, public, server := row[3], row[4], row[5]
		if printed := row[0] == "adaptive as printed" || row[0] == "adaptive without its root of M"; printed != (claim != "") || printed && (public != "none" || server != "none") {
			t.Errorf("%q", row)
		}
	}
	if lines := strings.Count(string(s.CSV()), "\n"); lines != len(s.Rows)+1 {
		t.Errorf("%d lines of CSV for %d rows", lines, len(s.Rows))
	}
}

// The page is made by a command that takes minutes; it must be about all mechanisms there are now, and nothing in it may have failed.
func TestTheComparisonThatIsCheckedInIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if !strings.Contains(page, strings.TrimSpace(compareIntro)) {
		t.Error("docs/compare.md has another introduction: make it again with hubbub reproduce compare --out docs")
	}
	for _, r := range rivals {
		if !strings.Contains(page, "\n| "+r.name+" | ") {
			t.Errorf("docs/compare.md lacks %q", r.name)
		}
	}
	if strings.Contains(page, "| **no** |") {
		t.Error("docs/compare.md has a check that does not hold")
	}
	for _, f := range compareFigures(measured()) {
		if _, err := os.Stat("../../docs/" + f.Name + ".svg"); err != nil {
			t.Error(err)
		}
	}
}
