package reproduce

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Report is what a call of hubbub reproduce made.
type Report struct {
	Paper   string `json:"paper"`
	Title   string `json:"title"`
	Scale   Scale  `json:"scale"`
	Command string `json:"command"`
	Made    string `json:"made"` // version and commit of the program
	Ran     int    `json:"ran"`  // runs that this program made
	Kept    int    `json:"kept"` // runs that were there already, maybe made by an earlier one
	Items   []Made `json:"items"`
	Page    string `json:"-"` // name of its files; empty: results
	Intro   string `json:"-"` // of a page that is read by itself; empty: none
}

// Made is an item with its outcome.
type Made struct {
	Item    string  `json:"item"`
	About   string  `json:"about"`
	Seconds float64 `json:"seconds"` // of training, those of kept runs included
	Outcome
}

// Failed lists the checks that do not hold.
func (r Report) Failed() []Check {
	var failed []Check
	for _, m := range r.Items {
		for _, c := range m.Checks {
			if !c.Holds {
				failed = append(failed, c)
			}
		}
	}
	return failed
}

// Write keeps a report in a folder: results.md and results.json (or as the page is called), and for each item its tables as CSV and its
// pictures as SVG and PNG.
func (r Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for results: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	page := cmp.Or(r.Page, "results")
	files := map[string][]byte{page + ".json": append(text, '\n'), page + ".md": []byte(r.Markdown())}
	for _, m := range r.Items {
		for _, s := range m.Sheets {
			files[s.Name+".csv"] = s.CSV()
		}
		for i, t := range m.Tables {
			files[m.file(fmt.Sprintf("-%d.csv", i+1))] = t.CSV()
		}
		for _, f := range m.Figures {
			if files[f.Name+".svg"], err = f.Drawing.SVG(); err != nil {
				return fmt.Errorf("draw %s: %w", f.Name, err)
			}
			if files[f.Name+".png"], err = f.Drawing.PNG(1200); err != nil {
				return fmt.Errorf("draw %s: %w", f.Name, err)
			}
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write the results: %w", err)
		}
	}
	return nil
}

func (m Made) file(ending string) string { return Item{Name: m.Item}.File() + ending }

// Markdown is the report for a reader.
func (r Report) Markdown() string {
	if r.Intro != "" {
		return r.alone()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Paper %s: results (%s)\n\n%s\n\nMade by `%s` with %s%s.\n", r.Paper, r.Scale, r.Title, r.Command, r.Made, r.kept())
	for _, m := range r.Items {
		fmt.Fprintf(&b, "\n## %s: %s\n\n", strings.ToUpper(m.Item[:1])+m.Item[1:], m.About)
		for _, n := range m.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
		for _, t := range m.Tables {
			fmt.Fprintf(&b, "\n%s", t.Markdown())
		}
		for _, f := range m.Figures {
			fmt.Fprintf(&b, "\n![%s](%s.svg)\n", f.Caption, f.Name)
		}
		checkRows(&b, m.Checks)
	}
	return b.String()
}

// kept says how many runs this program did not make itself.
func (r Report) kept() string {
	if r.Kept == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d runs were kept from an earlier call", r.Kept, r.Kept+r.Ran)
}

func checkRows(b *strings.Builder, checks []Check) {
	if len(checks) > 0 {
		fmt.Fprintf(b, "\n| stated | holds | seen |\n|---|---|---|\n")
	}
	for _, c := range checks {
		holds := "yes"
		if !c.Holds {
			holds = "**no**"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", c.States, holds, c.Seen)
	}
}

// alone is a page that is read by itself: the pictures come first.
func (r Report) alone() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nMade by `%s` with %s%s. Do not edit.\n\n%s\n", r.Title, r.Command, r.Made, r.kept(), strings.TrimSpace(r.Intro))
	for _, m := range r.Items {
		for _, f := range m.Figures {
			fmt.Fprintf(&b, "\n![%s](%s.svg)\n", f.Caption, f.Name)
		}
		for _, s := range m.Sheets {
			fmt.Fprintf(&b, "\n%s", s.Markdown())
		}
		fmt.Fprintln(&b)
		for _, n := range m.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
		checkRows(&b, m.Checks)
	}
	return b.String()
}
