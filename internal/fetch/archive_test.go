package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func zipOf(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range members {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarOf(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, content := range members {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return compress(t, out.Bytes())
}

// tinyArchives holds the tiny data set packed in every way that is understood.
func tinyArchives(t testing.TB) map[string][]byte {
	images, labels := tinyContent()["images"], tinyContent()["labels"]
	return map[string][]byte{
		"plain.zip":  zipOf(t, map[string][]byte{"images": images, "labels": labels, "read.me": []byte("hello")}),
		"nested.zip": zipOf(t, map[string][]byte{"gzip/images.gz": compress(t, images), "gzip/labels.gz": compress(t, labels)}),
		"a.tar.gz":   tarOf(t, map[string][]byte{"a/images": images, "a/b/labels": labels, "a/c/other": {1, 2}}),
		"mixed.tgz":  tarOf(t, map[string][]byte{"images.gz": compress(t, images), "../labels": labels}),
	}
}

func TestArchivesOnTheWebServeADataSet(t *testing.T) {
	archives := tinyArchives(t)
	web := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(archives[filepath.Base(r.URL.Path)]) })
	for name := range archives {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			dir := t.TempDir()
			d := tiny(WebArchive{Address: web.Base + "/" + name, Size: 10_000, Client: web.Client})
			if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := d.load(dir); err != nil {
				t.Error(err)
			}
			if left := listing(t, temp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestWhatAnArchiveCanDoWrong(t *testing.T) {
	images := tinyContent()["images"]
	other := slices.Clone(images)
	other[17] ^= 0x80
	whole := tinyArchives(t)
	tests := map[string]struct {
		name string
		body []byte
		want string
	}{
		"a zip without the files":           {"a.zip", zipOf(t, map[string][]byte{"other": nil}), "it does not hold images, labels"},
		"a tar without the files":           {"a.tgz", tarOf(t, map[string][]byte{"other": nil}), "it does not hold images, labels"},
		"a zip with another content":        {"a.zip", zipOf(t, map[string][]byte{"images": other}), "expected " + hexSum(images)},
		"a tar with another content":        {"a.tgz", tarOf(t, map[string][]byte{"images": other}), "expected " + hexSum(images)},
		"a page in place of a zip":          {"a.zip", []byte("<html>please log in</html>"), "not a valid zip file"},
		"a page in place of a tar":          {"a.tgz", []byte("<html>please log in</html>"), "invalid header"},
		"a zip that is cut short":           {"a.zip", whole["plain.zip"][:100], "not a valid zip file"},
		"a tar that is cut short":           {"a.tgz", whole["a.tar.gz"][:60], "unexpected EOF"},
		"a member that means very much":     {"a.zip", zipOf(t, map[string][]byte{"images": make([]byte, 9<<20)}), "more than the 18 bytes allowed"},
		"a member in a member, means much":  {"a.zip", zipOf(t, map[string][]byte{"images.gz": compress(t, make([]byte, 9<<20))}), "more than the 18 bytes allowed"},
		"an archive larger than is allowed": {"a.zip", make([]byte, 20_001), "more than the 20000 bytes allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, temp := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temp)
			web := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(test.body) })
			_, err := tiny(WebArchive{Address: web.Base + "/" + test.name, Size: 20_000, Client: web.Client}).get(t.Context(), onDisk(dir), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if left := append(listing(t, dir), listing(t, temp)...); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAUsersOwnCopyIsASource(t *testing.T) {
	images, labels := tinyContent()["images"], tinyContent()["labels"]
	archives := tinyArchives(t)
	tests := map[string]struct {
		files map[string][]byte
		from  string
	}{
		"files as they are":            {map[string][]byte{"images": images, "labels": labels}, "."},
		"one of them compressed":       {map[string][]byte{"images": images, "labels.gz": compress(t, labels)}, "."},
		"one of them in an archive":    {map[string][]byte{"images": images, "some.zip": zipOf(t, map[string][]byte{"x/labels": labels})}, "."},
		"one in each of two archives":  {map[string][]byte{"1.zip": zipOf(t, map[string][]byte{"images": images}), "2.tgz": tarOf(t, map[string][]byte{"labels": labels})}, "."},
		"a broken archive before it":   {map[string][]byte{"0.zip": []byte("?"), "1.zip": archives["plain.zip"]}, "."},
		"the archive itself, a zip":    {archives, "plain.zip"},
		"the archive itself, a tar.gz": {archives, "a.tar.gz"},
		"an archive in an archive":     {archives, "nested.zip"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			from, dir := t.TempDir(), t.TempDir()
			for file, content := range test.files {
				if err := os.WriteFile(filepath.Join(from, file), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			d := tiny(Local{Path: filepath.Join(from, test.from)})
			if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := d.load(dir); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACopyThatCannotBeUsedIsNamed(t *testing.T) {
	dir := t.TempDir()
	broken := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "file.txt"), filepath.Join(broken, "my.zip")} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct{ from, want string }{
		"a folder without the files": {dir, dir + ": it does not hold images, labels\nthe folder must hold them as they are"},
		"a broken archive":           {broken, "my.zip: zip: not a valid zip file"},
		"a file that is no archive":  {filepath.Join(dir, "file.txt"), "neither a folder nor a .zip"},
		"a folder that is not there": {filepath.Join(dir, "nowhere"), "no such file"},
	} {
		if _, err := tiny(Local{Path: test.from}).get(t.Context(), onDisk(t.TempDir()), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
}

func TestCancellingStopsUnpacking(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, content := range tinyArchives(t) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := tiny(Local{Path: path}).get(ctx, onDisk(t.TempDir()), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The real thing, for those who have it: HUBBUB_TEST_ADULT names a folder or archive, or the set was fetched before.
func TestAdultIsAdult(t *testing.T) {
	dir := t.TempDir()
	if from := os.Getenv("HUBBUB_TEST_ADULT"); from != "" {
		if _, err := GetFrom(t.Context(), "adult", from, dir, nil); err != nil {
			t.Fatal(err)
		}
	} else if cache, err := Dir(); err == nil && adult().Fetched(cache) {
		dir = cache
	} else {
		t.Skip("HUBBUB_TEST_ADULT names no copy of Adult and none was fetched")
	}
	train, test, err := Load("adult", dir)
	if err != nil {
		t.Fatal(err)
	}
	positive := func(labels []uint8) (n int) {
		for _, label := range labels {
			n += int(label)
		}
		return n
	}
	// source: adult.names counts 30,162 and 15,060 complete records, of which 24.78% earn more: 7,508 and 3,700.
	if train.Len() != 30_162 || positive(train.Labels) != 7_508 || test.Len() != 15_060 || positive(test.Labels) != 3_700 {
		t.Errorf("%d records with %d positive, test %d with %d", train.Len(), positive(train.Labels), test.Len(), positive(test.Labels))
	}
	// Each record has 8 categories; 4 of the numbers can be 1 besides.
	for i := range train.Len() {
		features, _ := train.Record(i)
		ones := 0
		for _, v := range features {
			if v == 1 {
				ones++
			}
			if !(v >= 0 && v <= 1) {
				t.Fatalf("record %d holds %g", i, v)
			}
		}
		if ones < 8 || ones > 12 {
			t.Fatalf("record %d has %d ones", i, ones)
		}
	}
}

func TestEMNISTIsReadTheRightWayRound(t *testing.T) {
	d := emnistDigits()
	content := map[string][]byte{}
	for i, file := range d.Files {
		content[file.Name] = [][]byte{
			{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 51, 102, 255}, {0, 0, 8, 1, 0, 0, 0, 1, 7},
			{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 255, 0}, {0, 0, 8, 1, 0, 0, 0, 1, 3},
		}[i]
	}
	train, test, err := d.read(content)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Features, []float32{0, 0.4, 0.2, 1}) || !slices.Equal(test.Features, []float32{0, 1, 0, 0}) || train.Labels[0] != 7 || test.Labels[0] != 3 {
		t.Errorf("train %v %v, test %v %v", train.Features, train.Labels, test.Features, test.Labels)
	}
}
