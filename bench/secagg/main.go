//go:build linux

// The command secagg measures rounds of secure aggregation: a large one, and how the cost of a client grows with the cohort.
//
//	go run ./bench/secagg [-to 10000] [-picture .cache/secagg.svg]
//
// Times are processor time of single threads, so a busy machine tells the same. Every round loses a tenth of its clients after they
// shared keys, and every sum is compared with the plain one. The exit code is 1 if a floor is missed.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"hubbub/internal/chart"
)

func main() {
	to := flag.Int("to", 10000, "largest cohort")
	picture := flag.String("picture", ".cache/secagg.svg", "where the picture of the growth goes")
	flag.Parse()
	if err := measure(*to, *picture); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Floors: what a run must not miss.
const (
	mostOverhead = 1.02 // bytes sent, over the packed vector, keys and shares
	mostGrowth   = 0.15 // exponent of the cost of a neighbour; flat is 0
)

func measure(to int, picture string) error {
	large, err := run(min(1000, to), 100_000, 32)
	if err != nil {
		return err
	}
	fmt.Printf("%d clients, %d weights, a tenth drops out: client %.1f ms, server %.2f s, %d neighbours; a client sends %d bytes, %.4f of vector, keys and shares\n",
		large.clients, large.dim, 1e3*large.client, large.server, large.neighbours, large.sent, large.overhead)
	if large.overhead > mostOverhead {
		return fmt.Errorf("a client sends %.4f times what it must, more than %g", large.overhead, mostOverhead)
	}

	fmt.Printf("\n%8s %11s %10s %14s %16s %14s %12s\n", "clients", "neighbours", "client ms", "µs/neighbour", "server ms/client", "sent bytes", "k/log2 n")
	line := chart.Line{Title: "Cost of a client", XLabel: "clients in the cohort", YLabel: "milliseconds of processor time", XLog: true, YMin: new(float64)}
	whole, each := chart.Series{Name: "a client"}, chart.Series{Name: "a client, for every 100 neighbours"}
	var sparse []result
	for _, clients := range []int{100, 200, 300, 500, 1000, 2000, 5000, 10000} {
		if clients > to {
			break
		}
		r, err := run(clients, 1000, 32)
		if err != nil {
			return err
		}
		perNeighbour := 1e6 * r.client / float64(r.neighbours)
		fmt.Printf("%8d %11d %10.2f %14.1f %16.2f %14d %12.2f\n", clients, r.neighbours, 1e3*r.client, perNeighbour,
			1e3*r.server/float64(clients), r.sent, float64(r.neighbours)/math.Log2(float64(clients)))
		whole.X, whole.Y = append(whole.X, float64(clients)), append(whole.Y, 1e3*r.client)
		each.X, each.Y = append(each.X, float64(clients)), append(each.Y, perNeighbour/10)
		if clients > complete {
			sparse = append(sparse, r)
		}
	}
	line.Series = []chart.Series{whole, each}
	if err := draw(line, picture); err != nil {
		return err
	}
	if len(sparse) < 3 {
		return nil
	}
	growth := exponent(sparse, func(r result) float64 { return r.client })
	flat := exponent(sparse, func(r result) float64 { return r.client / float64(r.neighbours) })
	boxes := exponent(sparse, func(r result) float64 { return float64(r.neighbours) })
	fmt.Printf("\nabove %d clients: time of a client ~ n^%.3f, of a neighbour ~ n^%.3f; sealed shares in all ~ n^%.3f\n", complete, growth, flat, 1+boxes)
	if math.Abs(flat) > mostGrowth {
		return fmt.Errorf("the cost of a neighbour grows as n^%.3f, more than n^%g", flat, mostGrowth)
	}
	return nil
}

// exponent is the slope of the straight line through the logarithms.
func exponent(results []result, of func(result) float64) float64 {
	var sx, sy, sxx, sxy float64
	for _, r := range results {
		x, y := math.Log(float64(r.clients)), math.Log(of(r))
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(results))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

func draw(line chart.Line, path string) error {
	svg, err := line.SVG()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, svg, 0o644); err != nil {
		return err
	}
	fmt.Println("\npicture:", path)
	return nil
}
