package reproduce

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"hubbub/experiments"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// Every experiment file can be run by itself, sweep and all.
func TestEveryExperimentFileIsAccepted(t *testing.T) {
	folders, err := experiments.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if _, err := Find(folder.Name()); err != nil {
			t.Errorf("experiments/%s: %v", folder.Name(), err)
		}
		files, err := experiments.Files.ReadDir(folder.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name := path.Join(folder.Name(), f.Name())
			text, err := experiments.Files.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := experiment.ParseSweep(name, text, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPapersAndItemsAreFoundByName(t *testing.T) {
	p, err := Find("002")
	if err != nil {
		t.Fatal(err)
	}
	if items, err := p.Select("figure 2"); err != nil || len(items) != 1 || items[0].File() != "figure-2" {
		t.Errorf("figure 2: %v, %v", items, err)
	}
	if items, err := p.Select(""); err != nil || len(items) != len(p.Items) {
		t.Errorf("all: %v, %v", items, err)
	}
	if _, err := p.Select("table 7"); err == nil || !strings.Contains(err.Error(), "figure 1, figure 2") {
		t.Errorf("table 7: %v", err)
	}
	if _, err := Find("7"); err == nil || !strings.Contains(err.Error(), "002, 003, 004") {
		t.Errorf("paper 7: %v", err)
	}
}

func TestChecksAllowTwoStandardErrors(t *testing.T) {
	tally := func(values ...float64) experiment.Tally {
		t := experiment.Tally{Seeds: len(values)}
		for _, v := range values {
			t.Results = append(t.Results, experiment.Result{Accuracy: v / 100})
		}
		t.Accuracy, t.Error = experiment.MeanError(scaled(values))
		return t
	}
	a, b := tally(90, 92), tally(85, 86) // differences 5 and 6: 5.5 with a standard error of 0.5
	for _, c := range []struct {
		name string
		got  Check
		want bool
	}{
		{"ahead by less", ahead("", a, b, 5), true},
		{"ahead by a little more", ahead("", a, b, 6.4), true},
		{"ahead by too much", ahead("", a, b, 6.6), false},
		{"near enough", near("", a, b, 4.6), true},
		{"too far", near("", a, b, 4.4), false},
		{"behind", ahead("", b, a, 0), false},
	} {
		if c.got.Holds != c.want {
			t.Errorf("%s: %+v", c.name, c.got)
		}
	}
}

func scaled(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / 100
	}
	return out
}

func TestAReportIsWrittenInFull(t *testing.T) {
	line := chart.Line{Title: "a picture", XLabel: "x", YLabel: "y", Series: []chart.Series{{Name: "s", X: []float64{1, 2}, Y: []float64{3, 4}}}}
	r := Report{Paper: "002", Title: "a title", Scale: Fast, Command: "hubbub reproduce 002", Made: "hubbub test", Ran: 2, Kept: 3, Items: []Made{{
		Item: "figure 1", About: "something", Outcome: Outcome{
			Tables: []Table{
				{Title: "a table", Columns: []string{"epsilon"}, Unit: "%", Rows: []Row{
					{Settings: []string{"1"}, Paper: Value(80), Ours: Value(81.25), Error: 0.5, Runs: 2, Note: "a note"}, {Settings: []string{"2"}, Ours: nil},
				}},
				{Title: "a wide table", Columns: []string{"p"}, Unit: "mu", More: []string{"epsilon", "exact"}, Rows: []Row{
					{Settings: []string{"1"}, Paper: Value(2.71), Ours: Value(2.711), More: []*float64{Value(14.639), nil}},
				}},
			},
			Figures: []Figure{{Name: "figure-1a", Caption: "a picture", Drawing: line}},
			Checks:  []Check{{States: "one", Holds: true, Seen: "1"}, {States: "two", Holds: false, Seen: "0"}},
		},
	}}}
	dir := filepath.Join(t.TempDir(), "deep", "results")
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"results.md":     "| 1 | 80% | 81.25% ± 0.50 | +1.25 | a note |",
		"figure-1-2.csv": "p,paper,ours,standard_error,runs,epsilon,exact,note\n1,2.71,2.711,0,0,14.639,,\n",
		"figure-1-1.csv": "epsilon,paper,ours,standard_error,runs,note\n1,80,81.25,0.5,2,a note\n2,,,0,0,\n",
		"figure-1a.svg":  "<svg",
		"figure-1a.png":  "PNG",
		"results.json":   `"standard_error": 0.5`,
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s lacks %q: %v\n%s", name, want, err, text[:min(len(text), 500)])
		}
	}
	if failed := r.Failed(); len(failed) != 1 || failed[0].States != "two" {
		t.Errorf("failed: %+v", failed)
	}
	if text := mustRead(t, filepath.Join(dir, "results.md")); !strings.Contains(text, "| p | paper | ours | difference | epsilon | exact | note |") || !strings.Contains(text, "| 1 | 2.71 | 2.71 | +0.001 | 14.64 | - |  |") {
		t.Errorf("further values are missing:\n%s", text)
	}
	if !json.Valid([]byte(mustRead(t, filepath.Join(dir, "results.json")))) {
		t.Error("results.json is no JSON")
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The trade-off function needs no training: an item goes through from end to end.
func TestAnItemWithoutTrainingIsMade(t *testing.T) {
	p, err := Find("004")
	if err != nil {
		t.Fatal(err)
	}
	items, err := p.Select("figure 4")
	if err != nil {
		t.Fatal(err)
	}
	out, err := items[0].Make(&Bench{Scale: Fast, Paper: "004", Context: context.Background(), Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	// f(0.5), from the closed form at ten digits.
	if got := *out.Tables[0].Rows[1].Ours; got < 0.2788 || got > 0.2789 {
		t.Errorf("beta at 0.5 is %v, want 0.2788420877", got)
	}
}
