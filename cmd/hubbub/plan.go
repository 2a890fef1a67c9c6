package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
)

func (a *app) planCommand() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "plan FILE.yaml",
		Short: "Say what a run will cost before anything is trained",
		Long: `Say what a run will cost before anything is trained: epsilon per adversary, bytes per client and round, time and
memory. What is impossible is refused here. Time is estimated by trying a little of the work on this machine.`,
		Args: cobra.ExactArgs(1), Annotations: hasJSON,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := prepare(args[0], sets)
			if err != nil {
				return err
			}
			p, err := f.Plan()
			if err != nil {
				return err
			}
			return a.print(p, func() {
				line(a.out, "clients", "%s, with %s training records", thousands(int64(p.Clients)), thousands(int64(p.Records)))
				line(a.out, "model", "%s of %s weights: %s", p.Model, thousands(int64(p.Weights)), layers(p.Tensors))
				for _, name := range slices.Sorted(maps.Keys(p.Noise)) {
					line(a.out, strings.ReplaceAll(name, "_", " "), "%.6g", p.Noise[name])
				}
				printStatement(a.out, p.Statement, f.Facts.Unit)
				line(a.out, "bytes per client and round", "%s up, %s down", thousands(p.BytesUp), thousands(p.BytesDown))
				line(a.out, "time", "about %s for %d rounds", short(time.Duration(p.Seconds*float64(time.Second))), p.Rounds)
				line(a.out, "memory", "about %s", megabytes(p.MemoryBytes))
			})
		},
	}
	c.Flags().StringArrayVar(&sets, "set", nil, "change a value of the file: a.b=c (may be repeated)")
	return c
}

// layers names the layers that have weights by their first tensor: the biases behind it go without saying.
func layers(tensors []experiment.Tensor) string {
	var names []string
	last := ""
	for _, t := range tensors {
		if layer, _, _ := strings.Cut(t.Name, "."); layer != last {
			last = layer
			names = append(names, layer+" "+strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Shape), " ", "x"), "[]"))
		}
	}
	return strings.Join(names, ", ")
}

func megabytes(n int64) string {
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%s MB", thousands(n/1e6))
}
