package fetch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hubbub/internal/data"
)

// Dataset describes a data set that can be fetched.
type Dataset struct {
	Name    string // as written in an experiment file
	About   string // one line
	Licence string
	Cite    string
	Shape   []int // of one record
	Classes int
	Train   int // records to train on
	Test    int // records held back to measure accuracy
	Files   []File
	Sources []Source // tried in this order

	// read makes the sets from the verified content of the files, by name.
	read func(content map[string][]byte) (train, test *data.Set, err error)
}

// File is one file of a data set, decompressed. The size is checked before the hash so that nobody can fill the disk.
type File struct {
	Name   string
	Size   int64
	SHA256 string // lower-case hexadecimal
}

// Find returns the data set of the given name, or [ErrUnknown].
func Find(name string) (Dataset, error) {
	var known []string
	for _, set := range List() {
		if set.Name == name {
			return set, nil
		}
		known = append(known, set.Name)
	}
	return Dataset{}, fmt.Errorf("fetch: %w %q: choose one of: %s", ErrUnknown, name, strings.Join(known, ", "))
}

// Fetched says whether all files are in dir with the right size. It reads none of them: [Load] checks their sha256.
func (d Dataset) Fetched(dir string) bool {
	for _, file := range d.Files {
		info, err := os.Stat(filepath.Join(dir, d.Name, file.Name))
		if err != nil || !info.Mode().IsRegular() || info.Size() != file.Size {
			return false
		}
	}
	return true
}
