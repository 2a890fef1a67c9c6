package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
)

func (a *app) auditSpan() *cobra.Command {
	var s experiment.SpanSettings
	var runsFolder, records string
	c := &cobra.Command{
		Use: "span RUN", Short: "Test whether the gradients of a run could hide each other without noise", Args: cobra.ExactArgs(1), Annotations: hasJSON,
		Long: `Test whether the gradients of a run could hide each other without noise.

Secure aggregation shows the server a mix of the gradients of all records. If the gradient of one record lies outside the span of the
others, the mix lies outside it exactly when that record took part: no epsilon is finite, however many others there are (Zhang and
Psounis 2024, Theorem 1). The command computes the gradients at the model of a round, for the clients of the next, and measures how much
of each lies outside the span of the others; more than a ten-thousandth is a leak. Where all lie inside, the smallest eigenvalue of their
covariance is what a Gaussian mix would have to hide behind.

Of runs that train on clients, the updates of whole clients take the place of gradients. A round before the last is trained again.
If the run adds noise, its statement holds whatever the span: leaks are shown, and the command succeeds. If nothing else hides them, a
leak fails the audit: exit code 1.`,
		Example: `  hubbub audit span demo-1
  hubbub audit span demo-1 --round 0 --clients 20
  hubbub audit span demo-1 --records 0-99,512 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if s.Records, err = numbers(records); err != nil {
				return err
			}
			if c.Flags().Changed("round") && s.Round < 0 {
				return usage("--round %d: rounds begin with 0, the model before the first", s.Round)
			}
			run, err := experiment.Find(runsFolder, args[0])
			if err != nil {
				return err
			}
			result, err := experiment.AuditSpan(c.Context(), run, s)
			if err != nil {
				return err
			}
			if err := a.print(result, func() { a.printSpan(result) }); err != nil {
				return err
			}
			if result.Open() {
				return fmt.Errorf("audit of %s: %d of %d lie outside the span of the others, and nothing else hides them", args[0], result.Leaks, result.Measured)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.IntVar(&s.Round, "round", -1, "look at the model after this round; 0: before the first; left out: the last")
	flags.StringVar(&records, "records", "", "records to measure, by number in the training set, such as 0-99,512 (clients, of runs that train on them); left out: the first 1,000")
	flags.IntVar(&s.Clients, "clients", 0, "take only so many clients of the cohort; left out: all")
	flags.StringVar(&runsFolder, "runs", "runs", "folder of all runs")
	return c
}

// mostNumbers is more than any list that is written by hand names.
const mostNumbers = 1_000_000

// numbers reads a list such as 0-99,512.
func numbers(text string) ([]int, error) {
	var list []int
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		first, last, span := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && span {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to-from >= mostNumbers || len(list) > mostNumbers {
			return nil, usage("--records %q: %q is no number and no range; write 0-99,512", text, part)
		}
		for i := from; i <= to; i++ {
			list = append(list, i)
		}
	}
	return list, nil
}

func (a *app) printSpan(r experiment.SpanAudit) {
	const shown = 10
	what := "gradients of records"
	if r.Of == "clients" {
		what = "updates of clients"
	}
	line(a.out, "model", "after round %d, %s weights", r.Round, thousands(int64(r.Weights)))
	line(a.out, "in the next sum", "%s %s; they span %s dimensions", thousands(int64(r.Rows)), what, thousands(int64(r.Rank)))
	line(a.out, "smallest eigenvalue", "%.3g over all weights, %.3g in the span", r.SmallestEigenvalue, r.SmallestInSpan)
	line(a.out, "outside the others' span", "%d of %d measured", r.Leaks, r.Measured)
	for i, d := range r.Records {
		if i == shown {
			a.printf("  and %d more: see --json\n", len(r.Records)-shown)
			break
		}
		a.printf("  %s (%.2g%% of its norm %.3g)\n", d.Verdict(), 100*d.Outside, d.Norm)
	}
	switch {
	case r.Leaks == 0:
	case r.Epsilon != nil:
		line(a.out, "noise", "covers them: epsilon %s against the server", upward(*r.Epsilon))
	default:
		line(a.out, "noise", "none that would cover them: no epsilon against the server")
	}
}
