package reproduce

import (
	"math"
	"slices"
	"testing"

	"hubbub/internal/experiment"
)

// The mus of paper 004 are those that it prints, at its own rounds, and the rows of table 2 with large batches are rows of table 1.
func TestPaper004PrintsTheMuOfItsOwnFormula(t *testing.T) {
	for _, s := range slices.Concat(rows1of004, rows2of004, rows3of004) {
		p, err := s.price(s.rounds)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.mu-s.mu) > 0.00501 {
			t.Errorf("%+v: mu %.4f, the paper prints %.2f", s, p.mu, s.mu)
		}
		if !(p.limit > 0 && p.fixed > 0 && p.ours > 0 && p.ours < p.fixed) {
			t.Errorf("%+v: epsilons %+v", s, p)
		}
	}
	for _, s := range rows2of004 {
		same := func(o setting004) bool {
			return o.part == s.part && o.sigma == s.sigma && o.rounds == s.rounds && o.mu == s.mu
		}
		if s.batch == 16 && !slices.ContainsFunc(rows1of004, same) {
			t.Errorf("%+v is no row of table 1", s)
		}
	}
}

// At sigma 1 and 93 rounds: the limit's epsilon, that of the trade-off function it is the limit of, and that of what is run, each from an
// independent computation at two resolutions.
func TestPaper004PricesAreThoseOfIndependentComputations(t *testing.T) {
	p, err := rows1of004[0].price(93)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"limit", p.limit, 14.639294}, {"fixed batches", p.fixed, 13.87723}, {"Poisson batches", p.ours, 10.82366}} {
		if math.Abs(c.got-c.want) > 2e-3 {
			t.Errorf("%s: epsilon %.5f, want %.5f", c.name, c.got, c.want)
		}
	}
}

// Figures and tables of a fast run share their runs: the same settings are the same configuration, whichever asks.
func TestFastItemsOf004ShareTheirRuns(t *testing.T) {
	b := &Bench{Scale: Fast, Paper: "004"}
	hashes := func(s setting004) []string {
		variants, err := b.variants(s.data, s.changes(b))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, v := range variants {
			hash, err := v.Config.Hash()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, hash)
		}
		return all
	}
	if a, b := hashes(rows2of004[5]), hashes(rows1of004[5]); !slices.Equal(a, b) || len(a) != 2 {
		t.Errorf("B = 16 of tables 1 and 2: %v and %v", a, b)
	}
	if a, b := hashes(rows2of004[4]), hashes(rows1of004[5]); slices.Equal(a, b) {
		t.Error("B = 8 and B = 16 are the same run")
	}
}

func TestReachedIsTheFirstRoundAtTheGoal(t *testing.T) {
	line := func(round int, own float64) experiment.Metrics {
		return experiment.Metrics{Round: round, Personal: &experiment.Personal{Own: own}}
	}
	r := runs004{lines: [][]experiment.Metrics{{line(1, 0.8), {Round: 2}, line(3, 0.9), line(4, 0.89), line(5, 0.95)}, {line(1, 0.8)}}}
	if got := r.reached(0.9); got[0] != 3 || !math.IsNaN(got[1]) {
		t.Errorf("reached in %v", got)
	}
}

func TestClearlyNeedsTwoStandardErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   bool
	}{
		{"far above", []float64{5, 6}, true}, {"above by less than two errors", []float64{1, 5}, false}, {"below", []float64{-5, -6}, false},
		{"one run above", []float64{0.1}, true}, {"nothing", []float64{0, 0}, false}, {"not reached by one", []float64{5, math.NaN()}, false},
	} {
		if got := clearly("", c.values, "points"); got.Holds != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Only the first settings of a table are run when that is asked for: here none could be, without data.
func TestFirstLeavesTheRestOut(t *testing.T) {
	all := []int{1, 2, 3}
	for first, want := range map[int]int{0: 3, 1: 1, 3: 3, 9: 3} {
		if got := Settings(&Bench{First: first}, all); len(got) != want {
			t.Errorf("first %d: %v", first, got)
		}
	}
}

// The labels of ten clients make two pictures that can be drawn.
func TestLabelPicturesCanBeDrawn(t *testing.T) {
	counts := make([][]int, 10)
	for c := range counts {
		counts[c] = []int{50, 0, 10, 40, 0, 0, 0, 0, 0, 400}
	}
	figures := labelPictures(counts, 500)
	if len(figures) != 2 {
		t.Fatalf("%d pictures", len(figures))
	}
	for _, f := range figures {
		if _, err := f.Drawing.SVG(); err != nil {
			t.Error(err)
		}
	}
}
