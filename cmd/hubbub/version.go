package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is of the newest entry in CHANGELOG.md; a test compares them.
const version = "0.2.0"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Annotations: hasJSON,
		RunE: func(*cobra.Command, []string) error {
			result := map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return a.print(result, func() {
				fmt.Fprintf(a.out, "hubbub %s (%s, %s)\n", version, result["go"], result["platform"])
			})
		},
	}
}
