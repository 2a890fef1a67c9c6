package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/accountant"
	"hubbub/audit/sums"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// theoryResult is what a law of updates leads to.
type theoryResult struct {
	Updates       sums.Updates `json:"updates"`
	Clients       int          `json:"clients"`
	Dim           int          `json:"dim"`
	Epsilon       float64      `json:"epsilon"`
	Delta         float64      `json:"delta"`
	DeltaAtLeast  float64      `json:"delta_at_least"`
	GaussianDelta float64      `json:"gaussian_delta"`
	MixedDelta    *float64     `json:"mixed_delta,omitempty"` // half of the entries the other way round: Gamma noise is not symmetric
	Distance      float64      `json:"distance"`
	Certain       float64      `json:"certain"`
	Chunks        *chunkResult `json:"chunks,omitempty"`
	Assumptions   []string     `json:"assumptions"`
}

// chunkResult compares a piece of the update by itself with all pieces.
type chunkResult struct {
	Chunks        int     `json:"chunks"`
	OneChunkDelta float64 `json:"one_chunk_delta"`
	AllDelta      float64 `json:"all_chunks_delta"`
}

func (a *app) secaggTheory(f secaggFlags) error {
	if math.IsNaN(f.epsilon) || math.IsInf(f.epsilon, 0) || f.epsilon < 0 {
		return usage("--epsilon %g must be a number of at least 0", f.epsilon)
	}
	s, err := sums.New(sums.Updates(f.updates), f.clients, f.dim)
	if err != nil {
		return experiment.Input(err)
	}
	b, err := s.Delta(f.epsilon)
	if err != nil {
		return experiment.Input(err)
	}
	r := theoryResult{
		Updates: s.Updates, Clients: s.Clients, Dim: s.Dim, Epsilon: f.epsilon, Delta: b.Upper, DeltaAtLeast: b.Lower,
		GaussianDelta: s.GaussianDelta(f.epsilon), Distance: s.Distance(), Certain: s.Certain(),
		Assumptions: []string{"entries of updates are independent, of one entry to the next and of one client to the next", "one round"},
	}
	if s.Updates == sums.Gamma && s.Dim > 1 {
		mixed, err := s.Mixed(s.Dim/2, f.epsilon)
		if err != nil {
			return experiment.Input(err)
		}
		r.MixedDelta = &mixed.Upper
		r.Assumptions = append(r.Assumptions, "all entries of the two updates lie at the same ends; the noise is not symmetric, and that mixed ends are no worse was not proved")
	}
	if f.chunks != 1 {
		if r.Chunks, err = chunks(s, f); err != nil {
			return err
		}
	}
	if f.picture != "" {
		if err := drawFigureOne(s, f.also, f.picture); err != nil {
			return err
		}
	}
	return a.print(r, func() {
		a.printf("%d other clients, %d entries, %s: delta at epsilon %g\n\n", r.Clients, r.Dim, r.Updates, r.Epsilon)
		line(a.out, "delta", "%.7f (at least %.7f)", r.Delta, r.DeltaAtLeast)
		line(a.out, "Gaussian of same covariance", "%.7f, the two updates %.4g standard deviations apart", r.GaussianDelta, r.Distance)
		if r.MixedDelta != nil {
			line(a.out, "half the entries turned", "%.7f", *r.MixedDelta)
		}
		line(a.out, "told for certain", "with probability %.3g, at any epsilon", r.Certain)
		if r.Chunks != nil {
			line(a.out, "in chunks", "%.7f for one of %d by itself, %.7f for all of them: the server sees all", r.Chunks.OneChunkDelta, r.Chunks.Chunks, r.Chunks.AllDelta)
		}
		for _, s := range r.Assumptions {
			a.printf("assumes: %s\n", s)
		}
	})
}

// chunks compares one piece with all of them, of which the privacy losses add up.
func chunks(s *sums.Setting, f secaggFlags) (*chunkResult, error) {
	if f.chunks < 1 || s.Dim%f.chunks != 0 {
		return nil, usage("--chunks %d must divide --dim, %d", f.chunks, s.Dim)
	}
	one, err := sums.New(s.Updates, s.Clients, s.Dim/f.chunks)
	if err != nil {
		return nil, experiment.Input(err)
	}
	piece, err := one.Delta(f.epsilon)
	if err != nil {
		return nil, experiment.Input(err)
	}
	all, err := one.Together(f.chunks, f.epsilon)
	if err != nil {
		return nil, experiment.Input(err)
	}
	return &chunkResult{f.chunks, piece.Upper, all.Upper}, nil
}

// drawFigureOne draws delta over epsilon, of the law and of the Gaussian, for one or several numbers of entries.
func drawFigureOne(s *sums.Setting, also []int, file string) error {
	if len(also) > 2 {
		return usage("--also-dim has %d numbers: two at the most, a picture holds six lines", len(also))
	}
	picture := chart.Line{Title: fmt.Sprintf("What a sum leaks: %s updates, %d other clients", s.Updates, s.Clients), XLabel: "epsilon", YLabel: "delta", YLog: true}
	for _, dim := range append([]int{s.Dim}, also...) {
		s, err := sums.New(s.Updates, s.Clients, dim)
		if err != nil {
			return experiment.Input(err)
		}
		var x, law, gaussian []float64
		for i := range 33 {
			epsilon := 8 * float64(i) / 32
			b, err := s.Delta(epsilon)
			if err != nil {
				return experiment.Input(err)
			}
			const least = 1e-12 // a logarithmic axis has no zero
			x, law, gaussian = append(x, epsilon), append(law, max(b.Upper, least)), append(gaussian, max(s.GaussianDelta(epsilon), least))
		}
		picture.Series = append(picture.Series,
			chart.Series{Name: fmt.Sprintf("%d entries", dim), X: x, Y: law}, chart.Series{Name: fmt.Sprintf("%d, Gaussian", dim), X: x, Y: gaussian})
	}
	return writePicture(picture, file)
}

func writePicture(picture chart.Line, file string) error {
	var content []byte
	var err error
	switch filepath.Ext(file) {
	case ".svg":
		content, err = picture.SVG()
	case ".png":
		content, err = picture.PNG(1280)
	default:
		return usage("--picture ends in %q: it must end in .svg or .png", filepath.Ext(file))
	}
	if err != nil {
		return err
	}
	return create(file, content)
}

func (a *app) secaggCovariance(c *cobra.Command, f secaggFlags) error {
	matrix, err := readMatrix(f.covariance)
	if err != nil {
		return err
	}
	if len(matrix) != len(matrix[0]) {
		return usage("%s has %d rows of %d numbers: a covariance must be square", f.covariance, len(matrix), len(matrix[0]))
	}
	covariance := sums.Covariance{Dim: len(matrix)}
	for i, row := range matrix {
		for j, v := range row {
			if math.Abs(v-matrix[j][i]) > 1e-9*(math.Abs(v)+math.Abs(matrix[j][i])) {
				return usage("%s: entry %d, %d is %g and entry %d, %d is %g: a covariance must be symmetric", f.covariance, i, j, v, j, i, matrix[j][i])
			}
		}
		covariance.Values = append(covariance.Values, row...)
	}
	var distance float64
	switch {
	case (f.diff != "") == c.Flags().Changed("radius"):
		return usage("give either --difference or --radius beside --covariance")
	case f.diff != "":
		rows, readErr := readMatrix(f.diff)
		if readErr != nil {
			return readErr
		}
		var difference []float64
		for _, row := range rows { // a row or a column
			difference = append(difference, row...)
		}
		distance, err = sums.Distance(covariance, difference)
	default:
		distance, err = sums.BallDistance(covariance, f.radius)
	}
	if err != nil {
		return experiment.Input(err)
	}
	if math.IsNaN(f.epsilon) || f.epsilon < 0 {
		return usage("--epsilon %g must be a number of at least 0", f.epsilon)
	}
	result := struct {
		Epsilon  float64 `json:"epsilon"`
		Delta    float64 `json:"delta"`
		Distance float64 `json:"distance"`
	}{f.epsilon, accountant.GaussianDelta(distance, f.epsilon), distance}
	return a.print(result, func() {
		line(a.out, "delta", "%.9g at epsilon %g, if the others' sum is Gaussian", result.Delta, result.Epsilon)
		line(a.out, "distance", "%.9g standard deviations", result.Distance)
	})
}

// readMatrix reads rows of numbers from a file.
func readMatrix(file string) ([][]float64, error) {
	open, err := os.Open(file)
	if err != nil {
		return nil, experiment.Input(err)
	}
	defer open.Close()
	rows, err := parseMatrix(io.LimitReader(open, 1<<32))
	if err != nil {
		return nil, experiment.Input(fmt.Errorf("%s: %w", file, err))
	}
	return rows, nil
}

// parseMatrix reads CSV: as many numbers in each row.
func parseMatrix(in io.Reader) ([][]float64, error) {
	reader := csv.NewReader(in)
	reader.TrimLeadingSpace = true
	var rows [][]float64
	for {
		fields, err := reader.Read() // refuses rows of unequal length
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row := make([]float64, len(fields))
		for i, text := range fields {
			if row[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
				return nil, fmt.Errorf("row %d, column %d is %q: it must be a number", len(rows)+1, i+1, text)
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("it holds no numbers")
	}
	return rows, nil
}
