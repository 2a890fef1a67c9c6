package own

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// made reads a file that numpy, pyarrow or pandas has written: testdata/make.py says how.
func made(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// npy writes a version 1 file with the given header and elements.
func npy(header string, elements ...byte) []byte {
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	return append(append(out, header...), elements...)
}

// floats writes an array of float32.
func floats(shape []int, values ...float32) []byte {
	sides := ""
	for _, side := range shape {
		sides += fmt.Sprintf("%d,", side)
	}
	var elements []byte
	for _, v := range values {
		elements = binary.LittleEndian.AppendUint32(elements, math.Float32bits(v))
	}
	return npy("{'descr': '<f4', 'fortran_order': False, 'shape': ("+sides+"), }\n", elements...)
}

func TestWhatNumPyWroteIsRead(t *testing.T) {
	names := strings.Fields("b1 u1 i1 u2 i2 u4 i4 big-i4 u8 i8 f4 big-f4 f8 big-f8 version1 version2 version3")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			a, err := readNPY(name, bytes.NewReader(made(t, name+".npy")))
			if err != nil {
				t.Fatal(err)
			}
			want := []float32{0, 1, 2, 3, 4, 5}
			if name == "b1" {
				want = []float32{0, 1, 1, 1, 1, 1}
			}
			if !slices.Equal(a.shape, []int{2, 3}) || !slices.Equal(a.values, want) || a.bytes != (name == "u1") {
				t.Errorf("shape %v, values %v, bytes %v", a.shape, a.values, a.bytes)
			}
		})
	}
	a, err := readNPY("negative", bytes.NewReader(made(t, "negative.npy")))
	if err != nil || !slices.Equal(a.values, []float32{-1, -128, 127}) {
		t.Errorf("negative numbers: %v, error %v", a, err)
	}
}

func TestReadNPYRefuses(t *testing.T) {
	good := "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
	four := []byte{0, 0, 0, 0}
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"an empty file":              {nil, "does not begin like a .npy file"},
		"another kind of file":       {[]byte("PK\x03\x04 and so on"), "does not begin like a .npy file"},
		"a version to come":          {append([]byte(npyMagic), 9, 0, 0, 0), "version 9 of the format, want 1, 2 or 3"},
		"no length":                  {append([]byte(npyMagic), 2, 0, 0), "offset 8: the file is cut short in its header"},
		"a header cut short":         {npy(good)[:30], "offset 10: the file is cut short in its header of 57 bytes"},
		"a header without end":       {append([]byte(npyMagic), 2, 0, 0, 0, 0, 1), "a header of 16777216 bytes"},
		"elements cut short":         {npy(good, 1, 2, 3), "0 of 1 values of shape [1]: the file is cut short"},
		"a byte too many":            {npy(good, 1, 2, 3, 4, 5), "bytes left over after the 1 values"},
		"a claim above the limit":    {npy(strings.Replace(good, "1,", "99999999, 99", 1), four...), "more than the 1073741824 values"},
		"a claim that overflows":     {npy(strings.Replace(good, "1,", "4611686018427387904,", 1), four...), `"4611686018427387904" is no size`},
		"a product that overflows":   {npy(strings.Replace(good, "1,", "1073741824, 1073741824, 1073741824", 1), four...), "more than the 1073741824 values"},
		"a lying claim":              {npy(strings.Replace(good, "1,", "1073741824,", 1), four...), "1 of 1073741824 values"},
		"no record":                  {npy(strings.Replace(good, "1,", "0, 3", 1)), "shape [0 3]: each side must be from 1"},
		"a negative side":            {npy(strings.Replace(good, "1,", "-1,", 1), four...), `"-1" is no size`},
		"a header that is no dict":   {npy("hello"), `"hello" is no dictionary`},
		"an unknown key":             {npy("{'x': 1}"), `unknown key "x"`},
		"a key twice":                {npy("{'shape': (1,), 'shape': (1,)}"), "want a key at"},
		"a missing key":              {npy("{'shape': (1,)}"), "descr, fortran_order and shape are needed"},
		"a shape that is no tuple":   {npy("{'shape': 3}"), "want a tuple"},
		"an order that is no truth":  {npy("{'fortran_order': 1}"), "want True or False"},
		"no colon":                   {npy("{'shape' (1,)}"), `want a colon after "shape"`},
		"no comma":                   {npy("{'shape': (1,) 'descr': '<f4'}"), "want a comma at"},
		"half precision":             {npy("{'descr': '<f2'}"), "save x.astype(np.float32)"},
		"what NumPy calls Fortran":   {made(t, "fortran.npy"), "save np.ascontiguousarray(x)"},
		"what NumPy calls complex":   {made(t, "complex.npy"), `elements are "<c8"`},
		"what NumPy calls text":      {made(t, "text.npy"), `elements are "<U1"`},
		"what NumPy calls records":   {made(t, "records.npy"), "no records"},
		"what NumPy calls 0 dim":     {made(t, "single.npy"), "shape () is a single number"},
		"a dtype with a wrong order": {npy("{'descr': '?f4'}"), `elements are "?f4"`},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := readNPY("x.npy", bytes.NewReader(test.file))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "x.npy") || a != nil {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestArraysBecomeRecords(t *testing.T) {
	six := []float32{0, 1, 2, 3, 4, 5}
	labels := func() *array { return &array{file: "y", shape: []int{2}, values: []float32{0, 1}} }
	twelve := []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for name, test := range map[string]struct {
		x          *array
		given      bool
		shape      []int
		values     []float32
		asPictures bool
	}{
		"a number each":                  {&array{shape: []int{2}, values: six[:2]}, false, []int{1}, six[:2], false},
		"a row each":                     {&array{shape: []int{2, 3}, values: six}, false, []int{3}, six, false},
		"a row of bytes is no picture":   {&array{shape: []int{2, 3}, values: six, bytes: true}, false, []int{3}, six, false},
		"grey pictures":                  {&array{shape: []int{2, 1, 3}, values: six}, false, []int{1, 1, 3}, six, false},
		"grey pictures of bytes":         {&array{shape: []int{2, 1, 3}, values: six, bytes: true}, false, []int{1, 1, 3}, six, true},
		"colours first":                  {&array{shape: []int{2, 3, 1, 2}, values: twelve}, false, []int{3, 1, 2}, twelve, false},
		"colours last":                   {&array{shape: []int{2, 2, 1, 3}, values: twelve}, false, []int{3, 2, 1}, []float32{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}, false},
		"one channel last":               {&array{shape: []int{2, 2, 3, 1}, values: twelve}, false, []int{1, 2, 3}, twelve, false},
		"ambiguous, but the user tells":  {&array{shape: []int{2, 3, 2, 1}, values: twelve}, true, []int{3, 2, 1}, twelve, false},
		"no channels, but the user says": {&array{shape: []int{2, 2, 3, 1}, values: twelve}, true, []int{2, 3, 1}, twelve, false},
	} {
		t.Run(name, func(t *testing.T) {
			test.x.values = slices.Clone(test.x.values)
			r, err := test.x.records(labels(), test.given)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.shape, test.shape) || !slices.Equal(r.features, test.values) || r.pictures != test.asPictures {
				t.Errorf("shape %v, values %v, pictures %v", r.shape, r.features, r.pictures)
			}
		})
	}
}

func TestArraysThatAreNoRecords(t *testing.T) {
	y := func(shape []int, values ...float32) *array { return &array{file: "y", shape: shape, values: values} }
	for name, test := range map[string]struct {
		x, y *array
		want string
	}{
		"more records than labels":  {y([]int{3}, 1, 2, 3), y([]int{2}, 0, 1), "3 records but y has 2 labels"},
		"labels one-hot":            {y([]int{2}, 1, 2), y([]int{2, 2}, 0, 1, 1, 0), "y has shape [2 2], want one label for each record"},
		"a label above 255":         {y([]int{2}, 1, 2), y([]int{2}, 0, 256), "the label of record 1 is 256"},
		"a label below 0":           {y([]int{2}, 1, 2), y([]int{2}, -1, 0), "the label of record 0 is -1"},
		"a label and a half":        {y([]int{2}, 1, 2), y([]int{2}, 0, 1.5), "the label of record 1 is 1.5"},
		"a label that is no number": {y([]int{2}, 1, 2), y([]int{2}, 0, float32(math.NaN())), "the label of record 1 is NaN"},
		"channels on both sides":    {y([]int{1, 3, 1, 3}, make([]float32, 9)...), y([]int{1}, 0), "cannot be told which side is the channels"},
		"channels on no side":       {y([]int{1, 2, 2, 2}, make([]float32, 8)...), y([]int{1}, 0), "cannot be told which side is the channels"},
		"films":                     {y([]int{1, 1, 1, 1, 1}, 0), y([]int{1}, 0), "records of 4 dimensions"},
	} {
		if _, err := test.x.records(test.y, false); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
	column := y([]int{2, 1}, 0, 1)
	if r, err := y([]int{2}, 1, 2).records(column, false); err != nil || !slices.Equal(r.labels, []uint8{0, 1}) {
		t.Errorf("labels in a column: error %v", err)
	}
}

func FuzzReadNPY(f *testing.F) {
	for _, name := range strings.Fields("f4 f8 big-i4 u1 version2 version3 fortran records single") {
		f.Add(made(f, name+".npy"))
	}
	f.Add(floats([]int{1, 2}, 0.5, 1))
	f.Add(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824,), }", 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := readNPY("fuzz", bytes.NewReader(file))
		if err != nil {
			return
		}
		again, err := readNPY("again", bytes.NewReader(floats(a.shape, a.values...)))
		if err != nil {
			t.Fatal(err)
		}
		same := func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y }
		if !slices.Equal(again.shape, a.shape) || !slices.EqualFunc(again.values, a.values, same) {
			t.Errorf("%v %v came back as %v %v", a.shape, a.values, again.shape, again.values)
		}
	})
}

func FuzzReadNPZ(f *testing.F) {
	f.Add(made(f, "packed.npz"))
	f.Add(made(f, "stored.npz"))
	f.Add(made(f, "packed.npz")[:200])
	f.Fuzz(func(t *testing.T, file []byte) {
		x, y, err := readNPZ("fuzz", bytes.NewReader(file), int64(len(file)), [2]string{"x", "y"})
		if err != nil {
			return
		}
		if r, err := x.records(y, false); err == nil && len(r.features) != r.len()*r.dim() {
			t.Errorf("%d features for %d records of %d", len(r.features), r.len(), r.dim())
		}
	})
}
