package strictyaml

import (
	"bufio"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the diff as code")

// golden compares with the file, or rewrites it under -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

// Each testdata/*.yaml is refused with exactly the text in the .want file beside it. Comments "# --set a.b=c" are
// passed as overrides.
func TestRefusalsReadAsWritten(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			untouched := experiment{Name: "before"}
			doc, err := Decode(filepath.Base(file), text, flagsIn(string(text)), &untouched)
			if err == nil || doc != nil {
				t.Fatalf("accepted: %+v", untouched)
			}
			if untouched.Name != "before" || untouched.Rounds != 0 {
				t.Errorf("the struct was changed: %+v", untouched)
			}
			var list Errors
			if !errors.As(err, &list) {
				t.Errorf("error is a %T, not Errors", err)
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".want", err.Error()+"\n")
		})
	}
}

func flagsIn(text string) []string {
	var flags []string
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if flag, ok := strings.CutPrefix(lines.Text(), "# --set "); ok {
			flags = append(flags, flag)
		}
	}
	return flags
}
