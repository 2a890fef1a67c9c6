package safetensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
)

var sample = File{
	Tensors: []Tensor{
		{Name: "a.weight", Shape: []int{2, 3}, Data: []float32{1, -2, 3.5, float32(math.Inf(1)), 0, 1e-40}},
		{Name: "empty", Shape: []int{0, 4}, Data: []float32{}},
		{Name: "scalar \"quoted\"", Shape: []int{}, Data: []float32{7}},
	},
	Metadata: map[string]string{"round": "3"},
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	b, err := sample.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil || !reflect.DeepEqual(got, sample) {
		t.Fatalf("%v: %+v", err, got)
	}
}

// The layout is that of the format's README: eight bytes of length, JSON, numbers.
func TestLayout(t *testing.T) {
	b, err := File{Tensors: []Tensor{{Name: "w", Shape: []int{1}, Data: []float32{1}}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	header := `{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	want := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	want = append(want, 0, 0, 0x80, 0x3f)
	if !bytes.Equal(b, want) {
		t.Errorf("%q, want %q", b, want)
	}
}

func raw(header string, body int) []byte {
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	return append(b, make([]byte, body)...)
}

func TestBrokenFilesAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":                  {},
		"header past the end":    binary.LittleEndian.AppendUint64(nil, 9),
		"huge header":            binary.LittleEndian.AppendUint64(nil, math.MaxUint64),
		"no JSON":                raw("hello", 0),
		"gap":                    raw(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8),
		"cut off":                raw(`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4),
		"something behind":       raw(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 8),
		"overlap":                raw(`{"v":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 8),
		"shape of another size":  raw(`{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,4]}}`, 4),
		"negative side":          raw(`{"w":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, 4),
		"a product past an int":  raw(`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0),
		"another kind of number": raw(`{"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 4),
	} {
		if _, err := Decode(b); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestImpossibleTensorsAreNotWritten(t *testing.T) {
	one := Tensor{Name: "w", Shape: []int{1}, Data: []float32{1}}
	for name, f := range map[string]File{
		"wrong size": {Tensors: []Tensor{{Name: "w", Shape: []int{2}, Data: []float32{1}}}},
		"same name":  {Tensors: []Tensor{one, one}},
		"reserved":   {Tensors: []Tensor{{Name: "__metadata__", Shape: []int{1}, Data: []float32{1}}}},
	} {
		if _, err := f.Encode(); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b, err := sample.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(raw(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Decode(b)
		if err != nil {
			return
		}
		again, err := file.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		second, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		third, err := second.Encode()
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("writing is not stable: %v", err)
		}
	})
}
