package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// GoModule is a Go module that carries the files, each compressed as NAME.gz, in one of its folders. It comes from
// whatever module proxy or cache the user's Go toolchain is set up with.
type GoModule struct {
	Path    string
	Version string // never "latest": what is fetched must not change under us
	Folder  string
}

func (m GoModule) String() string { return "Go module " + m.Path + "@" + m.Version }

// Fetch implements [Source].
func (m GoModule) Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error {
	dir, err := m.download(ctx)
	if err != nil {
		return err
	}
	return Folder{Path: filepath.Join(dir, m.Folder)}.Fetch(ctx, files, save)
}

// download returns the folder of the module in the user's module cache.
func (m GoModule) download(ctx context.Context) (string, error) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("needs a Go toolchain: %w", err)
	}
	// The command runs in a module of its own, so that it neither reads nor changes one that we may be standing in.
	scratch, err := os.MkdirTemp("", "hubbub-fetch-")
	if err != nil {
		return "", &diskError{os.TempDir(), err}
	}
	defer os.RemoveAll(scratch)
	if err := os.WriteFile(filepath.Join(scratch, "go.mod"), []byte("module scratch\n"), 0o644); err != nil {
		return "", &diskError{scratch, err}
	}
	command := exec.CommandContext(ctx, goCommand, "mod", "download", "-json", m.Path+"@"+m.Version)
	command.Dir = scratch
	// GOFLAGS must not be empty: an empty one gives way to what `go env -w` has set.
	command.Env = append(command.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod")
	command.WaitDelay = 5 * time.Second // a git that the command has started may hold its output open
	var complaint strings.Builder
	command.Stderr = &complaint
	output, err := command.Output()

	// The answer tells more than the exit code; it comes with both.
	var answer struct{ Dir, Error string }
	parseErr := json.Unmarshal(output, &answer)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case answer.Error != "":
		return "", errors.New(oneLine(answer.Error))
	case err != nil:
		return "", fmt.Errorf("go mod download: %w: %s", err, oneLine(complaint.String()))
	case parseErr != nil:
		return "", fmt.Errorf("go mod download: %w", parseErr)
	case answer.Dir == "":
		return "", errors.New("go mod download named no folder")
	}
	return answer.Dir, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
