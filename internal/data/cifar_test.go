package data

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// cifarBytes is a record whose value number i is seed+i, modulo 256.
func cifarBytes(label, seed byte) []byte {
	record := []byte{label}
	for i := range cifarPixels {
		record = append(record, seed+byte(i))
	}
	return record
}

func TestCIFARBatchesFollowOneAnother(t *testing.T) {
	first := append(cifarBytes(3, 0), cifarBytes(9, 51)...)
	set, err := ReadCIFAR10("cifar10", iotest.HalfReader(bytes.NewReader(first)), bytes.NewReader(nil), bytes.NewReader(cifarBytes(0, 255)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Labels, []uint8{3, 9, 0}) || !slices.Equal(set.Shape, []int{3, 32, 32}) || set.Classes != 10 || len(set.Features) != 3*3072 {
		t.Fatalf("labels %v, shape %v, %d features", set.Labels, set.Shape, len(set.Features))
	}
	for i, want := range []float32{0, 0.2, 1} {
		if features, _ := set.Record(i); features[0] != want {
			t.Errorf("record %d begins with %g, want %g", i, features[0], want)
		}
	}
	// Green begins behind the 1,024 red values, and 1,024 is 0 modulo 256.
	if features, _ := set.Record(1); features[1024] != 0.2 || features[1025] != 52.0/255 {
		t.Errorf("green begins with %g, %g", features[1024], features[1025])
	}
}

func TestReadCIFARRefuses(t *testing.T) {
	broken := errors.New("cable pulled")
	for name, test := range map[string]struct {
		batch io.Reader
		want  string
	}{
		"an empty file":                {bytes.NewReader(nil), "holds no record"},
		"a record that is cut short":   {bytes.NewReader(append(cifarBytes(1, 1), 1, 2, 3)), "batch 1 of cifar10: record 1: 3 of 3073 bytes of record"},
		"a label of no class":          {bytes.NewReader(cifarBytes(10, 0)), "label 10 of record 0 outside [0, 9]"},
		"what the reader itself tells": {io.MultiReader(bytes.NewReader([]byte{1}), iotest.ErrReader(broken)), "cable pulled"},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := ReadCIFAR10("cifar10", test.batch)
			if err == nil || !strings.Contains(err.Error(), test.want) || set != nil {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func FuzzReadCIFAR10(f *testing.F) {
	f.Add(cifarBytes(1, 2))
	f.Add(append(cifarBytes(1, 2), cifarBytes(9, 7)...))
	f.Add(cifarBytes(200, 0)[:3000])
	f.Fuzz(func(t *testing.T, file []byte) {
		set, err := ReadCIFAR10("fuzz", bytes.NewReader(file))
		if err != nil {
			return
		}
		var again []byte
		for i := range set.Len() {
			features, label := set.Record(i)
			again = append(again, byte(label))
			for _, v := range features {
				again = append(again, toByte(v))
			}
		}
		if !bytes.Equal(again, file) {
			t.Error("the set encodes back to other bytes than it was read from")
		}
	})
}
