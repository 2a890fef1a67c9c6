package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"hubbub/internal/kernel"
)

// version is of the newest entry in CHANGELOG.md; a test compares them.
const version = "0.3.0"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Annotations: hasJSON,
		RunE: func(*cobra.Command, []string) error {
			kernels, _ := kernel.CPU() // what is wrong with the wish was said before any command
			result := map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "kernels": kernels}
			return a.print(result, func() {
				fmt.Fprintf(a.out, "hubbub %s (%s, %s, %s kernels)\n", version, result["go"], result["platform"], kernels)
			})
		},
	}
}
