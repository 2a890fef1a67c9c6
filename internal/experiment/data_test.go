package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ownFolder writes a small data set of two classes and returns an experiment that uses it.
func ownFolder(t *testing.T) (folder, file string) {
	t.Helper()
	folder = t.TempDir()
	rows := strings.Repeat("0.1,0.9,0\n0.8,0.2,1\n", 60)
	for name, content := range map[string]string{"train.csv": "a,b,label\n" + rows, "test.csv": "a,b,label\n" + rows[:40]} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder, strings.Replace(base, "{name: mnist,", "{name: own, from: "+folder+",", 1)
}

func loadText(t *testing.T, text string) (*Config, *Federation) {
	t.Helper()
	c, err := Parse("own.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	train, test, err := LoadData(c)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Prepare(c, train, test)
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

func TestARunOnOwnDataIsFoundAgainAndRefusesOtherData(t *testing.T) {
	folder, text := ownFolder(t)
	_, f := loadText(t, text)
	if f.Train.Len() != 120 || f.Test.Len() != 4 || f.Train.Classes != 2 {
		t.Fatalf("%d and %d records, %d classes", f.Train.Len(), f.Test.Len(), f.Train.Classes)
	}
	root := t.TempDir()
	d, err := NewFolder(root, "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := f.Start(ctx, d, "test", func(Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}

	again, err := Parse("own.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := Unfinished(root, again); err != nil || found != d {
		t.Errorf("found %v, error %v, want %v", found, err, d)
	}
	kept, err := Load(filepath.Join(d.Path, configFile), nil)
	if err != nil || len(kept.Data.SHA256) != 64 {
		t.Fatalf("the run keeps sha256 %q, error %v", kept.Data.SHA256, err)
	}
	train, test, err := LoadData(kept)
	if err != nil {
		t.Fatal(err)
	}
	resumed, err := Prepare(kept, train, test)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := resumed.Resume(t.Context(), d, "test", func(Progress) {}); err != nil || !r.Finished {
		t.Errorf("resumed: %+v, error %v", r, err)
	}

	if err := os.WriteFile(filepath.Join(folder, "test.csv"), []byte("a,b,label\n0,0,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadData(kept); err == nil || !strings.Contains(err.Error(), "the files were changed") || !IsInput(err) {
		t.Errorf("other data: error %v", err)
	}
}

func TestTheSeedDoesNotChangeWhatIsHeldBack(t *testing.T) {
	folder, text := ownFolder(t)
	text = strings.Replace(text, "from: "+folder+",", "from: "+filepath.Join(folder, "train.csv")+", test_fraction: 0.1,", 1)
	first, f := loadText(t, text)
	second, _ := loadText(t, strings.Replace(text, "seed: 7", "seed: 8", 1))
	if f.Test.Len() != 12 || first.Data.SHA256 != second.Data.SHA256 {
		t.Errorf("%d test records; sha256 %s and %s", f.Test.Len(), first.Data.SHA256, second.Data.SHA256)
	}
}
