// Package report writes what a run did as one HTML page: how good the model is, and who is protected from whom by how much.
//
// The page is a single file that needs nothing else: no script, no font, no address outside it, and a content security policy
// that forbids them. It follows light and dark, prints, and fits a phone. The same run always gives the same bytes.
//
// Every epsilon is shown with its delta and rounded up, and where there is no bound the page says "no guarantee" in words. A
// run whose numbers contradict each other is refused instead of printed.
package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"hubbub/internal/chart"
)

// Run is a run as the report shows it.
type Run struct {
	Name    string
	Summary string // what was trained, on what and how, in a sentence; optional
	Version string // of the program
	Command string // the command line that repeats the run; optional

	Finished bool
	Note     string // why it stopped early, or anything else to say first; optional

	Accuracy float64 // of the last evaluation on the public test set, in [0, 1]; NaN: not measured
	Loss     float64 // likewise; NaN: not measured

	Rounds, PlannedRounds int
	Seconds               float64
	BytesUp, BytesDown    int64 // per client and round

	ModelHash, ConfigHash string
	Config                string // the resolved configuration, as YAML

	Statement []Row
	Metrics   []Point

	DataPicture    []byte       // a contact sheet, as PNG; optional
	LabelHistogram []LabelCount // examples per label; optional
}

// Row is one line of the privacy statement.
type Row struct {
	Adversary      string   // server, clients or public
	Unit           string   // record or client: whose presence is hidden
	Epsilon        *float64 // nil: no guarantee
	Delta          float64
	Mu             *float64 // of Gaussian differential privacy; nil: not known
	Accountant     string
	Guarantee      string // the kind of guarantee; "none" must come without an epsilon
	Why            string // the reason when there is no guarantee
	ClaimedByPaper string // what the paper says, where that differs
	Assumptions    []string
	Notes          []string // what else is worth knowing
	Caveat         string   // what must be said beside the number itself; optional
}

// Point is what was measured after a round. Sizes of cohorts are not part of it: they stay unpublished.
type Point struct {
	Round    int
	Accuracy *float64 // in [0, 1]; nil: not evaluated
	Loss     *float64 // nil: not evaluated
	// Epsilon is what was spent so far, per adversary of the statement; nil: no guarantee. Where an adversary has several
	// rows, it has the delta and the unit of the first with a guarantee.
	Epsilon map[string]*float64
}

// LabelCount is how many examples carry a label.
type LabelCount struct {
	Label string
	Count int
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	page = template.Must(template.New("page").Parse(pageHTML))
)

// Page writes the report of a run as a self-contained HTML file.
func Page(r Run) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("report of %q: %w", r.Name, err)
	}
	v, err := r.view()
	if err != nil {
		return nil, fmt.Errorf("report of %q: %w", r.Name, err)
	}
	// The policy names the style sheet by its hash, so that no other style, and no script at all, can run.
	css := "\n" + pageCSS + chart.CSS()
	hash := sha256.Sum256([]byte(css))
	v.CSS = template.CSS(css)
	v.StyleHash = base64.StdEncoding.EncodeToString(hash[:])
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return nil, fmt.Errorf("report of %q: %w", r.Name, err)
	}
	return out.Bytes(), nil
}

// title names a run that has no name.
func (r Run) title() string { return cmp.Or(r.Name, "unnamed run") }
