package fetch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Folder is a folder on this machine that holds the files, each compressed as NAME.gz, where a package has put them.
type Folder struct {
	Path string
	From string // the package, for people
}

func (f Folder) String() string { return f.From + " in " + f.Path }

// Fetch implements [Source].
func (f Folder) Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error {
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.saveOne(filepath.Join(f.Path, file.Name+".gz"), file, save); err != nil {
			return err
		}
	}
	return nil
}

func (f Folder) saveOne(path string, file File, save func(File, io.Reader) error) error {
	compressed, err := os.Open(path)
	if err != nil {
		if f.From != "" {
			return fmt.Errorf("%w: install the %s", err, f.From)
		}
		return err
	}
	defer compressed.Close()
	return saveGzip(compressed, file, save)
}
