package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hubbub/accountant"
	"hubbub/internal/experiment"
)

const privacyAbout = `Compute what events cost: epsilon, delta, Renyi divergence, trade-off functions, and the noise that a target needs.

An EVENT is JSON or YAML, given inline, as @file, or as - for standard input. Events are plain data and nest freely:

  {gaussian: {noise_multiplier: 1.1}}
  {repeat: {count: 250, event: {poisson: {rate: 0.004, event: {gaussian: {noise_multiplier: 1.1}}}}}}
  {adjacency: zero-out, unit: client, event: {rounded_skellam: {rate: 22.4, l2: 10}}}

Kinds: gaussian, laplace, skellam, rounded_skellam, smm, discrete_gaussian, discrete_gaussian_sum, binomial, cpsgd, waterfill,
gaussian_sampling, subspace, gdp, none, unsound, and poisson, without_replacement, repeat, compose around them.

For the common case there is a short form: --noise-multiplier 1.1 --sample-rate 0.004 --steps 250.
Every epsilon is an upper bound and rounded up.`

func (a *app) privacyCommand() *cobra.Command {
	c := &cobra.Command{Use: "privacy", Short: "Compute what events cost, or the noise that a target needs", Long: privacyAbout}
	c.AddCommand(a.privacyEpsilon(), a.privacyDelta(), a.privacyRDP(), a.privacyTradeoff(), a.privacyCalibrate(), a.privacyCurve(), a.privacyCompare())
	return c
}

// eventFlags are the short form of the common event.
type eventFlags struct {
	noise, rate float64
	steps       int
	c           *cobra.Command
}

func (f *eventFlags) add(c *cobra.Command) {
	f.c = c
	c.Flags().Float64Var(&f.noise, "noise-multiplier", 0, "short form: Gaussian noise over sensitivity")
	c.Flags().Float64Var(&f.rate, "sample-rate", 1, "short form: probability that a unit is in a step")
	c.Flags().IntVar(&f.steps, "steps", 1, "short form: number of steps")
}

// text finds the event: an argument, a file, standard input, or the short form.
func (f *eventFlags) text(args []string) ([]byte, error) {
	short := f.c.Flags().Changed("noise-multiplier") || f.c.Flags().Changed("sample-rate") || f.c.Flags().Changed("steps")
	switch {
	case short && len(args) > 0:
		return nil, usage("both an EVENT and its short form were given: leave one out")
	case short:
		return f.short()
	case len(args) == 0:
		return nil, usage("no EVENT: give one inline, as @file or as -, or use --noise-multiplier, --sample-rate and --steps")
	}
	return readEvent(args[0], f.c.InOrStdin())
}

func (f *eventFlags) short() ([]byte, error) {
	if !f.c.Flags().Changed("noise-multiplier") {
		return nil, usage("the short form needs --noise-multiplier")
	}
	var e accountant.Event = accountant.Gaussian{NoiseMultiplier: f.noise}
	if f.c.Flags().Changed("sample-rate") {
		e = accountant.Poisson{Rate: f.rate, Event: e}
	}
	about := accountant.About{Event: accountant.Repeat{Count: f.steps, Event: e}}
	if err := accountant.Validate(about); err != nil {
		return nil, experiment.Input(err)
	}
	return json.Marshal(about)
}

func (f *eventFlags) about(args []string) (accountant.About, error) {
	text, err := f.text(args)
	if err != nil {
		return accountant.About{}, err
	}
	about, err := accountant.Parse(text)
	if err != nil {
		return accountant.About{}, experiment.Input(err)
	}
	return about, nil
}

// readEvent takes @file, - or the event itself.
func readEvent(argument string, in io.Reader) ([]byte, error) {
	const most = 1 << 20
	var text []byte
	var err error
	switch {
	case argument == "-":
		text, err = io.ReadAll(io.LimitReader(in, most+1))
	case strings.HasPrefix(argument, "@"):
		text, err = os.ReadFile(argument[1:])
	default:
		text = []byte(argument)
	}
	if err != nil {
		return nil, experiment.Input(fmt.Errorf("read the event: %w", err))
	}
	if len(text) > most {
		return nil, usage("an event of more than %d bytes", most)
	}
	return text, nil
}

func usage(format string, args ...any) error { return experiment.Input(fmt.Errorf(format, args...)) }

func (a *app) privacyEpsilon() *cobra.Command {
	var delta float64
	var by string
	var event eventFlags
	c := &cobra.Command{
		Use: "epsilon EVENT", Short: "Bound epsilon at a delta", Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		Example: `  hubbub privacy epsilon --delta 1e-5 --noise-multiplier 1.1 --sample-rate 0.004 --steps 250
  hubbub privacy epsilon --delta 1e-5 '{rounded_skellam: {rate: 22.4, l2: 10}}'`,
		RunE: func(_ *cobra.Command, args []string) error {
			about, err := event.about(args)
			if err != nil {
				return err
			}
			b, err := accountant.Epsilon(about, delta, accountant.Method(by))
			if err != nil {
				return experiment.Input(err)
			}
			return a.print(b, func() { a.printBound(b) })
		},
	}
	event.add(c)
	c.Flags().Float64Var(&delta, "delta", 0, "delta, in (0, 1)")
	c.Flags().StringVar(&by, "accountant", "best", "best, rdp, pld or fdp")
	c.MarkFlagRequired("delta")
	return c
}

func (a *app) privacyDelta() *cobra.Command {
	var epsilon float64
	var by string
	var event eventFlags
	c := &cobra.Command{
		Use: "delta EVENT", Short: "Bound delta at an epsilon", Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		RunE: func(_ *cobra.Command, args []string) error {
			about, err := event.about(args)
			if err != nil {
				return err
			}
			b, err := accountant.Delta(about, epsilon, accountant.Method(by))
			if err != nil {
				return experiment.Input(err)
			}
			return a.print(b, func() { a.printBound(b) })
		},
	}
	event.add(c)
	c.Flags().Float64Var(&epsilon, "epsilon", 0, "epsilon, at least 0")
	c.Flags().StringVar(&by, "accountant", "best", "best, rdp, pld or fdp")
	c.MarkFlagRequired("epsilon")
	return c
}

func (a *app) privacyRDP() *cobra.Command {
	var order float64
	var event eventFlags
	c := &cobra.Command{
		Use: "rdp EVENT", Short: "Bound the Renyi divergence at an order", Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		RunE: func(_ *cobra.Command, args []string) error {
			about, err := event.about(args)
			if err != nil {
				return err
			}
			value, err := accountant.RDP(about, order)
			if err != nil {
				return experiment.Input(err)
			}
			result := struct {
				RDP       *float64 `json:"rdp"`
				Order     float64  `json:"order"`
				Guarantee string   `json:"guarantee,omitempty"`
				Why       string   `json:"why,omitempty"`
			}{RDP: &value, Order: order}
			if math.IsInf(value, 1) {
				result.RDP, result.Guarantee, result.Why = nil, "none", "no finite divergence is known at this order"
			}
			return a.print(result, func() {
				if result.RDP == nil {
					a.printf("no guarantee: %s\n", result.Why)
				} else {
					line(a.out, "renyi divergence", "at most %.9g at order %g", value, order)
				}
			})
		},
	}
	event.add(c)
	c.Flags().Float64Var(&order, "order", 0, "order, above 1")
	c.MarkFlagRequired("order")
	return c
}

func (a *app) privacyTradeoff() *cobra.Command {
	var alpha float64
	var event eventFlags
	c := &cobra.Command{
		Use: "tradeoff EVENT", Short: "Bound an attacker's misses at a rate of false alarms", Args: cobra.MaximumNArgs(1), Annotations: hasJSON,
		Long: `Bound an attacker's misses at a rate of false alarms: whoever tries to tell two neighbouring data sets apart and is wrong
on the first with probability alpha is wrong on the second with probability beta or more.`,
		RunE: func(_ *cobra.Command, args []string) error {
			about, err := event.about(args)
			if err != nil {
				return err
			}
			t, err := accountant.Tradeoff(about, alpha)
			if err != nil {
				return experiment.Input(err)
			}
			return a.print(t, func() {
				line(a.out, "misses", "at least %.9g at %g false alarms", t.Beta, t.Alpha)
				line(a.out, "accountant", "%s", t.Accountant)
			})
		},
	}
	event.add(c)
	c.Flags().Float64Var(&alpha, "alpha", 0, "rate of false alarms, in [0, 1]")
	c.MarkFlagRequired("alpha")
	return c
}

func (a *app) privacyCalibrate() *cobra.Command {
	var target accountant.Target
	var by string
	c := &cobra.Command{
		Use: "calibrate EVENT", Short: `Find the number written as "?" that just meets a target`, Args: cobra.ExactArgs(1), Annotations: hasJSON,
		Example: `  hubbub privacy calibrate --epsilon 3 --delta 1e-5 '{repeat: {count: 250, event: {poisson: {rate: 0.004, event: {gaussian: {noise_multiplier: "?"}}}}}}'
  hubbub privacy calibrate --mu 1 '{repeat: {count: 100, event: {gaussian: {noise_multiplier: "?"}}}}'`,
		RunE: func(c *cobra.Command, args []string) error {
			text, err := readEvent(args[0], c.InOrStdin())
			if err != nil {
				return err
			}
			unknown, err := accountant.ParseUnknown(text)
			if err != nil {
				return experiment.Input(err)
			}
			target.By = accountant.Method(by)
			value, bound, err := unknown.Solve(target)
			if err != nil {
				return experiment.Input(err)
			}
			result, err := withValue(bound, unknown.Path, value)
			if err != nil {
				return err
			}
			return a.print(result, func() {
				line(a.out, unknown.Path, "%.9g", value)
				a.printBound(bound)
			})
		},
	}
	c.Flags().Float64Var(&target.Epsilon, "epsilon", 0, "target epsilon")
	c.Flags().Float64Var(&target.Delta, "delta", 0, "target delta")
	c.Flags().Float64Var(&target.Mu, "mu", 0, "target mu, instead of epsilon and delta")
	c.Flags().StringVar(&by, "accountant", "best", "best, rdp, pld or fdp")
	return c
}

// withValue is the JSON of a bound together with the number that was solved for.
func withValue(b accountant.Bound, parameter string, value float64) (map[string]any, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	result := map[string]any{}
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, err
	}
	result["parameter"], result["value"] = parameter, value
	return result, nil
}

// printBound says a bound in words.
func (a *app) printBound(b accountant.Bound) {
	switch {
	case math.IsInf(b.Epsilon, 1) || b.Delta >= 1:
		a.printf("no guarantee: %s\n", b.Why)
		if b.Claimed != "" {
			line(a.out, "claimed by the paper", "%s", b.Claimed)
		}
		return
	case b.Accountant == "":
		return
	}
	if b.Delta > 0 || b.Epsilon > 0 {
		line(a.out, "epsilon", "%.9g at delta %.9g", b.Epsilon, b.Delta)
	}
	if b.Lower > 0 {
		line(a.out, "and not below", "%.9g", b.Lower)
	}
	line(a.out, "accountant", "%s", b.Accountant)
	if b.Order > 0 {
		line(a.out, "order", "%g", b.Order)
	}
	if b.Mu > 0 {
		line(a.out, "mu", "%.9g", b.Mu)
	}
	for _, note := range b.Notes {
		a.printf("note: %s\n", note)
	}
}
