// Package fetch gets data sets from public places, once, and hands them out of a folder on disk.
//
// It promises that a data set it loads is, byte for byte, the one named in its table: the sha256 of every decompressed
// file is checked when it is fetched and again each time it is loaded, so neither a source nor the disk has to be trusted.
// A file appears under its name only when it is complete; an interruption or a full disk leaves the folder as it was.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hubbub/internal/data"
)

var (
	// ErrNotFetched: a file of the data set is not on disk yet.
	ErrNotFetched = errors.New("data set not fetched")
	// ErrCorrupt: a file of the data set is on disk, but it is not what its sha256 says.
	ErrCorrupt = errors.New("data file corrupt")
	// ErrUnknown: no data set has this name.
	ErrUnknown = errors.New("unknown data set")
)

// Dir is the folder that holds the data sets: $HUBBUB_DATA, else hubbub/data in the user's cache folder.
func Dir() (string, error) {
	if dir := os.Getenv("HUBBUB_DATA"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("fetch: no folder for data sets: %w: set HUBBUB_DATA to one", err)
	}
	return filepath.Join(cache, "hubbub", "data"), nil
}

// Get makes sure that the files of the named data set are in dir, in a folder of that name, and returns their paths. What
// is there and right is kept, the rest is fetched from the sources in turn. It tells log, unless nil, what it does.
func Get(ctx context.Context, name, dir string, log func(string)) ([]string, error) {
	set, err := Find(name)
	if err != nil {
		return nil, err
	}
	return set.get(ctx, folder{path: filepath.Join(dir, name), create: createTemp}, log)
}

// GetFrom is [Get] for someone who has the files already: in the folder or the archive from.
func GetFrom(ctx context.Context, name, from, dir string, log func(string)) ([]string, error) {
	set, err := Find(name)
	if err != nil {
		return nil, err
	}
	set.Sources = []Source{Local{Path: from}}
	return set.get(ctx, folder{path: filepath.Join(dir, name), create: createTemp}, log)
}

// Load reads the named data set from dir. The error is [ErrNotFetched] if a file is missing and [ErrCorrupt] if one has
// another sha256 than it should; both are repaired by [Get].
func Load(name, dir string) (train, test *data.Set, err error) {
	set, err := Find(name)
	if err != nil {
		return nil, nil, err
	}
	return set.load(filepath.Join(dir, name))
}

func (d Dataset) load(dir string) (train, test *data.Set, err error) {
	content := make(map[string][]byte, len(d.Files))
	for _, file := range d.Files {
		if content[file.Name], err = d.readVerified(filepath.Join(dir, file.Name), file); err != nil {
			return nil, nil, err
		}
	}
	return d.read(content)
}

// readVerified returns the content of a file, or an error that tells what is wrong with it and how to repair it.
func (d Dataset) readVerified(path string, file File) ([]byte, error) {
	open, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("fetch: %s: %w: %s is missing (expected sha256 %s): run `hubbub data fetch %s`",
			d.Name, ErrNotFetched, path, file.SHA256, d.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch: %s: %w", d.Name, err)
	}
	defer open.Close()

	// One byte more than expected tells a longer file; the rest of it is hashed for the message but not kept.
	hash := sha256.New()
	content := make([]byte, 0, file.Size+1)
	content, err = readUpTo(content, io.TeeReader(open, hash))
	if err == nil {
		_, err = io.Copy(hash, open)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch: %s: %w", d.Name, err)
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found != file.SHA256 {
		return nil, fmt.Errorf("fetch: %s: %w: %s has sha256 %s, expected %s: run `hubbub data fetch %s` to replace it",
			d.Name, ErrCorrupt, path, found, file.SHA256, d.Name)
	}
	return content, nil
}

// readUpTo reads into the capacity of content until it is full or the reader ends.
func readUpTo(content []byte, r io.Reader) ([]byte, error) {
	n, err := io.ReadFull(r, content[:cap(content)])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return content[:n], err
}

func (d Dataset) get(ctx context.Context, folder folder, log func(string)) ([]string, error) {
	if log == nil {
		log = func(string) {}
	}
	var paths []string
	var missing []File
	for _, file := range d.Files {
		path := filepath.Join(folder.path, file.Name)
		paths = append(paths, path)
		_, err := d.readVerified(path, file)
		switch {
		case errors.Is(err, ErrCorrupt):
			log(fmt.Sprintf("%s: %s is corrupt and will be replaced", d.Name, path))
			missing = append(missing, file)
		case errors.Is(err, ErrNotFetched):
			missing = append(missing, file)
		case err != nil:
			return nil, err
		}
	}
	if len(missing) == 0 {
		log(fmt.Sprintf("%s: all %d files are in %s", d.Name, len(paths), folder.path))
		return paths, nil
	}
	if err := folder.prepare(); err != nil {
		return nil, fmt.Errorf("fetch: %s: %w", d.Name, err)
	}

	save := func(file File, content io.Reader) error {
		if err := folder.save(ctx, file, content); err != nil {
			return err
		}
		log(fmt.Sprintf("%s: %s, %d bytes, sha256 is right", d.Name, file.Name, file.Size))
		missing = slices.DeleteFunc(slices.Clone(missing), func(f File) bool { return f.Name == file.Name })
		return nil
	}
	var failures []error
	for _, source := range d.Sources {
		log(fmt.Sprintf("%s: fetching from %s", d.Name, source))
		err := source.Fetch(ctx, missing, save)
		if len(missing) == 0 {
			return paths, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("fetch: %s: stopped before %s was complete: %w", d.Name, names(missing), ctx.Err())
		}
		if _, full := errors.AsType[*diskError](err); full {
			return nil, fmt.Errorf("fetch: %s: %w", d.Name, err) // another source would meet the same disk
		}
		if err == nil {
			err = fmt.Errorf("it does not hold %s", names(missing))
		}
		failures = append(failures, fmt.Errorf("  %s: %w", source, err))
		log(fmt.Sprintf("%s: %s failed: %v", d.Name, source, err))
	}
	return nil, fmt.Errorf("fetch: %s: no source gave %s:\n%w\n%s", d.Name, names(missing), errors.Join(failures...), d.advice())
}

// advice says what to do when no source had the files.
func (d Dataset) advice() string {
	if slices.ContainsFunc(d.Sources, func(s Source) bool { _, local := s.(Local); return local }) {
		return fmt.Sprintf("the folder must hold them as they are, compressed as .gz, or in a .zip, .tar.gz or .tgz archive; "+
			"`hubbub data fetch %s` without --from looks for them elsewhere", d.Name)
	}
	return fmt.Sprintf("check the network (GOPROXY and HTTPS_PROXY name proxies), or get the files in some other way, put them into a folder "+
		"and run `hubbub data fetch %s --from FOLDER`", d.Name)
}

func names(files []File) string {
	var all []string
	for _, file := range files {
		all = append(all, file.Name)
	}
	return strings.Join(all, ", ")
}
