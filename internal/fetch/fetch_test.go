package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubbub/internal/data"
)

// tinyContent is a data set of two pictures of one dot, as idx files.
func tinyContent() map[string][]byte {
	return map[string][]byte{
		"images": {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 255},
		"labels": {0, 0, 8, 1, 0, 0, 0, 2, 1, 0},
	}
}

func tiny(sources ...Source) Dataset {
	d := Dataset{Name: "tiny", Classes: 2, Sources: sources}
	for _, name := range []string{"images", "labels"} {
		content := tinyContent()[name]
		sum := sha256.Sum256(content)
		d.Files = append(d.Files, File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])})
	}
	d.read = func(content map[string][]byte) (train, test *data.Set, err error) {
		train, err = data.ReadIDX("tiny", 2, bytes.NewReader(content["images"]), bytes.NewReader(content["labels"]))
		return train, train, err
	}
	return d
}

// memory is a source that hands out what it holds and then fails with err.
type memory struct {
	content map[string][]byte
	err     error
	asked   *[]string
}

func (memory) String() string { return "memory" }

func (m memory) Fetch(_ context.Context, files []File, save func(File, io.Reader) error) error {
	for _, file := range files {
		if m.asked != nil {
			*m.asked = append(*m.asked, file.Name)
		}
		if content, ok := m.content[file.Name]; ok {
			if err := save(file, bytes.NewReader(content)); err != nil {
				return err
			}
		}
	}
	return m.err
}

func compress(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func onDisk(path string) folder { return folder{path: path, create: createTemp} }

func TestWhatWasFetchedLoads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	var log []string
	d := tiny(memory{content: tinyContent()})
	paths, err := d.get(t.Context(), onDisk(dir), func(line string) { log = append(log, line) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(dir, "images"), filepath.Join(dir, "labels")}; !slices.Equal(paths, want) {
		t.Errorf("paths %v, want %v", paths, want)
	}
	if got := listing(t, dir); !slices.Equal(got, []string{"images", "labels"}) {
		t.Errorf("folder holds %v", got)
	}
	train, _, err := d.load(dir)
	if err != nil || train.Len() != 2 || !slices.Equal(train.Features, []float32{0, 1}) {
		t.Errorf("loaded %+v, error %v", train, err)
	}
	if all := strings.Join(log, "\n"); !strings.Contains(all, "fetching from memory") || !strings.Contains(all, "images, 18 bytes") {
		t.Errorf("log was:\n%s", all)
	}
	if info, err := os.Stat(paths[0]); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("file mode %v, error %v, want one that others can read", info.Mode(), err)
	}
}

func TestGetAsksOnlyForWhatIsMissingOrCorrupt(t *testing.T) {
	tests := map[string]struct {
		before map[string]string
		want   []string
	}{
		"nothing there":            {nil, []string{"images", "labels"}},
		"one file is right":        {map[string]string{"images": string(tinyContent()["images"])}, []string{"labels"}},
		"one file is corrupt":      {map[string]string{"images": "?", "labels": string(tinyContent()["labels"])}, []string{"images"}},
		"everything is there":      {map[string]string{"images": string(tinyContent()["images"]), "labels": string(tinyContent()["labels"])}, nil},
		"a file with a byte extra": {map[string]string{"images": string(tinyContent()["images"]) + "x"}, []string{"images", "labels"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range test.before {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var asked []string
			d := tiny(memory{content: tinyContent(), asked: &asked})
			if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(asked, test.want) {
				t.Errorf("asked for %v, want %v", asked, test.want)
			}
			if _, _, err := d.load(dir); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheNextSourceIsAskedForTheRest(t *testing.T) {
	dir := t.TempDir()
	var asked []string
	half := memory{content: map[string][]byte{"images": tinyContent()["images"]}, err: errors.New("gone away")}
	d := tiny(half, memory{content: tinyContent(), asked: &asked})
	if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []string{"labels"}) {
		t.Errorf("second source was asked for %v, want only labels", asked)
	}
}

func TestASourceWithWrongContentIsRefused(t *testing.T) {
	right := tinyContent()["images"]
	wrong := slices.Clone(right)
	wrong[17] ^= 1
	tests := map[string]struct {
		content []byte
		want    string
	}{
		"a flipped bit":     {wrong, "sha256 " + hexSum(wrong) + ", expected " + hexSum(right)},
		"a byte too few":    {right[:17], "17 bytes, expected 18"},
		"a byte too many":   {append(slices.Clone(right), 0), "more than the 18 bytes allowed"},
		"nothing":           {[]byte{}, "0 bytes, expected 18"},
		"ten million bytes": {make([]byte, 10_000_000), "more than the 18 bytes allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := tiny(memory{content: map[string][]byte{"images": test.content}})
			_, err := d.get(t.Context(), onDisk(dir), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if left := listing(t, dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func hexSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func TestASourceThatHoldsNothingIsNamed(t *testing.T) {
	_, err := tiny(memory{}).get(t.Context(), onDisk(t.TempDir()), nil)
	if err == nil || !strings.Contains(err.Error(), "memory: it does not hold images, labels") {
		t.Errorf("error %v", err)
	}
}

func TestLoadTellsWhatIsWrongWithAFile(t *testing.T) {
	d := tiny()
	right := tinyContent()
	tests := map[string]struct {
		images []byte // nil: no file
		is     error
		want   []string
	}{
		"a missing file": {nil, ErrNotFetched, []string{"images is missing", d.Files[0].SHA256, "hubbub data fetch tiny"}},
		"an empty file":  {[]byte{}, ErrCorrupt, []string{"images has sha256 " + hexSum(nil), d.Files[0].SHA256, "hubbub data fetch tiny"}},
		"a flipped bit":  {append(slices.Clone(right["images"][:17]), 3), ErrCorrupt, []string{hexSum(append(slices.Clone(right["images"][:17]), 3))}},
		"a longer file":  {append(slices.Clone(right["images"]), "more and more"...), ErrCorrupt, []string{hexSum(append(slices.Clone(right["images"]), "more and more"...))}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.images != nil {
				if err := os.WriteFile(filepath.Join(dir, "images"), test.images, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			train, _, err := d.load(dir)
			if !errors.Is(err, test.is) || train != nil {
				t.Fatalf("error %v, want %v", err, test.is)
			}
			for _, part := range append(test.want, filepath.Join(dir, "images")) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
	t.Run("a folder in place of a file is neither", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "images"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, _, loadErr := d.load(dir)
		_, getErr := d.get(t.Context(), onDisk(dir), nil)
		for _, err := range []error{loadErr, getErr} {
			if err == nil || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotFetched) || !strings.Contains(err.Error(), "is a directory") {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestAnUnknownNameIsRefusedWithTheKnownOnes(t *testing.T) {
	_, getErr := Get(t.Context(), "mnits", t.TempDir(), nil)
	_, _, loadErr := Load("mnits", t.TempDir())
	for _, err := range []error{getErr, loadErr} {
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `"mnits": choose one of: adult, cifar10, emnist-digits, fashion-mnist, mnist`) {
			t.Errorf("error %v", err)
		}
	}
}

func TestDirIsTheVariableOrTheCache(t *testing.T) {
	t.Setenv("HUBBUB_DATA", "/some/where")
	if dir, err := Dir(); err != nil || dir != "/some/where" {
		t.Errorf("with HUBBUB_DATA: %q, %v", dir, err)
	}
	t.Setenv("HUBBUB_DATA", "")
	t.Setenv("HOME", "/home/somebody")
	t.Setenv("XDG_CACHE_HOME", "")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if dir, err := Dir(); err != nil || dir != filepath.Join(cache, "hubbub", "data") {
		t.Errorf("without: %q, %v", dir, err)
	}
	t.Setenv("HOME", "")
	if _, err := Dir(); err == nil || !strings.Contains(err.Error(), "set HUBBUB_DATA") {
		t.Errorf("without a home: %v", err)
	}
}

func TestFetchedLooksAtNamesAndSizes(t *testing.T) {
	d, dir := tiny(memory{content: tinyContent()}), t.TempDir()
	if d.Fetched(dir) {
		t.Error("fetched before anything was")
	}
	if _, err := d.get(t.Context(), onDisk(filepath.Join(dir, "tiny")), nil); err != nil {
		t.Fatal(err)
	}
	if !d.Fetched(dir) {
		t.Error("not fetched afterwards")
	}
	if err := os.Truncate(filepath.Join(dir, "tiny", "labels"), 3); err != nil {
		t.Fatal(err)
	}
	if d.Fetched(dir) {
		t.Error("fetched with a file cut short")
	}
}

// The real thing: from a module proxy or cache, or else the web. $HUBBUB_DATA keeps it between runs.
func TestMNISTIsFetchedAndIsMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: MNIST may have to come over the network")
	}
	dir := os.Getenv("HUBBUB_DATA")
	if dir == "" {
		dir = t.TempDir()
	}
	if _, err := Get(t.Context(), "mnist", dir, func(line string) { t.Log(line) }); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	train, test, err := Load("mnist", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("loaded in %v", time.Since(start))
	entry, err := Find("mnist")
	if err != nil || !entry.Fetched(dir) {
		t.Errorf("the table says that MNIST is not fetched; error %v", err)
	}
	// source: counts of the digits as published with the data set and in many papers.
	for _, want := range []struct {
		set     *data.Set
		records int
		counts  []int
	}{
		{train, entry.Train, []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}},
		{test, entry.Test, []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}},
	} {
		all, err := data.Records(want.set.Len())
		if err != nil {
			t.Fatal(err)
		}
		if got := want.set.Histogram(slices.Concat(all...)); want.set.Len() != want.records || !slices.Equal(got, want.counts) {
			t.Errorf("%d records with labels %v, want %d with %v", want.set.Len(), got, want.records, want.counts)
		}
		if !slices.Equal(want.set.Shape, entry.Shape) || want.set.Classes != entry.Classes {
			t.Errorf("shape %v and %d classes, the table says %v and %d", want.set.Shape, want.set.Classes, entry.Shape, entry.Classes)
		}
	}
	if !slices.Equal(train.Labels[:10], []uint8{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}) {
		t.Errorf("the training set begins with %v", train.Labels[:10])
	}
	// The mean brightness 0.1307 is the constant that MNIST code everywhere normalises with.
	sum := 0.0
	for _, v := range train.Features {
		sum += float64(v)
	}
	if mean := sum / float64(len(train.Features)); mean < 0.13065 || mean > 0.13075 {
		t.Errorf("mean brightness %.5f, want 0.1307", mean)
	}
}

func TestTheTableIsComplete(t *testing.T) {
	for _, d := range List() {
		if d.Name == "" || d.About == "" || d.Licence == "" || d.Cite == "" || d.Classes < 2 || d.Train < 1 || d.Test < 1 ||
			len(d.Shape) == 0 || len(d.Files) == 0 || len(d.Sources) == 0 || d.read == nil {
			t.Errorf("entry %+v has an empty field", d)
		}
		for _, file := range d.Files {
			if sum, err := hex.DecodeString(file.SHA256); err != nil || len(sum) != sha256.Size ||
				strings.ToLower(file.SHA256) != file.SHA256 || file.Size < 1 || file.Name != filepath.Base(file.Name) {
				t.Errorf("%s: file %+v", d.Name, file)
			}
		}
	}
}

func TestAFolderOfAPackageIsASource(t *testing.T) {
	dir := t.TempDir()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	w.Write([]byte("hello"))
	w.Close()
	if err := os.WriteFile(filepath.Join(dir, "a.gz"), compressed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got := ""
	save := func(_ File, r io.Reader) error {
		text, err := io.ReadAll(r)
		got += string(text)
		return err
	}
	source := Folder{Path: dir, From: "package of greetings"}
	if err := source.Fetch(context.Background(), []File{{Name: "a", Size: 5}}, save); err != nil || got != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	err := source.Fetch(context.Background(), []File{{Name: "b", Size: 5}}, save)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "install the package of greetings") {
		t.Errorf("a missing file: %v", err)
	}
}
