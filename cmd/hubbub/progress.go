package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"hubbub/internal/experiment"
	"hubbub/statement"
)

// bar shows how far a run is: one line that is redrawn on a terminal, a few plain lines elsewhere.
type bar struct {
	out      io.Writer
	f        *experiment.Federation
	against  statement.Adversary // whose epsilon is shown
	terminal bool
	quiet    bool
	drawn    time.Time
	accuracy float64
	epsilon  *float64
	measured bool
}

func newBar(out io.Writer, f *experiment.Federation, quiet bool) *bar {
	b := &bar{out: out, f: f, quiet: quiet, against: statement.Public}
	if t := f.Config.Privacy.Target; t != nil {
		b.against = statement.Adversary(t.Against)
	}
	if file, ok := out.(*os.File); ok {
		if info, err := file.Stat(); err == nil {
			b.terminal = info.Mode()&os.ModeCharDevice != 0
		}
	}
	return b
}

func (b *bar) begin(folder string) {
	if b.quiet {
		return
	}
	fmt.Fprintf(b.out, "%s: %d clients, %d weights, %d rounds", folder, len(b.f.Parts), b.f.Net.Size(), b.f.Config.Rounds)
	for _, name := range slices.Sorted(maps.Keys(b.f.Noise())) {
		fmt.Fprintf(b.out, ", %s %.4g", strings.ReplaceAll(name, "_", " "), b.f.Noise()[name])
	}
	fmt.Fprintln(b.out)
}

// show draws a round. A terminal is redrawn at most ten times a second.
func (b *bar) show(p experiment.Progress) {
	if p.Last.Accuracy != nil {
		b.accuracy, b.epsilon, b.measured = *p.Last.Accuracy, p.Last.Epsilon[b.against], true
	}
	if b.quiet {
		return
	}
	last := p.Last.Round == p.Rounds
	if !b.terminal {
		if every := max(1, p.Rounds/10); p.Last.Round%every == 0 || last {
			fmt.Fprintln(b.out, b.line(p))
		}
		return
	}
	if last || time.Since(b.drawn) > 100*time.Millisecond {
		b.drawn = time.Now()
		fmt.Fprintf(b.out, "\r\x1b[K%s", b.line(p))
	}
}

func (b *bar) line(p experiment.Progress) string {
	var s strings.Builder
	width := len(fmt.Sprint(p.Rounds))
	fmt.Fprintf(&s, "round %*d/%d ", width, p.Last.Round, p.Rounds)
	if b.terminal {
		const length = 20
		done := p.Last.Round * length / p.Rounds
		s.WriteString(strings.Repeat("█", done) + strings.Repeat("░", length-done) + " ")
	}
	if b.measured {
		fmt.Fprintf(&s, " accuracy %.1f%%", 100*b.accuracy)
		if b.epsilon != nil {
			fmt.Fprintf(&s, "  epsilon %s (%s)", upward(*b.epsilon), b.against)
		} else {
			s.WriteString("  no guarantee")
		}
	}
	fmt.Fprintf(&s, "  %s left", short(p.Left))
	return s.String()
}

func (b *bar) end() {
	if !b.quiet && b.terminal {
		fmt.Fprintln(b.out)
	}
}

// short writes a duration as a person says it.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
