package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hubbub/ledger"
)

// The files of a run.
const (
	configFile     = "config.yaml"
	metricsFile    = "metrics.jsonl"
	resultFile     = "result.json"
	ledgerFile     = "ledger"
	modelFile      = "model.safetensors"
	reportFile     = "report.html"
	checkpointFile = "checkpoint.safetensors"
)

// Folder is where a run keeps what came of it. Whole files are replaced in one step, lines are appended and flushed: whenever the
// process dies, what is there can be read.
type Folder struct{ Path string }

// NewFolder makes the next free folder runs/NAME-1, -2, ... below root.
func NewFolder(root, name string) (Folder, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return Folder{}, inputError("make the folder for runs: %w", err)
	}
	for n := lastNumber(root, name) + 1; ; n++ {
		path := filepath.Join(root, fmt.Sprintf("%s-%d", name, n))
		err := os.Mkdir(path, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue // another process was faster
		}
		if err != nil {
			return Folder{}, inputError("make the run's folder: %w", err)
		}
		return Folder{path}, nil
	}
}

// MakeFolder makes exactly this folder; one that exists is refused, so that no run is overwritten.
func MakeFolder(path string) (Folder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Folder{}, inputError("make the folder for runs: %w", err)
	}
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return Folder{}, inputError("%s exists already: no run is overwritten; choose another --out, or take the run up again with: hubbub run %s --resume", path, path)
	}
	if err != nil {
		return Folder{}, inputError("make the run's folder: %w", err)
	}
	return Folder{path}, nil
}

func lastNumber(root, name string) int {
	last := 0
	entries, err := os.ReadDir(root)
	if err != nil {
		return 0 // Mkdir will say what is wrong
	}
	for _, e := range entries {
		if tail, ok := strings.CutPrefix(e.Name(), name+"-"); ok {
			if n, err := strconv.Atoi(tail); err == nil {
				last = max(last, n)
			}
		}
	}
	return last
}

func (d Folder) file(name string) string { return filepath.Join(d.Path, name) }

// write replaces a file whole, or leaves it as it was.
func (d Folder) write(name string, content []byte) (err error) {
	temporary, err := os.CreateTemp(d.Path, "."+name+"-*")
	if err != nil {
		return inputError("write %s: %w", d.file(name), err)
	}
	defer func() {
		if err != nil {
			temporary.Close()
			os.Remove(temporary.Name())
			err = inputError("write %s: %w", d.file(name), err)
		}
	}()
	if _, err = temporary.Write(content); err != nil {
		return err
	}
	if err = temporary.Chmod(0o644); err != nil {
		return err
	}
	if err = temporary.Sync(); err != nil {
		return err
	}
	if err = temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), d.file(name))
}

func (d Folder) writeJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return d.write(name, append(text, '\n'))
}

// books is the run's ledger on disk. A round that is run again after a crash writes the same entries: those that are kept
// already are compared, not written twice.
type books struct {
	file   *os.File
	chain  *ledger.Ledger
	kept   []ledger.Entry // beyond the chain's end: written before the crash
	broken error
}

func openBooks(d Folder, identity string, upTo int) (*books, error) {
	path := d.file(ledgerFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, inputError("open the ledger: %w", err)
	}
	if err := lock(file); err != nil {
		file.Close()
		return nil, inputError("another process is running %s: %w", d.Path, err)
	}
	entries, torn, err := ledger.Read(file)
	if err == nil {
		// Check the whole chain, then take up only what the checkpoint knew of.
		_, err = ledger.New(identity, entries)
	}
	if err == nil && upTo > len(entries) {
		err = fmt.Errorf("ledger: %d entries, the checkpoint was made after %d: entries are missing", len(entries), upTo)
	}
	if err != nil {
		file.Close()
		return nil, inputError("%s: %w; nothing is trained on a ledger that cannot be trusted: restore it from a copy, or start a new run", path, err)
	}
	if torn > 0 { // the last write was cut off, before anything that it was to pay for left
		end, err := file.Seek(0, 2)
		if err == nil {
			err = file.Truncate(end - int64(torn))
		}
		if err == nil {
			_, err = file.Seek(0, 2)
		}
		if err != nil {
			file.Close()
			return nil, inputError("mend the last line of %s: %w", path, err)
		}
	}
	chain, err := ledger.New(identity, entries[:upTo])
	if err != nil {
		file.Close()
		return nil, err
	}
	return &books{file: file, chain: chain, kept: entries[upTo:]}, nil
}

// keep makes entries durable, in order. Reservations alone are written but not flushed: in a simulation no model leaves this process
// with them, and the charge that comes before a release flushes both.
func (b *books) keep(entries []ledger.Entry) error {
	if b.broken != nil {
		return b.broken
	}
	var lines []byte
	for _, e := range entries {
		sealed, err := b.chain.Append(e)
		if err != nil {
			return err
		}
		if len(b.kept) > 0 {
			if b.kept[0].Hash != sealed.Hash {
				return inputError("%s: round %d costs something else than what the ledger holds for it: the run was changed", b.file.Name(), e.Round)
			}
			b.kept = b.kept[1:]
			continue
		}
		line, err := sealed.Line()
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := b.file.Write(lines)
	if onlyReserves := !slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.Kind != ledger.Reserve }); err == nil && !onlyReserves {
		err = b.file.Sync()
	}
	if err != nil { // what a failed flush left on disk is unknown: never go on as if it had succeeded
		b.broken = inputError("write %s: %w", b.file.Name(), err)
	}
	return b.broken
}

func (b *books) close() error { return b.file.Close() }

// readMetrics returns the lines up to a round and cuts the file off behind them.
func (d Folder) readMetrics(upTo int) ([]Metrics, error) {
	path := d.file(metricsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, inputError("read the metrics: %w", err)
	}
	var kept []Metrics
	length := 0
	for line := range bytes.Lines(text) {
		var m Metrics
		if err := json.Unmarshal(line, &m); err != nil || m.Round > upTo {
			break // a torn line, or rounds that are run again
		}
		kept = append(kept, m)
		length += len(line)
	}
	if len(kept) != upTo {
		return nil, inputError("%s holds %d of %d rounds: the file was changed; start a new run", path, len(kept), upTo)
	}
	return kept, os.Truncate(path, int64(length))
}
