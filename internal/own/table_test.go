package own

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestReadCSVTakesTheLabelByNameOrLast(t *testing.T) {
	const file = "\ufeffage, kind ,\"rich, or not\"\n1,2,0\n -3.5 ,4e-1,1\r\n"
	for label, want := range map[string]struct {
		columns  []string
		features []float32
		labels   []uint8
	}{
		"":             {[]string{"age", "kind"}, []float32{1, 2, -3.5, 0.4}, []uint8{0, 1}},
		"rich, or not": {[]string{"age", "kind"}, []float32{1, 2, -3.5, 0.4}, []uint8{0, 1}},
	} {
		r, err := readCSV("train.csv", strings.NewReader(file), label)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.columns, want.columns) || !slices.Equal(r.features, want.features) || !slices.Equal(r.labels, want.labels) || !slices.Equal(r.shape, []int{2}) {
			t.Errorf("label %q: columns %v, features %v, labels %v, shape %v", label, r.columns, r.features, r.labels, r.shape)
		}
	}
	r, err := readCSV("train.csv", strings.NewReader("y,a,b\n1,5,6\n0,7,8\n"), "y")
	if err != nil || !slices.Equal(r.columns, []string{"a", "b"}) || !slices.Equal(r.features, []float32{5, 6, 7, 8}) || !slices.Equal(r.labels, []uint8{1, 0}) {
		t.Errorf("label first: %+v, error %v", r, err)
	}
}

func TestReadCSVRefuses(t *testing.T) {
	for name, test := range map[string]struct{ file, label, want string }{
		"an empty file":                     {"", "", "train.csv is empty"},
		"nothing but a header":              {"a,b\n", "", "train.csv holds no record"},
		"numbers in place of names":         {"1,2\n3,4\n", "", "line 1 holds numbers, want the names of the columns"},
		"a column without a name":           {",a,b\n0,1,2\n", "", "column 1 has no name: give it one, or leave the column out (pandas: index=False)"},
		"two columns of one name":           {"a,a,b\n", "", `two columns are called "a"`},
		"a label that is not there":         {"a,b\n1,2\n", "c", `no column is called "c", as label says: there are a, b`},
		"columns told apart by other means": {"a;b;label\n1;2;0\n", "label", "columns are told apart by commas"},
		"an index of pandas":                {"a,label,__index_level_0__\n1,2,3\n", "", "save with index=False"},
		"a single column":                   {"a\n1\n", "", "one column is not enough"},
		"a category":                        {"a,b\n1,0\nred,1\n", "", `line 3, column "a": "red" is no number: replace categories`},
		"a missing value":                   {"a,b\n1,0\n\"\",1\n", "", `line 3, column "a": nothing stands there`},
		"a number too large":                {"a,b\n1e40,1\n", "", `line 2, column "a": "1e40" is too large`},
		"a line with a value extra":         {"a,b\n1,0,7\n", "", "record on line 2: wrong number of fields"},
		"a quote that does not end":         {"a,b\n\"1,0\n", "", `extraneous or missing " in quoted-field`},
		"a label that is no class":          {"a,b\n1,0\n2,1.5\n", "", "the label of record 1 is 1.5"},
		"a very long text":                  {"a,b\n" + strings.Repeat("x", 1000) + ",1\n", "", `"xxxxxxxxxxxxxxxxxxxx" is no number`},
		"a label column of no class":        {"a,b\n1,300\n", "", "labels must be whole numbers from 0 to 255"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readCSV("train.csv", strings.NewReader(test.file), test.label)
			if err == nil || !strings.Contains(err.Error(), test.want) || r != nil {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestRangesAreRead(t *testing.T) {
	ranges, err := parseRanges(strings.NewReader("column,low,high\nage, 0, 120\n\"a,b\",-1,1e3\n"))
	if err != nil || len(ranges) != 2 || ranges["age"] != (bounds{0, 120}) || ranges["a,b"] != (bounds{-1, 1000}) {
		t.Errorf("ranges %v, error %v", ranges, err)
	}
	for name, test := range map[string]struct{ file, want string }{
		"another header":      {"name,low,high\n", `line 1 is "name,low,high", want column,low,high`},
		"a range upside down": {"column,low,high\na,2,1\n", `line 2: from "2" to "1" is no range`},
		"an endless range":    {"column,low,high\na,0,inf\n", "is no range"},
		"words":               {"column,low,high\na,zero,one\n", "is no range"},
		"a column twice":      {"column,low,high\na,0,1\na,0,1\n", `line 3: column "a" has a range already`},
		"too few fields":      {"column,low,high\na,0\n", "wrong number of fields"},
	} {
		if _, err := parseRanges(strings.NewReader(test.file)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("a,b,c\n1,2,0\n0.5,1e-3,1\n", "")
	f.Add("a,\"b\nc\",d\n1,2,0\n", "a")
	f.Add("\ufeffa,b\nnan,1\n", "")
	f.Fuzz(func(t *testing.T, file, label string) {
		r, err := readCSV("fuzz", strings.NewReader(file), label)
		if err != nil {
			return
		}
		// What was read, written down again with the label last, reads the same.
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		w.Write(append(slices.Clone(r.columns), "a label like no other"))
		for i := range r.len() {
			var row []string
			for _, v := range r.features[i*r.dim() : (i+1)*r.dim()] {
				row = append(row, strconv.FormatFloat(float64(v), 'g', -1, 32))
			}
			w.Write(append(row, fmt.Sprint(r.labels[i])))
		}
		w.Flush()
		again, err := readCSV("again", &out, "")
		if err != nil {
			t.Fatalf("%v", err)
		}
		same := func(x, y float32) bool { return x == y || math.IsNaN(float64(x)) && math.IsNaN(float64(y)) }
		if !slices.EqualFunc(r.features, again.features, same) || !slices.Equal(r.labels, again.labels) || !slices.Equal(r.columns, again.columns) {
			t.Errorf("%+v came back as %+v", r, again)
		}
	})
}

func FuzzParseRanges(f *testing.F) {
	f.Add("column,low,high\na,0,1\n")
	f.Add("column,low,high\na,-inf,nan\n")
	f.Fuzz(func(t *testing.T, file string) {
		ranges, err := parseRanges(strings.NewReader(file))
		if err != nil {
			return
		}
		for name, b := range ranges {
			if !(b.low < b.high) || math.IsInf(b.high-b.low, 0) {
				t.Errorf("column %q has range %v", name, b)
			}
		}
	})
}

// A table as wide as MNIST; the aim is that reading costs less than a round of training on it.
func BenchmarkReadCSV(b *testing.B) {
	var file bytes.Buffer
	for c := range 784 {
		fmt.Fprintf(&file, "p%d,", c)
	}
	file.WriteString("label\n")
	for i := range 1000 {
		for c := range 784 {
			fmt.Fprintf(&file, "%d,", (i*c)%256)
		}
		fmt.Fprintf(&file, "%d\n", i%10)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		r, err := readCSV("bench", bytes.NewReader(file.Bytes()), "")
		if err == nil {
			err = r.scale([]float64{0, 255}, nil)
		}
		if err != nil || r.len() != 1000 {
			b.Fatal(err)
		}
	}
}
