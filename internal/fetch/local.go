package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Local is a folder of the user that holds the files as NAME, as NAME.gz or in an archive (.zip, .tar.gz, .tgz); or such an archive.
type Local struct{ Path string }

func (l Local) String() string { return l.Path }

// Fetch implements [Source].
func (l Local) Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error {
	info, err := os.Stat(l.Path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if !isArchive(l.Path) {
			return errors.New("it is neither a folder nor a .zip, .tar.gz or .tgz archive")
		}
		return unpack(ctx, l.Path, files, save)
	}
	var missing []File
	for _, file := range files {
		found, err := l.saveOne(file, save)
		if err != nil {
			return err
		}
		if !found {
			missing = append(missing, file)
		}
	}
	entries, err := os.ReadDir(l.Path)
	if err != nil {
		return err
	}
	var failed error
	for _, entry := range entries {
		if len(missing) == 0 || !isArchive(entry.Name()) {
			continue
		}
		err := unpack(ctx, filepath.Join(l.Path, entry.Name()), missing, func(file File, content io.Reader) error {
			err := save(file, content)
			if err == nil {
				missing = slices.DeleteFunc(slices.Clone(missing), func(f File) bool { return f.Name == file.Name })
			}
			return err
		})
		if _, full := errors.AsType[*diskError](err); full || ctx.Err() != nil {
			return err
		}
		if err != nil && failed == nil { // an archive of something else may be broken; the next one may hold what we want
			failed = fmt.Errorf("%s: %w", entry.Name(), err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return failed
}

// saveOne looks for the file as it is and compressed.
func (l Local) saveOne(file File, save func(File, io.Reader) error) (found bool, err error) {
	for _, name := range []string{file.Name, file.Name + ".gz"} {
		content, err := os.Open(filepath.Join(l.Path, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		defer content.Close()
		if name == file.Name {
			return true, save(file, content)
		}
		return true, saveGzip(content, file, save)
	}
	return false, nil
}
