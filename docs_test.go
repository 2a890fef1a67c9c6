package hubbub

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	codeName = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\\.(?:go|md|py|yaml))`")
)

// The pages name files and link to others: those are there.
func TestPagesNameWhatIsThere(t *testing.T) {
	pages, links := 0, 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "runs" || d.Name() == "results") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
		for _, m := range codeName.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(m[1], "runs/") || strings.HasPrefix(m[1], "results/") {
				continue // a user's own
			}
			links++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s, which is not there", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 6 || links < 10 {
		t.Errorf("only %d pages with %d names of files: the test has lost sight of them", pages, links)
	}
}
