package experiment

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Summary is a run as a list shows it.
type Summary struct {
	Run    string  `json:"run"` // the folder's name
	Path   string  `json:"path"`
	State  string  `json:"state"`            // finished, stopped early, or not finished (running, or killed)
	Result *Result `json:"result,omitempty"` // nil while there is none
	begun  int64
}

// List reads all runs below a folder, the oldest first. A folder that does not exist holds none.
func List(root string) ([]Summary, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return []Summary{}, nil
	}
	if err != nil {
		return nil, inputError("list the runs: %w", err)
	}
	runs := []Summary{}
	for _, e := range entries {
		if s, ok := summary(filepath.Join(root, e.Name())); ok {
			runs = append(runs, s)
		}
	}
	slices.SortStableFunc(runs, func(a, b Summary) int { return int(min(1, max(-1, a.begun-b.begun))) })
	return runs, nil
}

// Find reads one run, given by its path or by its name below root.
func Find(root, run string) (Summary, error) {
	for _, path := range []string{run, filepath.Join(root, run)} {
		if s, ok := summary(path); ok {
			return s, nil
		}
	}
	return Summary{}, inputError("there is no run %q, neither as a path nor in %s: hubbub runs list shows those there are", run, root)
}

// Unfinished finds the newest run of this very configuration that can be taken up again.
func Unfinished(root string, c *Config) (Folder, error) {
	runs, err := List(root)
	if err != nil {
		return Folder{}, err
	}
	text, err := c.Text()
	if err != nil {
		return Folder{}, err
	}
	for _, s := range slices.Backward(runs) {
		kept, err := keptText(s.Path, c.Data.SHA256 != "")
		if err == nil && string(kept) == string(text) && s.State != stateFinished {
			return Folder{s.Path}, nil
		}
	}
	return Folder{}, inputError("there is no unfinished run of this configuration of %s in %s: start one without --resume", c.Name, root)
}

// keptText is the configuration of a run as it was written, or, to be compared with one whose data was not read yet, without the
// sha256 of its data.
func keptText(path string, withHash bool) ([]byte, error) {
	kept, err := Load(filepath.Join(path, configFile), nil)
	if err != nil {
		return nil, err
	}
	if !withHash {
		kept.Data.SHA256 = ""
	}
	return kept.Text()
}

const (
	stateFinished = "finished"
	stateStopped  = "stopped early"
	stateOpen     = "not finished"
)

// summary reads a run's folder; one without a configuration is none.
func summary(path string) (Summary, bool) {
	info, err := os.Stat(filepath.Join(path, configFile))
	if err != nil {
		return Summary{}, false
	}
	s := Summary{Run: filepath.Base(strings.TrimRight(path, "/")), Path: path, State: stateOpen, begun: info.ModTime().UnixNano()}
	text, err := os.ReadFile(filepath.Join(path, resultFile))
	if err != nil {
		return s, true
	}
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		s.State = "result.json is broken"
		return s, true
	}
	s.Result, s.State = &r, stateStopped
	if r.Finished {
		s.State = stateFinished
	}
	return s, true
}
