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

const secaggAbout = `Say what a sum of updates tells of one of them, when secure aggregation hides the updates and nothing is added (paper 001).

In theory: --updates gamma or uniform takes updates whose entries are independent and exponential (the target's in [0, 4]) or
uniform in [-1/2, 1/2], and brackets delta at --epsilon, beside that of Gaussian noise with the same covariance. --chunks shows
that sending the model in pieces does not help.

With a covariance: --covariance FILE.csv of the others' sum, and either --difference FILE.csv of two updates or --radius, a
bound on the length of an update, give the exact curve of Gaussian noise. A direction without variance is refused: no guarantee.

In practice: FILE.yaml is an experiment without privacy. The attacker samples updates of its clients, estimates their mean and
covariance, searches the two that are easiest to tell apart, and guesses from sums which of them went in.`

// secaggFlags are those of all three ways.
type secaggFlags struct {
	updates              string
	clients, dim, chunks int
	also                 []int
	epsilon              float64
	covariance, diff     string
	radius               float64
	options              experiment.LeakOptions
	sets                 []string
	picture              string
	quiet                bool
}

func (a *app) auditSecagg() *cobra.Command {
	var f secaggFlags
	c := &cobra.Command{
		Use: "secagg [FILE.yaml]", Short: "Say what a sum of updates tells of one of them", Long: secaggAbout,
		Example: `  hubbub audit secagg --updates gamma --clients 10 --dim 10 --epsilon 1
  hubbub audit secagg --updates uniform --clients 100 --dim 100 --picture figure1.svg
  hubbub audit secagg --covariance c.csv --difference d.csv --epsilon 1
  hubbub audit secagg examples/paper001/adult.yaml --candidates 5000 --picture adult.svg`,
		Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		RunE: func(c *cobra.Command, args []string) error {
			ways := 0
			for _, on := range []bool{len(args) > 0, f.updates != "", f.covariance != ""} {
				if on {
					ways++
				}
			}
			if ways != 1 {
				return usage("%d of FILE.yaml, --updates and --covariance were given: give exactly one", ways)
			}
			switch {
			case f.updates != "":
				return a.secaggTheory(f)
			case f.covariance != "":
				return a.secaggCovariance(c, f)
			}
			return a.secaggPractice(c, args[0], f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.updates, "updates", "", "theory: law of the entries of an update, gamma or uniform")
	flags.IntVar(&f.clients, "clients", 10, "theory: the other clients in a sum")
	flags.IntVar(&f.dim, "dim", 1, "theory: entries of an update")
	flags.IntSliceVar(&f.also, "also-dim", nil, "theory: further numbers of entries for the picture, two at the most: 10,100")
	flags.IntVar(&f.chunks, "chunks", 1, "theory: send the update in so many pieces")
	flags.Float64Var(&f.epsilon, "epsilon", 1, "theory, covariance: epsilon, at least 0")
	flags.StringVar(&f.covariance, "covariance", "", "covariance: CSV file of the covariance of the others' sum")
	flags.StringVar(&f.diff, "difference", "", "covariance: CSV file of the difference of two updates")
	flags.Float64Var(&f.radius, "radius", 0, "covariance: largest L2 norm of an update, instead of --difference")
	flags.IntVar(&f.options.Samples, "samples", 25000, "practice: updates from which mean and covariance are estimated")
	flags.IntVar(&f.options.Candidates, "candidates", 1000, "practice: updates among which the worst pair is searched")
	flags.IntVar(&f.options.Trials, "trials", 5000, "practice: sums that are attacked and counted")
	flags.IntVar(&f.options.Models, "models", 1, "practice: initial models")
	flags.StringArrayVar(&f.sets, "set", nil, "practice: change a value of the file: a.b=c (may be repeated)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "practice: show no progress")
	flags.StringVar(&f.picture, "picture", "", "theory, practice: file for the curve, .svg or .png; must not exist")
	level(c, &f.options.Delta, &f.options.Confidence)
	return c
}

// theoryResult is what a law of updates leads to.
type theoryResult struct {
	Updates       sums.Updates `json:"updates"`
	Clients       int          `json:"clients"`
	Dim           int          `json:"dim"`
	Epsilon       float64      `json:"epsilon"`
	Delta         float64      `json:"delta"`
	DeltaAtLeast  float64      `json:"delta_at_least"`
	GaussianDelta float64      `json:"gaussian_delta"`
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
	if s.Updates == sums.Gamma {
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

// readMatrix reads rows of numbers.
func readMatrix(file string) ([][]float64, error) {
	open, err := os.Open(file)
	if err != nil {
		return nil, experiment.Input(err)
	}
	defer open.Close()
	reader := csv.NewReader(io.LimitReader(open, 1<<30))
	reader.TrimLeadingSpace = true
	var rows [][]float64
	for {
		fields, err := reader.Read() // refuses rows of unequal length
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, experiment.Input(fmt.Errorf("%s: %w", file, err))
		}
		row := make([]float64, len(fields))
		for i, text := range fields {
			if row[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
				return nil, usage("%s: row %d, column %d is %q: it must be a number", file, len(rows)+1, i+1, text)
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, usage("%s holds no numbers", file)
	}
	return rows, nil
}

func (a *app) secaggPractice(c *cobra.Command, file string, f secaggFlags) error {
	for _, name := range []string{"samples", "candidates", "trials", "models", "delta", "confidence"} {
		if value := c.Flags().Lookup(name).Value.String(); value == "0" { // which would mean "the default" further in
			return usage("--%s 0: must be above 0", name)
		}
	}
	federation, err := prepare(file, f.sets)
	if err != nil {
		return err
	}
	memory, err := federation.LeakMemory(f.options)
	if err != nil {
		return err
	}
	quiet := f.quiet || a.json
	if !quiet {
		fmt.Fprintf(a.errs, "%d weights, %d clients; about %s MB of memory\n", federation.Net.Size(), len(federation.Parts), thousands(memory>>20))
	}
	last := ""
	leaks, err := federation.Leak(c.Context(), f.options, func(p experiment.LeakProgress) {
		if stage := fmt.Sprintf("model %d: %s", p.Model+1, p.Stage); !quiet && stage != last {
			fmt.Fprintln(a.errs, stage)
			last = stage
		}
	})
	if err != nil {
		return err
	}
	if f.picture != "" {
		if err := drawLeak(leaks, f.picture); err != nil {
			return err
		}
	}
	mean := 0.0
	for _, l := range leaks {
		mean += l.Bound.Epsilon / float64(len(leaks))
	}
	result := struct {
		Epsilon float64           `json:"epsilon"` // mean over the initial models
		Largest float64           `json:"largest_auditable"`
		Delta   float64           `json:"delta"`
		Trials  int               `json:"trials"`
		Memory  int64             `json:"memory_bytes"`
		Models  []experiment.Leak `json:"models"`
	}{mean, leaks[0].Bound.Largest, leaks[0].Bound.Delta, f.options.Trials, memory, leaks}
	return a.print(result, func() { a.printLeaks(leaks, mean) })
}

func (a *app) printLeaks(leaks []experiment.Leak, mean float64) {
	for _, l := range leaks {
		a.printf("initial model %d: %d weights, %d of them differ between clients; %d other clients in a sum\n", l.Model+1, l.Dim, l.Varying, l.Others)
		line(a.out, "worst pair", "%.4g standard deviations apart", l.Distance)
		if l.Bare > 0 {
			line(a.out, "in the open", "%d weights differ that no sampled update changed: they give the pair away, and are left out below", l.Bare)
		}
		line(a.out, "mistakes", "%d false positives, %d false negatives in %d trials each", l.Errors.FalsePositives, l.Errors.FalseNegatives, l.Errors.Negatives)
		line(a.out, "rates at most", "%.4g and %.4g", l.Bound.FalsePositiveRate, l.Bound.FalseNegativeRate)
		line(a.out, "half way between the two", "%.4g and %.4g", l.Balanced.FalsePositive, l.Balanced.FalseNegative)
		line(a.out, "epsilon", "at least %.4f at delta %g, with confidence %g; the largest auditable is %.4f", downward(l.Bound.Epsilon), l.Bound.Delta, l.Bound.Confidence, downward(l.Bound.Largest))
		g := l.Gaussianity
		line(a.out, "is the sum Gaussian?", "skewness %.3f, excess kurtosis %.3f, Kolmogorov distance %.4f (a normal sample: below %.4f)", g.Skewness, g.Kurtosis, g.Kolmogorov, g.Expected)
	}
	if len(leaks) > 1 {
		line(a.out, "mean epsilon", "at least %.4f over %d initial models", downward(mean), len(leaks))
	}
}

// drawLeak draws the rates of each initial model.
func drawLeak(leaks []experiment.Leak, file string) error {
	picture := chart.Line{Title: "Telling two updates apart by their sum with others", XLabel: "false positives at most", YLabel: "false negatives at most", XLog: true, YLog: true}
	for _, l := range leaks {
		s := chart.Series{Name: fmt.Sprintf("model %d", l.Model+1)}
		for _, r := range l.Curve {
			s.X, s.Y = append(s.X, r.FalsePositive), append(s.Y, r.FalseNegative)
		}
		if picture.Series = append(picture.Series, s); len(picture.Series) == 6 {
			break
		}
	}
	return writePicture(picture, file)
}
