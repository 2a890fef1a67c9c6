package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// folder keeps the files of one data set. A file is written under a temporary name and renamed when it is complete.
type folder struct {
	path   string
	create func(dir, pattern string) (tempFile, error) // tests hand in disks that fail
}

// tempFile is what folder needs of an *os.File.
type tempFile interface {
	io.WriteCloser
	Name() string
	Sync() error
}

func createTemp(dir, pattern string) (tempFile, error) { return os.CreateTemp(dir, pattern) }

// diskError is a failure of this machine's disk, for which no source is to blame.
type diskError struct {
	path string
	err  error
}

func (e *diskError) Error() string {
	return fmt.Sprintf("cannot write %s: %v: make room, or set HUBBUB_DATA to another folder", e.path, e.err)
}

func (e *diskError) Unwrap() error { return e.err }

const (
	partial = ".partial" // how the names of files being written end
	// A partial file that nobody wrote to for so long was left by a process that was killed.
	abandoned = time.Hour
)

// prepare makes the folder and removes what killed processes left in it.
func (f folder) prepare() error {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return &diskError{f.path, err}
	}
	left, err := filepath.Glob(filepath.Join(f.path, "*"+partial))
	if err != nil {
		return nil // only for a path with glob characters that do not match up; then old partial files stay
	}
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > abandoned {
			os.Remove(path) // if it cannot be removed it only takes up room
		}
	}
	return nil
}

// save writes content under the name of the file if its size and sha256 are right; otherwise it changes nothing.
func (f folder) save(ctx context.Context, file File, content io.Reader) (err error) {
	path := filepath.Join(f.path, file.Name)
	temp, err := f.create(f.path, file.Name+".*"+partial)
	if err != nil {
		return &diskError{path, err}
	}
	closed := false
	defer func() {
		if !closed {
			temp.Close()
		}
		if err != nil {
			os.Remove(temp.Name())
		}
	}()

	hash := sha256.New()
	limited := &bounded{r: cancellable{ctx, content}, left: file.Size}
	size, err := io.Copy(io.MultiWriter(diskWriter{temp, path}, hash), limited)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	if size != file.Size {
		return fmt.Errorf("%s: %d bytes, expected %d: it is cut short", file.Name, size, file.Size)
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found != file.SHA256 {
		return fmt.Errorf("%s: sha256 %s, expected %s", file.Name, found, file.SHA256)
	}
	// The content must be on the disk before the name is: a power cut must not leave a named file without content.
	if err := temp.Sync(); err != nil {
		return &diskError{path, err}
	}
	closed = true
	if err := temp.Close(); err != nil {
		return &diskError{path, err}
	}
	if err := os.Chmod(temp.Name(), 0o644); err != nil {
		return &diskError{path, err}
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return &diskError{path, err}
	}
	syncFolder(f.path)
	return nil
}

// syncFolder makes a rename durable where the system can. Without it a power cut costs another fetch, nothing else.
func syncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		dir.Sync()
		dir.Close()
	}
}

// diskWriter tells a failing disk from a failing source.
type diskWriter struct {
	w    io.Writer
	path string
}

func (d diskWriter) Write(p []byte) (int, error) {
	n, err := d.w.Write(p)
	if err != nil {
		return n, &diskError{d.path, err}
	}
	return n, nil
}

// cancellable ends with the context's error once that is done, also where the reader itself knows no context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
