package experiment

import (
	"os"
	"path/filepath"

	"hubbub/internal/data"
	"hubbub/internal/fetch"
	"hubbub/internal/own"
	"hubbub/noise"
)

// LoadData reads the data set that a configuration names. For files of the user's own it writes their sha256 into the
// configuration, or compares it with the one that stands there.
func LoadData(c *Config) (train, test *data.Set, err error) {
	if c.Data.Name == own.Name {
		return loadOwn(c)
	}
	if _, err := fetch.Find(c.Data.Name); err != nil {
		return nil, nil, c.refuse("data.name", "is no data set that is known: %v, or own", err)
	}
	dir, err := fetch.Dir()
	if err != nil {
		return nil, nil, inputError("%w", err)
	}
	train, test, err = fetch.Load(c.Data.Name, dir)
	if err != nil {
		return nil, nil, inputError("%w", err)
	}
	return train, test, nil
}

func (d Data) ownOptions() own.Options {
	return own.Options{Label: d.Label, Classes: d.Classes, Scale: d.Scale, Shape: d.Shape, TestFraction: d.TestFraction}
}

func loadOwn(c *Config) (train, test *data.Set, err error) {
	train, test, err = LoadOwn(c.Data.From, c.Data.ownOptions())
	if err != nil {
		return nil, nil, c.refuse("data.from", "cannot be read: %v", err)
	}
	found := own.Fingerprint(train, test)
	if c.Data.SHA256 != "" && c.Data.SHA256 != found {
		return nil, nil, c.refuse("data.sha256", "is not that of %s, which has %s: the files were changed; take sha256 out to use them as they are", c.Data.From, found)
	}
	c.Data.SHA256 = found
	return train, test, nil
}

// LoadOwn reads files of the user's own, from a folder or one file. Which records a test fraction holds back depends on no seed: runs
// with several seeds have the same public records.
func LoadOwn(from string, o own.Options) (train, test *data.Set, err error) {
	o.Split = noise.Seeded(0).Derive("test fraction").Stream()
	info, err := os.Stat(from)
	if err != nil {
		return nil, nil, inputError("%w", err)
	}
	file := ""
	if !info.IsDir() {
		from, file = filepath.Split(from)
		from = filepath.Clean(from)
	}
	if train, test, err = own.Load(os.DirFS(from), file, o); err != nil {
		return nil, nil, inputError("%w", err)
	}
	return train, test, nil
}
