package reproduce

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Outcome is what came of an item.
type Outcome struct {
	Tables  []Table  `json:"tables,omitempty"`
	Sheets  []Sheet  `json:"sheets,omitempty"`
	Figures []Figure `json:"-"`
	Checks  []Check  `json:"checks,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what was changed or left out, for the reader of the tables
}

// Table puts the paper's values beside ours.
type Table struct {
	Title   string   `json:"title"`
	Columns []string `json:"columns"`        // of the settings
	Unit    string   `json:"unit"`           // of the values: %, rounds
	More    []string `json:"more,omitempty"` // names of further values, in columns of their own
	Rows    []Row    `json:"rows"`
}

// Sheet is a table of many columns, with nothing of a paper to put beside.
type Sheet struct {
	Name    string     `json:"name"` // of its file, without an ending
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// Markdown writes the sheet.
func (s Sheet) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n| %s |\n|%s\n", s.Title, strings.Join(s.Columns, " | "), strings.Repeat("---|", len(s.Columns)))
	for _, r := range s.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}

// CSV writes the sheet for other programs.
func (s Sheet) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(s.Columns) // into memory: cannot fail
	w.WriteAll(s.Rows)
	return b.Bytes()
}

// Row is one value.
type Row struct {
	Settings []string   `json:"settings"`
	Paper    *float64   `json:"paper"` // nil: the paper gives no number
	Ours     *float64   `json:"ours"`  // nil: not reached
	Error    float64    `json:"standard_error,omitempty"`
	Runs     int        `json:"runs,omitempty"`
	More     []*float64 `json:"more,omitempty"` // one for each of the table's; nil: there is none
	Note     string     `json:"note,omitempty"` // why they differ, where that is known; or what is special
}

// Figure is a picture, of package chart.
type Figure struct {
	Name    string // of its file, without an ending
	Caption string
	Drawing interface {
		SVG() ([]byte, error)
		PNG(width int) ([]byte, error)
	}
}

// Check is something that we state about the numbers.
type Check struct {
	States string `json:"states"`
	Holds  bool   `json:"holds"`
	Seen   string `json:"seen"` // the numbers that decided it
}

// Value makes a number for a row.
func Value(x float64) *float64 { return &x }

// Markdown writes the table.
func (t Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", t.Title)
	head := slices.Concat(t.Columns, []string{"paper", "ours", "difference"}, t.More, []string{"note"})
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range t.Rows {
		cells := slices.Concat(r.Settings, []string{t.value(r.Paper), t.ours(r), t.difference(r)})
		for _, x := range r.More {
			cells = append(cells, bare(x))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(append(cells, r.Note), " | "))
	}
	return b.String()
}

func (t Table) value(x *float64) string {
	if text := bare(x); text == "-" {
		return text
	}
	return trim(*x) + t.unit()
}

// bare is a value without a unit.
func bare(x *float64) string {
	if x == nil || math.IsNaN(*x) {
		return "-"
	}
	return trim(*x)
}

func (t Table) unit() string {
	if t.Unit == "%" {
		return "%"
	}
	return ""
}

func (t Table) ours(r Row) string {
	text := t.value(r.Ours)
	if r.Error > 0 {
		text += fmt.Sprintf(" ± %s", trim(r.Error))
	}
	return text
}

func (t Table) difference(r Row) string {
	if r.Paper == nil || r.Ours == nil {
		return "-"
	}
	return fmt.Sprintf("%+.4g", *r.Ours-*r.Paper)
}

// trim writes a number with as many digits as a reader wants.
func trim(x float64) string {
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e6:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 0.01 && math.Abs(x) < 1e4:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// CSV writes the table for other programs: one line a row, empty cells where there is no value.
func (t Table) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(slices.Concat(t.Columns, []string{"paper", "ours", "standard_error", "runs"}, t.More, []string{"note"})) // into memory: cannot fail
	number := func(x *float64) string {
		if x == nil || math.IsNaN(*x) {
			return ""
		}
		return fmt.Sprintf("%g", *x)
	}
	for _, r := range t.Rows {
		cells := slices.Concat(r.Settings, []string{number(r.Paper), number(r.Ours), fmt.Sprintf("%g", r.Error), fmt.Sprint(r.Runs)})
		for _, x := range r.More {
			cells = append(cells, number(x))
		}
		w.Write(append(cells, r.Note))
	}
	w.Flush()
	return b.Bytes()
}
