package claims

import (
	"fmt"
	"strings"
)

// Markdown is the page of all claims. Evidence that was run, by the claim's ID, is written beside it.
func Markdown(evidence map[string]Evidence) string {
	var page strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&page, format, args...) }
	all := All()
	count := map[Verdict]int{}
	for _, c := range all {
		count[c.Verdict]++
	}
	out("# What five papers claim, and what is true\n\n")
	out("Made by `hubbub claims --markdown --run`; do not edit. %d claims: %d hold, %d hold with a correction, %d are false.\n", len(all), count[Holds], count[Corrected], count[False])
	out("Every one that is false or printed wrong has a counterexample that runs on the spot: `hubbub claims 003.1 --run`.\n\n")
	out("| claim | place | verdict |\n|---|---|---|\n")
	for _, c := range all {
		out("| [%s](#%s) | %s | %s |\n", c.ID, anchor(c.ID), c.Place, c.Verdict)
	}
	for _, p := range Papers {
		out("\n## Paper %s: %s\n", p.Number, p.Title)
		for _, c := range all {
			if c.Paper() == p.Number {
				c.markdown(out, evidence)
			}
		}
	}
	return page.String()
}

func (c Claim) markdown(out func(format string, args ...any), evidence map[string]Evidence) {
	out("\n### %s\n", c.ID)
	out("%s: **%s**\n\n", c.Place, c.Verdict)
	out("> %s\n\n", c.Says)
	out("%s\n\n", c.Why)
	out("- Ours: %s\n", c.Ours)
	out("- Where: %s\n", c.Where)
	if e, ok := evidence[c.ID]; ok {
		out("- Ran: %s\n", e.Ran)
		out("- Claimed: %s\n", e.Claimed)
		out("- Found: %s\n", e.Found)
	}
}

// anchor is what a heading is linked by: lower case, without full stops.
func anchor(id string) string { return strings.ToLower(strings.ReplaceAll(id, ".", "")) }
