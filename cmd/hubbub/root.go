package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

const about = `Hubbub trains one model over many private data sets, and says what still leaks.

Nobody hands over data. What leaves a client is clipped and noised, and every run ends with
a statement: who is protected from whom, by how much, and under which assumptions.

Start here:
  hubbub data fetch mnist        get a data set, once
  hubbub init                    write a commented experiment.yaml
  hubbub plan experiment.yaml    what it will cost: epsilon, bytes, time, memory
  hubbub run experiment.yaml     train, and write runs/NAME-1/report.html
  hubbub runs list               what was trained so far
  hubbub privacy --help          what any mechanism costs, and how much noise a target needs
  hubbub audit --help            attack the guarantees, and what the attacks prove`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "hubbub", Short: "Private federated learning", Long: about,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(a.initCommand(), a.planCommand(), a.runCommand(), a.runsCommand(), a.privacyCommand(), a.auditCommand(), a.claimsCommand(), a.dataCommand(), a.reproduceCommand(), a.versionCommand())
	a.finish(root)
	return root
}

// finish gives --json to every command that prints a result, and notes when a command begins its work.
func (a *app) finish(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.finish(sub)
	}
	if c.Annotations["json"] == "yes" {
		c.Flags().BoolVar(&a.json, "json", false, "print the result as JSON")
	}
	if work := c.RunE; work != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.entered = true
			return work(c, args)
		}
	}
}

var hasJSON = map[string]string{"json": "yes"}

// print writes the result as JSON, or as the text that human makes of it.
func (a *app) print(result any, human func()) error {
	if !a.json {
		human()
		return nil
	}
	encoder := json.NewEncoder(a.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }
