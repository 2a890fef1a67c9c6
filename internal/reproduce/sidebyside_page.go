package reproduce

import (
	"fmt"
	"math"
	"runtime"

	"hubbub/internal/chart"
)

// compareIntro is what a reader must know before the pictures.
const compareIntro = `
One task for the mechanisms of all five papers: MNIST, 10,000 records dealt at random to 100 clients, all of whom take part in every
round; pictures averaged to 14 x 14 and a linear model, 1,970 weights. With so few clients a larger model drowns in the noise. Each
mechanism gets the same epsilons, at delta 1e-5, over its whole training: 10 rounds, of federated averaging, or of single gradients for
paper 000.

- **True epsilon** is an upper bound by our accountant, for the whole run: against the *public*, who see all models, and against the
  *server*, who sees what clients send, or their sum under secure aggregation. *None* means that no bound holds. Noise is sized for the public, but
  where the name says otherwise.
- **Audited epsilon** is a lower bound: with 95% confidence no smaller epsilon holds. An attack on the real code, with the noise of the run
  and over all its rounds, shows it; the worst neighbours we know go in, and the adversary knows everything but which of them. It is
  held against the true epsilon for the same adversary, unit and rounds. Finitely many trials show less than the truth, and never more than
  *can be shown*: a small value is no proof of privacy. *If Gaussian* is what the same trials show of a mechanism with the trade-off of
  normal noise. Where that stays far below the true epsilon in spite of many trials, the proof is loose, and accuracy pays for it: of
  SMM, DSM, DDG and cpSGD. Where trials are few because they are dear, it only says so.
- **Unit** is what epsilon hides: all data of one client, or one record. **Epsilons of different units cannot be put on one axis**: a record
  is much easier to hide than a client, so there is one picture for each. A mechanism that hides records promises nothing for clients.
- **Claimed** is what a paper says of a mechanism for which nothing holds. Paper 003 as printed is in no picture of accuracy: it has no true epsilon.

The attack on paper 001, secure aggregation alone, is the paper's own: it knows how data are dealt, but no other client's, and looks at the
sum of the first round. Paper 003 as printed is attacked by its first upload alone: a weight whose feature is zero in all records of a
client gets no noise. Paper 000 is attacked in a smaller federation (2 clients of 4 records, 4 weights), calibrated to the same
epsilon over as many rounds, as a round of it takes too long to be played thousands of times.
`

func compareSheet(all []point) Sheet {
	s := Sheet{Name: "compare", Title: "Every mechanism at every epsilon", Columns: []string{
		"mechanism", "paper", "unit", "claimed epsilon", "true epsilon, public", "true epsilon, server", "audited epsilon, at least", "trials", "can be shown", "if Gaussian",
		"accuracy, %", "bytes up", "seconds a round",
	}}
	for _, p := range all {
		claim, paper, gaussian := "", p.paper, "-"
		if p.noise == claimed {
			claim = trim(p.asked)
		}
		if p.gaussian >= 0 {
			gaussian = fmt.Sprintf("%.2f", p.gaussian)
		}
		seconds := "-" // it diverged before the first round was over
		if !math.IsInf(p.seconds, 1) {
			seconds = fmt.Sprintf("%.2f", p.seconds)
		}
		accuracy := fmt.Sprintf("%.1f ± %.1f", points(p.tally), 100*p.tally.Error)
		if p.tally.Diverged > 0 {
			accuracy += " (diverged)"
		}
		s.Rows = append(s.Rows, []string{
			p.name, paper, string(p.unit), claim, epsilonOrNone(p.public), epsilonOrNone(p.server), fmt.Sprintf("%.2f", p.shown), fmt.Sprint(p.trials), fmt.Sprintf("%.2f", p.largest), gaussian,
			accuracy, fmt.Sprint(p.bytesUp), seconds,
		})
	}
	return s
}

func epsilonOrNone(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprintf("%.2f", *x)
}

// compareFigures are accuracy over true epsilon, by unit, and audited over true epsilon.
func compareFigures(all []point) []Figure {
	return []Figure{
		accuracyFigure(all, "compare-client", "Accuracy over true epsilon, for one client", "client"),
		accuracyFigure(all, "compare-record", "Accuracy over true epsilon, for one record", "record"),
		auditFigure(all, "compare-audited", "Audited over true epsilon", "true epsilon at delta 1e-5; of paper 003 as printed: claimed", "epsilon that an attack shows", func(p point) float64 { return p.shown }),
		auditFigure(all, "compare-gaussian", "Audited over true epsilon, if the trade-off is that of normal noise", "true epsilon at delta 1e-5", "epsilon that an attack shows, if Gaussian",
			func(p point) float64 { return p.gaussian }),
	}
}

func accuracyFigure(all []point, file, title, unit string) Figure {
	picture := chart.Line{Title: title, XLabel: "true epsilon at delta 1e-5, against whom the noise is sized for", YLabel: "accuracy, %", XLog: true, YMin: Value(0), YMax: Value(100), Width: 560, Height: 340}
	flat := chart.Series{Name: "no privacy"}
	for _, p := range all {
		if p.noise == nothing && p.paper == "" {
			for _, x := range []float64{0.5, 8} {
				addPoint(&flat, x, points(p.tally), 100*p.tally.Error)
			}
		}
	}
	picture.Series = append(picture.Series, flat)
	for _, r := range rivals {
		if r.noise != proved || string(r.unit) != unit {
			continue
		}
		s := chart.Series{Name: r.name}
		for _, p := range all {
			if p.name == r.name && p.holds() != nil {
				addPoint(&s, p.asked, points(p.tally), 100*p.tally.Error)
			}
		}
		picture.Series = append(picture.Series, s)
	}
	return Figure{Name: file, Caption: title, Drawing: picture}
}

// auditFigure draws what attacks show over what holds; of a mechanism for which nothing holds, over what is claimed.
func auditFigure(all []point, file, title, below, beside string, of func(point) float64) Figure {
	picture := chart.Line{Title: title, XLabel: below, YLabel: beside, YMin: Value(0), Width: 560, Height: 360}
	diagonal := chart.Series{Name: "audited = true", X: []float64{0, 8}, Y: []float64{0, 8}}
	picture.Series = append(picture.Series, diagonal)
	for _, r := range rivals {
		s := chart.Series{Name: r.name}
		for _, p := range all {
			if p.name == r.name && r.noise != nothing && of(p) >= 0 {
				s.X, s.Y = append(s.X, p.asked), append(s.Y, of(p))
			}
		}
		if len(s.X) > 0 {
			picture.Series = append(picture.Series, s)
		}
	}
	return Figure{Name: file, Caption: title, Drawing: picture}
}

func compareNotes(b *Bench, all []point) []string {
	runs, fewest := 0, 100
	for _, p := range all {
		runs, fewest = max(runs, p.tally.Seeds), min(fewest, p.tally.Seeds)
	}
	return []string{
		fmt.Sprintf("Accuracy: of the global model on 10,000 public test records, mean and standard error over %d seeds (of papers 000, 003 and 004: %d), after the last round. Diverged: in one seed or more the training ran out of range, and the last good model counts.", runs, fewest),
		"Rates and intervals were chosen on one seed for each family, not for each mechanism and epsilon: federated averaging has one rate, paper 000 one, PriFedSync one, the sound adaptive mechanism one interval.",
		"Bytes up: what a client sends in a round, with the masks, keys and shares of secure aggregation where a mechanism needs it (complete graph of 100, a tenth may drop out). Most of it are shares of seeds: Skellam noise, of ours, DSM and SMM, comes in layers, which survivors take back so that the total is exact. DDG and cpSGD cannot be cut so; a committee that only a simulation has makes their noise. Where nothing is hidden from the server and nothing is noised, sums are exact on a grid of 64 bits; float32 would be half of that.",
		fmt.Sprintf("Seconds: all clients and the server in one process on %d cores (%s), the quickest seed on a machine that may have had other work as well, sums in the clear standing for secure aggregation; the last line of the checks has the real protocol.", runtime.NumCPU(), runtime.GOARCH),
		"Paper 000: where accuracy hardly changes with epsilon, it is not the noise that keeps it below no privacy; ten rounds of clipped single gradients train less than ten of averaging.",
		"PriFedSync: personal models that take over half of the global one; the accuracy is that of the global model, so that it can be compared.",
		"Scale: " + Pick(b, "fast, three epsilons and fewer seeds.", "full, five epsilons, five seeds and five times as many trials."),
	}
}
