package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/accountant"
	"hubbub/internal/chart"
	"hubbub/internal/experiment"
)

// curve is one event's line in a picture.
type curve struct {
	Label string
	X, Y  []float64
}

func (a *app) privacyCurve() *cobra.Command {
	var out, of string
	var labels []string
	var points int
	c := &cobra.Command{
		Use:   "curve EVENT...",
		Short: "Draw epsilon over delta, or the trade-off function, of one or several events",
		Long: `Draw epsilon over delta (--of epsilon), or misses over false alarms (--of tradeoff), of one or several events in one picture.
The ending of --out says the form: .svg, .png or .csv.`,
		Example: `  hubbub privacy curve --out e.svg --label sampled --label all \
    '{repeat: {count: 250, event: {poisson: {rate: 0.004, event: {gaussian: {noise_multiplier: 1.1}}}}}}' \
    '{repeat: {count: 250, event: {gaussian: {noise_multiplier: 20}}}}'`,
		Args: cobra.RangeArgs(1, 6),
		RunE: func(c *cobra.Command, args []string) error {
			if len(labels) > 0 && len(labels) != len(args) {
				return usage("%d labels for %d events: give one for each, or none", len(labels), len(args))
			}
			if points < 2 || points > 1000 {
				return usage("--points %d outside 2 to 1000", points)
			}
			if of != "epsilon" && of != "tradeoff" {
				return usage(`--of %q is neither "epsilon" nor "tradeoff"`, of)
			}
			var curves []curve
			for i, arg := range args {
				text, err := readEvent(arg, c.InOrStdin())
				if err != nil {
					return err
				}
				about, err := accountant.Parse(text)
				if err != nil {
					return experiment.Input(err)
				}
				label := fmt.Sprintf("event %d", i+1)
				if len(labels) > 0 {
					label = labels[i]
				}
				line, err := trace(about, of, points)
				if err != nil {
					return experiment.Input(fmt.Errorf("%s: %w", label, err))
				}
				line.Label = label
				curves = append(curves, line)
			}
			content, err := draw(curves, of, filepath.Ext(out))
			if err != nil {
				return err
			}
			if err := create(out, content); err != nil {
				return err
			}
			a.printf("%s\n", out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write: .svg, .png or .csv; must not exist")
	c.Flags().StringVar(&of, "of", "epsilon", "epsilon (over delta) or tradeoff (misses over false alarms)")
	c.Flags().StringArrayVar(&labels, "label", nil, "name of an event in the picture, in their order (may be repeated)")
	c.Flags().IntVar(&points, "points", 41, "points on each line")
	c.MarkFlagRequired("out")
	return c
}

// trace computes a line. Delta runs from 1e-10 to 1e-1 on a logarithmic axis, false alarms from 0 to 1.
func trace(about accountant.About, of string, points int) (curve, error) {
	var c curve
	for i := range points {
		at := float64(i) / float64(points-1)
		var y float64
		if of == "epsilon" {
			delta := math.Pow(10, -10+9*at)
			b, err := accountant.Epsilon(about, delta, accountant.Best)
			if err != nil {
				return curve{}, err
			}
			c.X, y = append(c.X, delta), b.Epsilon
		} else {
			t, err := accountant.Tradeoff(about, at)
			if err != nil {
				return curve{}, err
			}
			c.X, y = append(c.X, at), t.Beta
		}
		if math.IsInf(y, 1) {
			return curve{}, fmt.Errorf("there is no guarantee, so there is nothing to draw")
		}
		c.Y = append(c.Y, y)
	}
	return c, nil
}

func draw(curves []curve, of, form string) ([]byte, error) {
	if form == ".csv" {
		return writeCSV(curves, of)
	}
	picture := chart.Line{Title: "Epsilon over delta", XLabel: "delta", YLabel: "epsilon", XLog: true}
	zero := 0.0
	picture.YMin = &zero
	if of == "tradeoff" {
		one := 1.0
		picture = chart.Line{Title: "Trade-off function", XLabel: "false alarms (alpha)", YLabel: "misses (beta)", YMin: &zero, YMax: &one}
	}
	for _, c := range curves {
		picture.Series = append(picture.Series, chart.Series{Name: c.Label, X: c.X, Y: c.Y})
	}
	switch form {
	case ".svg":
		return picture.SVG()
	case ".png":
		return picture.PNG(1280)
	}
	return nil, usage("--out ends in %q: it must end in .svg, .png or .csv", form)
}

func writeCSV(curves []curve, of string) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	head := []string{"delta", "epsilon"}
	if of == "tradeoff" {
		head = []string{"alpha", "beta"}
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	w.Write(append([]string{"event"}, head...))
	for _, c := range curves {
		for i := range c.X {
			w.Write([]string{strings.TrimSpace(c.Label), number(c.X[i]), number(c.Y[i])})
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}
