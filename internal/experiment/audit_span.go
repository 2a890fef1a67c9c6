package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"hubbub/audit/span"
	"hubbub/statement"
)

// SpanSettings say what of a kept run is looked at.
type SpanSettings struct {
	Round   int   // whose model: 0 before the first round, negative: the last one that is kept
	Records []int // of the training set (of runs that train on clients: clients); none: all that can contribute, or the first of them
	Clients int   // of the cohort; 0: all. With fewer others there is less to hide among
}

// mostMeasured is how many gradients are measured when none are named.
const mostMeasured = 1000

// SpanAudit is whether the gradients of a round could hide each other, without any noise.
type SpanAudit struct {
	Run       string  `json:"run"`
	Round     int     `json:"round"` // whose model it is
	Of        string  `json:"of"`    // what a row is: the gradient of a record, or the update of a client
	Rows      int     `json:"rows"`  // that can be in the next sum
	Weights   int     `json:"weights"`
	Rank      int     `json:"rank"`      // of the span of all rows
	Tolerance float64 `json:"tolerance"` // the part of a gradient that may lie outside

	SmallestEigenvalue float64        `json:"smallest_eigenvalue"` // of the covariance over all weights
	SmallestInSpan     float64        `json:"smallest_eigenvalue_in_span"`
	Measured           int            `json:"measured"`
	Leaks              int            `json:"leaks"`
	Records            []SpanDistance `json:"records"` // those measured, the farthest outside first
	Epsilon            *float64       `json:"epsilon"` // what the run states against the server; null: nothing hides a leak
}

// SpanDistance is where one gradient lies.
type SpanDistance struct {
	Client int  `json:"client"`
	Record *int `json:"record,omitempty"` // of the training set; not of an update
	span.Distance
}

// Open reports whether a leak was found that no noise of the run covers.
func (a SpanAudit) Open() bool { return a.Leaks > 0 && a.Epsilon == nil }

// AuditSpan looks at a kept run.
func AuditSpan(ctx context.Context, run Summary, s SpanSettings) (SpanAudit, error) {
	c, err := Load(filepath.Join(run.Path, configFile), nil)
	if err != nil {
		return SpanAudit{}, err
	}
	train, test, err := LoadData(c)
	if err != nil {
		return SpanAudit{}, err
	}
	f, err := Prepare(c, train, test)
	if err != nil {
		return SpanAudit{}, err
	}
	a := SpanAudit{Run: run.Path, Weights: f.Net.Size(), Tolerance: span.Tolerance}
	if run.Result != nil {
		if row, ok := run.Result.EpsilonAgainst(statement.Server, f.Facts.Unit); ok {
			a.Epsilon = row.Epsilon
		}
	}
	var model []float32
	if a.Round, model, err = f.modelOf(ctx, Folder{run.Path}, s.Round); err != nil {
		return a, err
	}
	rows, who, err := f.rowsOf(model, a.Round+1, s)
	if err != nil {
		return a, err
	}
	a.Of = "records"
	if who[0].Record == nil {
		a.Of = "clients"
	}
	return a, a.measure(rows, who, s.Records)
}

// modelOf is the model after a round: the one that is kept, or one that is trained again.
func (f *Federation) modelOf(ctx context.Context, d Folder, round int) (int, []float32, error) {
	kept, err := d.readCheckpoint(f.Hash, f.Net.Size())
	if err != nil {
		return 0, nil, err
	}
	if round < 0 || round == kept.round {
		return kept.round, kept.model, nil
	}
	if round > kept.round {
		return 0, nil, inputError("round %d: the run has %d rounds; choose one from 0 to %d", round, kept.round, kept.round)
	}
	var model []float32
	err = f.Follow(ctx, round, func(_ int, m []float32) error {
		model = m
		return nil
	})
	return round, model, err
}

// rowsOf computes what the sum of a round is mixed from, and whose each row is.
func (f *Federation) rowsOf(model []float32, round int, s SpanSettings) ([]float32, []SpanDistance, error) {
	cohort, _ := f.cohort(round)
	if s.Clients < 0 || s.Clients > len(cohort) {
		return nil, nil, inputError("%d clients: the cohort of round %d has %d", s.Clients, round, len(cohort))
	}
	if s.Clients > 0 {
		cohort = cohort[:s.Clients]
	}
	var who []SpanDistance
	var records []int
	var lists [][]int
	local := f.Config.Algorithm.Kind != "fedsgd"
	for _, client := range cohort {
		lists = append(lists, f.Parts[client])
		if local {
			who = append(who, SpanDistance{Client: client})
			continue
		}
		for _, record := range f.Parts[client] {
			records = append(records, record)
			who = append(who, SpanDistance{Client: client, Record: &record})
		}
	}
	if rows := len(who); rows < 2 || min(rows, len(model)) > span.Largest || int64(rows)*int64(len(model)) > 1<<28 {
		return nil, nil, inputError("the %d clients of round %d mix %d rows of %d weights: there must be 2 or more, of one of the two at most %d, and no more than %d numbers; choose how many clients with --clients",
			len(cohort), round, rows, len(model), span.Largest, 1<<28)
	}
	if local {
		rows, err := f.Updates(model, round, lists, f.key.Derive("span", uint64(round)))
		return rows, who, err
	}
	rows, err := f.Gradients(model, records)
	return rows, who, err
}

func (a *SpanAudit) measure(rows []float32, who []SpanDistance, named []int) error {
	a.Rows = len(who)
	test, err := span.New(rows, len(who))
	if err != nil {
		return Input(err)
	}
	a.Rank, a.SmallestEigenvalue = test.Rank(), test.Smallest()
	a.SmallestInSpan = test.Eigenvalues()[a.Rank-1]
	for i, w := range who {
		number := w.Client
		if w.Record != nil {
			number = *w.Record
		}
		if len(named) > 0 && !slices.Contains(named, number) || len(named) == 0 && i >= mostMeasured {
			continue
		}
		if w.Distance, err = test.Row(i); err != nil {
			return err
		}
		a.Records = append(a.Records, w)
		if w.Leaks {
			a.Leaks++
		}
	}
	a.Measured = len(a.Records)
	if len(named) > a.Measured {
		return inputError("only %d of %d %s that were asked for are in the sum of round %d: choose others, or more clients", a.Measured, len(named), a.Of, a.Round+1)
	}
	slices.SortStableFunc(a.Records, func(x, y SpanDistance) int {
		switch {
		case x.Outside > y.Outside:
			return -1
		case x.Outside < y.Outside:
			return 1
		}
		return 0
	})
	return nil
}

// Verdict says what a distance means, in a sentence.
func (d SpanDistance) Verdict() string {
	if d.Record == nil {
		if d.Leaks {
			return fmt.Sprintf("the update of client %d lies outside the span of the others: leak", d.Client)
		}
		return fmt.Sprintf("the update of client %d lies in the span of the others", d.Client)
	}
	if d.Leaks {
		return fmt.Sprintf("the gradient of record %d (client %d) lies outside the span of the others: leak", *d.Record, d.Client)
	}
	return fmt.Sprintf("the gradient of record %d (client %d) lies in the span of the others", *d.Record, d.Client)
}
