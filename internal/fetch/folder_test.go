package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// brokenDisk is a file on a disk that fails at one step.
type brokenDisk struct {
	*os.File
	step string
}

func (b brokenDisk) Write(p []byte) (int, error) {
	if b.step == "write" {
		n, _ := b.File.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return b.File.Write(p)
}

func (b brokenDisk) Sync() error {
	if b.step == "sync" {
		return syscall.ENOSPC
	}
	return b.File.Sync()
}

func (b brokenDisk) Close() error {
	if err := b.File.Close(); err != nil || b.step != "close" {
		return err
	}
	return syscall.ENOSPC
}

func TestAFullDiskLeavesTheFolderAsItWas(t *testing.T) {
	for _, step := range []string{"create", "write", "sync", "close"} {
		t.Run("full at "+step, func(t *testing.T) {
			dir := t.TempDir()
			old := filepath.Join(dir, "images")
			if err := os.WriteFile(old, []byte("old and corrupt"), 0o644); err != nil {
				t.Fatal(err)
			}
			full := folder{path: dir, create: func(dir, pattern string) (tempFile, error) {
				if step == "create" {
					return nil, syscall.ENOSPC
				}
				f, err := os.CreateTemp(dir, pattern)
				return brokenDisk{f, step}, err
			}}
			var asked []string
			d := tiny(memory{content: tinyContent()}, memory{content: tinyContent(), asked: &asked})
			_, err := d.get(t.Context(), full, nil)
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "cannot write "+old) || !strings.Contains(err.Error(), "HUBBUB_DATA") {
				t.Errorf("error %v", err)
			}
			if asked != nil {
				t.Errorf("a second source was asked for %v although the disk is full", asked)
			}
			content, err := os.ReadFile(old)
			if left := listing(t, dir); err != nil || string(content) != "old and corrupt" || !slices.Equal(left, []string{"images"}) {
				t.Errorf("folder holds %v, images is %q, error %v", left, content, err)
			}
		})
	}
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// A path through a file is no "missing file", so get stops at looking; prepare must refuse it as well.
	if _, err := tiny(memory{}).get(t.Context(), onDisk(filepath.Join(file, "tiny")), nil); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("get: error %v, want %v", err, syscall.ENOTDIR)
	}
	if err := onDisk(filepath.Join(file, "tiny")).prepare(); err == nil || !strings.Contains(err.Error(), "HUBBUB_DATA") {
		t.Errorf("prepare: error %v", err)
	}
}

func TestARenameThatFailsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	d := tiny()
	if err := os.MkdirAll(filepath.Join(dir, "images", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := onDisk(dir).save(t.Context(), d.Files[0], strings.NewReader(string(tinyContent()["images"])))
	if _, disk := errors.AsType[*diskError](err); !disk {
		t.Errorf("error %v, want one of the disk", err)
	}
	if left := listing(t, dir); !slices.Equal(left, []string{"images"}) {
		t.Errorf("folder holds %v", left)
	}
}

func TestCancellingStopsAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var asked []string
	d := tiny(memory{content: tinyContent()}, memory{content: tinyContent(), asked: &asked})
	_, err := d.get(ctx, onDisk(dir), nil)
	if !errors.Is(err, context.Canceled) || asked != nil {
		t.Errorf("error %v, want %v; second source asked for %v", err, context.Canceled, asked)
	}
	if left := listing(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOnlyAbandonedPartialFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"images.1.partial": 2 * time.Hour, "images.2.partial": time.Minute, "notes": 2 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := onDisk(dir).prepare(); err != nil {
		t.Fatal(err)
	}
	if left := listing(t, dir); !slices.Equal(left, []string{"images.2.partial", "notes"}) {
		t.Errorf("folder holds %v", left)
	}
}
