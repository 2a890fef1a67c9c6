package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// keptLeaks is an audit of sums in its file.
type keptLeaks struct {
	Config  string      `json:"config_hash"`
	Options LeakOptions `json:"options"`
	Seconds float64     `json:"seconds"`
	Leaks   []Leak      `json:"leaks"`
}

// Leak returns what is kept of an audit of sums, or makes it: see [Federation.Leak]. It also says how long the audit took, whenever it
// was made.
func (s *Store) Leak(ctx context.Context, c *Config, o LeakOptions, progress func(LeakProgress)) ([]Leak, time.Duration, error) {
	o, err := o.filled()
	if err != nil {
		return nil, 0, err
	}
	hash, err := c.Hash()
	if err != nil {
		return nil, 0, err
	}
	options, err := json.Marshal(o)
	if err != nil {
		return nil, 0, fmt.Errorf("experiment: internal error: %w", err)
	}
	sum := sha256.Sum256(append([]byte(hash), options...))
	file := filepath.Join(s.Root, fmt.Sprintf("leak-%s-%s.json", c.Name, hex.EncodeToString(sum[:6])))
	var kept keptLeaks
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &kept) == nil && kept.Config == hash && len(kept.Leaks) > 0 {
		return kept.Leaks, seconds(kept.Seconds), nil
	}
	f, err := s.Prepare(c)
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	leaks, err := f.Leak(ctx, o, progress)
	if err != nil {
		return nil, 0, err
	}
	kept = keptLeaks{hash, o, time.Since(began).Seconds(), leaks}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil, 0, fmt.Errorf("experiment: internal error: %w", err)
	}
	// Under another name first: a file that was cut off by an interruption would be read as nothing, but need not be there.
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return nil, 0, inputError("keep the audit: %w", err)
	}
	return leaks, seconds(kept.Seconds), os.Rename(file+".new", file)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
