package reproduce

import (
	"math"
	"testing"

	"hubbub/mechanism/waterfill"
)

func TestTableOneOfPaper000HasItsGoldenValues(t *testing.T) {
	out, err := tableOne000(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Checks) != 5 || len(out.Tables[0].Rows) != 20 {
		t.Fatalf("%d checks, %d rows", len(out.Checks), len(out.Tables[0].Rows))
	}
	for _, c := range out.Checks {
		if !c.Holds {
			t.Errorf("%s: %s", c.States, c.Seen)
		}
	}
	// The printed row of water-filling says less than is true.
	for _, r := range out.Tables[0].Rows[12:] {
		if *r.Paper >= *r.Ours {
			t.Errorf("%v: printed %g, corrected %g", r.Settings, *r.Paper, *r.Ours)
		}
	}
}

// 100 rounds of epsilon 0.1 with a slack of 1e-5, by hand: 10·tanh(0.05) + 0.1·√(200·ln 1e5) = 0.49958 + 4.79852.
func TestTheCitedCompositionTheorem(t *testing.T) {
	if got := composed(.1, 100, 1e-5); math.Abs(got-5.29810) > 1e-4 {
		t.Errorf("epsilon %g, want 5.29810", got)
	}
	if got := composed(2, 2, 1e-5); got != 4 {
		t.Errorf("two rounds of 2 cost %g, want their sum", got)
	}
}

func TestThePrintedVarianceCostsWhatWasAsked(t *testing.T) {
	s := setting000{records: 1200, batch: 32, rounds: 100}
	last := 0.0
	for _, m := range methods000 {
		variance, err := s.printedVariance(m.method, 7850, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows000 {
			if r.method == m.method {
				each := r.epsilon(r.printed, s.config(m.method, 7850, variance), delta000/200)
				if got := composed(each, 100, delta000/2); math.Abs(got-2) > 1e-6 {
					t.Errorf("%s: variance %g costs %g", m.name, variance, got)
				}
				break
			}
		}
		if variance <= last {
			t.Errorf("%s needs a variance of %g, no more than the one before it: %g", m.name, variance, last)
		}
		last = variance
	}
	if _, err := s.printedVariance("adam", 1, 1); err == nil {
		t.Error("a method without a row was accepted")
	}
}

func TestTheCounterexampleOfFigure3IsAlwaysSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds: make test runs it, make check does not")
	}
	table, picture, checks, err := fourUsers()
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 3 || len(picture.Series) != 2 || len(checks) != 3 {
		t.Fatalf("%d rows, %d series, %d checks", len(table.Rows), len(picture.Series), len(checks))
	}
	for _, c := range checks {
		if !c.Holds {
			t.Errorf("%s: %s", c.States, c.Seen)
		}
	}
}

func TestTheBestThresholdSeparates(t *testing.T) {
	if got := bestThreshold([]float64{0, 0, 0}, []float64{.5, 2, 1}); got != 0 {
		t.Errorf("threshold %g, want 0: everything above it is high", got)
	}
	if got := bestThreshold([]float64{1, 2, 9}, []float64{3, 8, 10}); got != 2 {
		t.Errorf("threshold %g, want 2: one mistake", got)
	}
}

// Every method of a setting is one that can be made, and asks for the batch it needs.
func TestSettingsOfPaper000AreMechanisms(t *testing.T) {
	for _, s := range []setting000{(&Bench{Scale: Fast}).setting000(), (&Bench{Scale: Full}).setting000()} {
		if got := float64(s.batch) / float64(s.records); math.Abs(got-32./1200) > 1e-12 {
			t.Errorf("%+v: a part of %g of the records in a batch, the paper has 32/1200", s, got)
		}
		for _, m := range methods000 {
			if _, err := waterfill.New(s.config(m.method, 7850, .01)); err != nil {
				t.Error(err)
			}
		}
	}
}
