package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// encodeIDX writes an idx file; it is the plain inverse of what readIDX promises.
func encodeIDX(magic uint32, sides []uint32, elements []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, magic)
	for _, side := range sides {
		out = binary.BigEndian.AppendUint32(out, side)
	}
	return append(out, elements...)
}

var (
	twoImages = encodeIDX(imagesMagic, []uint32{2, 1, 3}, []byte{0, 51, 255, 1, 2, 3})
	twoLabels = encodeIDX(labelsMagic, []uint32{2}, []byte{9, 0})
)

func TestReadIDXGivesRecordsInOrder(t *testing.T) {
	set, err := ReadIDX("tiny", 10, bytes.NewReader(twoImages), iotest.OneByteReader(bytes.NewReader(twoLabels)))
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "tiny" || set.Classes != 10 || !slices.Equal(set.Shape, []int{1, 1, 3}) || set.Len() != 2 || set.Dim() != 3 {
		t.Fatalf("got %q, %d classes, shape %v, %d records of %d", set.Name, set.Classes, set.Shape, set.Len(), set.Dim())
	}
	first, label := set.Record(0)
	if !slices.Equal(first, []float32{0, 0.2, 1}) || label != 9 {
		t.Errorf("record 0 is %v with label %d, want [0 0.2 1] with label 9", first, label)
	}
	second, label := set.Record(1)
	if !slices.Equal(second, []float32{1.0 / 255, 2.0 / 255, 3.0 / 255}) || label != 0 {
		t.Errorf("record 1 is %v with label %d, want [1 2 3]/255 with label 0", second, label)
	}
}

func TestReadIDXRefuses(t *testing.T) {
	image := func(sides []uint32, n int) []byte { return encodeIDX(imagesMagic, sides, make([]byte, n)) }
	tests := map[string]struct {
		images, labels []byte
		classes        int
		want           string
	}{
		"an empty file of images":                {nil, twoLabels, 10, "0 of 16 bytes of header"},
		"a header that is cut short":             {twoImages[:15], twoLabels, 10, "15 of 16 bytes of header"},
		"labels in place of images":              {twoLabels, twoLabels, 10, "magic number 0x00000801, want 0x00000803"},
		"images in place of labels":              {twoImages, twoImages, 10, "magic number 0x00000803, want 0x00000801"},
		"a file that is still compressed":        {[]byte{0x1f, 0x8b, 8, 0}, twoLabels, 10, "decompress it first"},
		"elements that are cut short":            {twoImages[:21], twoLabels, 10, "5 of 6 bytes of elements"},
		"a byte too many":                        {append(slices.Clone(twoImages), 0), twoLabels, 10, "left over after the 6"},
		"a label too many":                       {twoImages, append(slices.Clone(twoLabels), 0), 10, "left over after the 2"},
		"no record":                              {image([]uint32{0, 1, 3}, 0), twoLabels, 10, "dimension 1 is 0"},
		"pictures without rows":                  {image([]uint32{2, 0, 3}, 0), twoLabels, 10, "dimension 2 is 0"},
		"a picture wider than the limit":         {image([]uint32{2, 1, 4097}, 0), twoLabels, 10, "dimension 3 is 4097"},
		"a claim above the limit":                {image([]uint32{1 << 31, 28, 28}, 0), twoLabels, 10, "1683627180032 elements"},
		"a claim whose product overflows":        {image([]uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, 0), twoLabels, 10, "at most 4096"},
		"a lying claim within the limit":         {image([]uint32{1 << 18, 64, 64}, 9), twoLabels, 10, "9 of 1073741824 bytes"},
		"more images than labels":                {image([]uint32{3, 1, 3}, 9), twoLabels, 10, "3 images but 2 labels"},
		"a label of no class":                    {twoImages, twoLabels, 9, "label 9 of record 0 of tiny outside [0, 8]"},
		"a set without classes":                  {twoImages, twoLabels, 0, "0 classes outside [1, 256]"},
		"more classes than a label can tell":     {twoImages, twoLabels, 257, "257 classes outside [1, 256]"},
		"a label file of nothing but its header": {twoImages, twoLabels[:8], 10, "0 of 2 bytes of elements"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := ReadIDX("tiny", test.classes, bytes.NewReader(test.images), bytes.NewReader(test.labels))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if set != nil {
				t.Error("a set came with the error")
			}
		})
	}
}

func TestReadIDXPassesOnWhatTheReaderSays(t *testing.T) {
	broken := errors.New("cable pulled")
	for _, at := range []int{0, 2, 10, 18} {
		images := io.MultiReader(bytes.NewReader(twoImages[:at]), iotest.ErrReader(broken))
		if _, err := ReadIDX("tiny", 10, images, bytes.NewReader(twoLabels)); !errors.Is(err, broken) {
			t.Errorf("reader failed after %d bytes: error %v, want %v", at, err, broken)
		}
	}
}

// A file of the size of MNIST's training set; the aim is well under a second.
func BenchmarkReadIDX(b *testing.B) {
	const records, side = 60_000, 28
	images := encodeIDX(imagesMagic, []uint32{records, side, side}, bytes.Repeat([]byte{7}, records*side*side))
	labels := encodeIDX(labelsMagic, []uint32{records}, make([]byte, records))
	b.SetBytes(int64(len(images) + len(labels)))
	for b.Loop() {
		set, err := ReadIDX("mnist-sized", 10, bytes.NewReader(images), bytes.NewReader(labels))
		if err != nil || len(set.Features) != records*side*side {
			b.Fatal(err)
		}
	}
}

func FuzzReadIDX(f *testing.F) {
	f.Add(twoImages, twoLabels)
	f.Add(twoImages[:20], twoLabels)
	f.Add(twoLabels, twoImages)
	f.Add(encodeIDX(imagesMagic, []uint32{1 << 31, 28, 28}, nil), twoLabels)
	f.Add(encodeIDX(imagesMagic, []uint32{1, 1, 1}, []byte{200}), encodeIDX(labelsMagic, []uint32{1}, []byte{3}))
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		set, err := ReadIDX("fuzz", 10, bytes.NewReader(images), bytes.NewReader(labels))
		if err != nil {
			return
		}
		pixels := make([]byte, len(set.Features))
		for i, v := range set.Features {
			pixels[i] = toByte(v)
		}
		n := uint32(set.Len())
		again := encodeIDX(imagesMagic, []uint32{n, uint32(set.Shape[1]), uint32(set.Shape[2])}, pixels)
		if !bytes.Equal(again, images) {
			t.Errorf("images encode back to %x, read from %x", again, images)
		}
		if again := encodeIDX(labelsMagic, []uint32{n}, set.Labels); !bytes.Equal(again, labels) {
			t.Errorf("labels encode back to %x, read from %x", again, labels)
		}
	})
}
