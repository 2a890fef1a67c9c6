// Command hubbub trains one model over many private data sets, and says what still leaks.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"hubbub/internal/experiment"
	"hubbub/internal/kernel"
)

// Exit codes, the same for every command.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // wrong usage or configuration: the reader can mend it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with everything that changes handed in.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	if _, err := kernel.CPU(); err != nil {
		fmt.Fprintf(errs, "hubbub: %v\n", err)
		return exitUsage
	}
	a := &app{out: out, errs: errs}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintf(errs, "hubbub: %v\n", err)
	}
	if !a.entered || experiment.IsInput(err) {
		return exitUsage
	}
	return exitFailed
}

// errSaid is an error whose message has been printed already.
var errSaid = errors.New("")

// app is what the commands share.
type app struct {
	out, errs io.Writer
	entered   bool // a command began its work: what fails from here on is not a matter of flags
	json      bool
}
