package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hubbub/internal/data"
)

// Store keeps runs by the hash of their configuration: what was run once is not run again, and what was interrupted is taken up.
type Store struct {
	Root string
	sets map[string][2]*data.Set // those that were read, by name
}

// Folder is where the run of a configuration is kept.
func (s *Store) Folder(c *Config) (Folder, error) {
	hash, err := c.Hash()
	if err != nil {
		return Folder{}, err
	}
	return Folder{filepath.Join(s.Root, c.Name+"-"+hash[:12])}, nil
}

// Kept returns the result of a configuration that was run to its end, or to where its training diverged.
func (s *Store) Kept(c *Config) (Result, bool) {
	folder, err := s.Folder(c)
	if err != nil {
		return Result{}, false
	}
	kept, ok := summary(folder.Path)
	if !ok || kept.Result == nil || !(kept.Result.Finished || kept.Result.Diverged) {
		return Result{}, false
	}
	return *kept.Result, true
}

// Run returns what is kept of a configuration, or runs it. begin is told the federation before it trains, progress each
// round; either may be nil. A training that diverged is a result as well: it says so.
func (s *Store) Run(ctx context.Context, c *Config, version string, begin func(*Federation, Folder), progress func(Progress)) (Result, error) {
	if kept, ok := s.Kept(c); ok {
		return kept, nil
	}
	folder, err := s.Folder(c)
	if err != nil {
		return Result{}, err
	}
	f, err := s.Prepare(c)
	if err != nil {
		return Result{}, err
	}
	if begin != nil {
		begin(f, folder)
	}
	start := f.Resume
	if _, err := os.Stat(folder.file(checkpointFile)); err != nil { // a run that died before its first checkpoint has nothing to keep
		if err := os.RemoveAll(folder.Path); err != nil {
			return Result{}, inputError("remove a run that never began: %w", err)
		}
		if _, err := MakeFolder(folder.Path); err != nil {
			return Result{}, err
		}
		start = f.Start
	}
	result, err := start(ctx, folder, version, progress)
	if err != nil && result.Diverged && !errors.Is(err, context.Canceled) {
		return result, nil
	}
	return result, err
}

// Prepare reads the data of a configuration and prepares its federation.
func (s *Store) Prepare(c *Config) (*Federation, error) {
	train, test, err := s.data(c)
	if err != nil {
		return nil, err
	}
	return Prepare(c, train, test)
}

// data reads a data set, once.
func (s *Store) data(c *Config) (train, test *data.Set, err error) {
	key := fmt.Sprintf("%+v", c.Data)
	if both, ok := s.sets[key]; ok {
		return both[0], both[1], nil
	}
	if train, test, err = LoadData(c); err != nil {
		return nil, nil, err
	}
	// One is enough: sweeps seldom change the data, and a data set is large.
	s.sets = map[string][2]*data.Set{key: {train, test}}
	return train, test, nil
}

// Metrics are the rounds of a run that is kept.
func (s *Store) Metrics(c *Config) ([]Metrics, error) {
	folder, err := s.Folder(c)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(folder.file(metricsFile))
	if err != nil {
		return nil, inputError("read the metrics: %w", err)
	}
	defer file.Close()
	var lines []Metrics
	for decoder := json.NewDecoder(file); ; {
		var m Metrics
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return lines, nil
		} else if err != nil {
			return nil, inputError("%s: %w", file.Name(), err)
		}
		lines = append(lines, m)
	}
}
