package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	modulePath    = "example.com/tiny"
	moduleVersion = "v0.1.0"
)

// moduleProxy serves a Go module with the tiny data set, and points the go command at it and at an empty module cache.
func moduleProxy(t *testing.T) GoModule {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	add := func(name string, content []byte) {
		f, err := w.Create(modulePath + "@" + moduleVersion + "/" + name)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("go.mod", []byte("module "+modulePath+"\n"))
	for name, content := range tinyContent() {
		add("data/"+name+".gz", compress(t, content))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{
		".info": `{"Version":"` + moduleVersion + `","Time":"2020-01-01T00:00:00Z"}`,
		".mod":  "module " + modulePath + "\n",
		".zip":  archive.String(),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[strings.TrimPrefix(r.URL.Path, "/"+modulePath+"/@v/"+moduleVersion)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	useProxy(t, server.URL)
	return GoModule{Path: modulePath, Version: moduleVersion, Folder: "data"}
}

func useProxy(t *testing.T, proxy string) {
	t.Helper()
	cache := t.TempDir()
	t.Cleanup(func() { // the go command makes its cache read-only
		filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, 0o755)
			}
			return err
		})
	})
	for name, value := range map[string]string{
		"GOMODCACHE": cache, "GOPROXY": proxy, "GOSUMDB": "off", "GONOPROXY": "none", "GOPRIVATE": "", "GOVCS": "*:off",
	} {
		t.Setenv(name, value)
	}
}

func TestGoModuleServesADataSet(t *testing.T) {
	tests := map[string]func(t *testing.T){
		"in an empty folder": func(t *testing.T) { t.Chdir(t.TempDir()) },
		"with flags that would forbid it": func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GOFLAGS", "-mod=vendor -modfile=nowhere.mod")
			t.Setenv("GO111MODULE", "off")
		},
		"inside a broken module with a temporary folder in it": func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			t.Setenv("TMPDIR", dir)
			t.Setenv("GOWORK", filepath.Join(dir, "go.work"))
			for _, name := range []string{"go.mod", "go.work"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("this is no "+name), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
	for name, standIn := range tests {
		t.Run(name, func(t *testing.T) {
			d := tiny(moduleProxy(t))
			dir := t.TempDir()
			standIn(t)
			if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := d.load(dir); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "hubbub-fetch-*")); os.Getenv("TMPDIR") != "" && len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestWhatAGoModuleCanDoWrong(t *testing.T) {
	module := moduleProxy(t)
	otherVersion, otherFolder := module, module
	otherVersion.Version = "v0.2.0"
	otherFolder.Folder = "nowhere"
	for name, test := range map[string]struct {
		source GoModule
		want   string
	}{
		"a version that is not there": {otherVersion, "404 Not Found"},
		"a folder that is not there":  {otherFolder, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tiny(test.source).get(t.Context(), onDisk(t.TempDir()), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.source.String()) {
				t.Errorf("error %v, want one with %q and the name of the source", err, test.want)
			}
		})
	}
}

func TestGoCommandsThatGiveNoFolder(t *testing.T) {
	tests := map[string]struct{ script, want string }{
		"no go command":          {"", "needs a Go toolchain"},
		"an answer of no folder": {"echo '{}'", "named no folder"},
		"an answer that is none": {"echo hello", "invalid character"},
		"a failure with words":   {"echo 'go: cannot find\n main module' >&2; exit 3", "exit status 3: go: cannot find main module"},
		"a failure in JSON":      {`printf '%s' '{"Error": "proxy\nis down"}'; exit 1`, ": proxy is down"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if test.script != "" {
				if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"+test.script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", bin)
			_, err := tiny(GoModule{Path: modulePath, Version: moduleVersion}).get(t.Context(), onDisk(t.TempDir()), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCancellingStopsTheGoCommand(t *testing.T) {
	bin := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	useProxy(t, server.URL)
	_, err := tiny(GoModule{Path: modulePath, Version: moduleVersion}).get(ctx, onDisk(bin), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestWithoutANetworkBothWaysAreNamed(t *testing.T) {
	useProxy(t, "off")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	dir := t.TempDir()
	module, web := GoModule{Path: modulePath, Version: moduleVersion, Folder: "data"}, Web{Base: closed.URL}
	_, err := tiny(module, web).get(t.Context(), onDisk(dir), nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		"no source gave images, labels", module.String() + ": ", "GOPROXY=off",
		web.String() + ": ", "connection refused", "check the network", "hubbub data fetch tiny --from FOLDER",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not say %q:\n%v", part, err)
		}
	}
}
