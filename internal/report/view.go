package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/png"
	"strings"
)

// view is what the template shows: words and pictures only, all numbers already written out.
type view struct {
	CSS       template.CSS
	StyleHash string

	Title, Summary, Version, Command, Note string
	Progress                               string // one sentence: how far it came
	Accuracy, Loss, Seconds                string
	BytesUp, BytesDown                     string
	ModelHash, ConfigHash, Config          string

	Answers     []protection // the rows of the run's own unit, which is the first: what a reader came for
	Protections []protection
	Pictures    []picture
	Undrawn     string // adversaries that the picture of epsilon leaves out
	Columns     []string
	Numbers     [][]string
	Sampled     string // says so when the numbers are not those of every round
	Data        *dataPicture
	Labels      template.HTML
}

// protection is a row of the statement in words.
type protection struct {
	Against, Protects              string
	Epsilon, Delta, Mu             string
	None                           bool
	Why, Accountant, Kind, Claimed string
	Assumptions, Notes             []string
	Caveat                         string
}

type picture struct {
	Caption string
	SVG     template.HTML // written by package chart, which escapes all text
}

type dataPicture struct {
	URL           template.URL
	Width, Height int
}

func (r Run) view() (*view, error) {
	v := &view{
		Title: r.title(), Summary: r.Summary, Version: r.Version, Command: r.Command, Note: r.Note,
		Accuracy: percent(r.Accuracy), Loss: plain(r.Loss),
		Seconds: duration(r.Seconds), BytesUp: size(r.BytesUp), BytesDown: size(r.BytesDown),
		ModelHash: r.ModelHash, ConfigHash: r.ConfigHash, Config: r.Config,
	}
	if r.Finished {
		v.Progress = fmt.Sprintf("Finished %d of %d planned rounds in %s.", r.Rounds, r.PlannedRounds, duration(r.Seconds))
	} else {
		v.Progress = fmt.Sprintf("Stopped early, after %d of %d planned rounds and %s.", r.Rounds, r.PlannedRounds, duration(r.Seconds))
	}
	for _, row := range r.Statement {
		v.Protections = append(v.Protections, row.words())
		if row.Unit == r.Statement[0].Unit {
			v.Answers = append(v.Answers, row.words())
		}
	}
	var err error
	if v.Pictures, v.Undrawn, err = r.pictures(); err != nil {
		return nil, err
	}
	v.numbers(r)
	if len(r.DataPicture) > 0 {
		shape, err := png.DecodeConfig(bytes.NewReader(r.DataPicture))
		if err != nil {
			return nil, fmt.Errorf("picture of the data: %w; it must be a PNG", err)
		}
		v.Data = &dataPicture{
			URL:   template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(r.DataPicture)),
			Width: shape.Width, Height: shape.Height,
		}
	}
	if len(r.LabelHistogram) > 0 {
		if v.Labels, err = r.labels(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (row Row) words() protection {
	p := protection{
		Against: against(row.Adversary), Protects: protects(row.Unit),
		Accountant: row.Accountant, Kind: row.Guarantee, Claimed: row.ClaimedByPaper, Assumptions: row.Assumptions, Notes: row.Notes, Caveat: row.Caveat,
	}
	if row.Epsilon == nil {
		p.None, p.Why = true, reason(row.Why)
		return p
	}
	p.Epsilon, p.Delta = roundUp(*row.Epsilon), roundUp(row.Delta)
	if row.Mu != nil {
		p.Mu = roundUp(*row.Mu)
	}
	return p
}

// adversaries are the rows of those that the metrics follow, in the order of the statement.
func (r Run) adversaries() []Row {
	followed := map[string]bool{}
	for _, p := range r.Metrics {
		for a := range p.Epsilon {
			followed[a] = true
		}
	}
	byAdversary := r.rowsByAdversary()
	var rows []Row
	for _, row := range r.Statement {
		if followed[row.Adversary] {
			rows = append(rows, byAdversary[row.Adversary])
			followed[row.Adversary] = false // once, though it may have several rows
		}
	}
	return rows
}

// mostNumbers is how many rounds the table of numbers shows; metrics.jsonl has them all.
const mostNumbers = 100

// numbers fills the table behind the pictures.
func (v *view) numbers(r Run) {
	rows := r.adversaries()
	v.Columns = []string{"round", "accuracy", "loss"}
	for _, row := range rows {
		column := "epsilon against " + against(row.Adversary)
		if row.Epsilon != nil {
			column += fmt.Sprintf(" at delta %s, for %s", roundUp(row.Delta), protects(row.Unit))
		}
		v.Columns = append(v.Columns, column)
	}
	every := max(1, (len(r.Metrics)+mostNumbers-1)/mostNumbers)
	for i, p := range r.Metrics {
		if i%every != 0 && i != len(r.Metrics)-1 {
			continue
		}
		line := []string{fmt.Sprint(p.Round), "–", "–"}
		if p.Accuracy != nil {
			line[1] = percent(*p.Accuracy)
		}
		if p.Loss != nil {
			line[2] = plain(*p.Loss)
		}
		for _, row := range rows {
			epsilon, known := p.Epsilon[row.Adversary]
			switch {
			case !known:
				line = append(line, "–")
			case epsilon == nil:
				line = append(line, "no guarantee")
			default:
				line = append(line, roundUp(*epsilon))
			}
		}
		v.Numbers = append(v.Numbers, line)
	}
	if every > 1 {
		v.Sampled = fmt.Sprintf("Every %s of %d rounds with metrics, and the last; metrics.jsonl has all of them.", ordinal(every), len(r.Metrics))
	}
}

func ordinal(n int) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return fmt.Sprint(n) + suffix
}

// list joins words: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
