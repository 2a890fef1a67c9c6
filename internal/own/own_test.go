package own

import (
	"bytes"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"hubbub/internal/data"
)

func folder(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, content := range files {
		all[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return all
}

func gz(t *testing.T, content string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const (
	trainCSV = "a,b,label\n0,1,0\n0.25,0.5,1\n1,0,2\n"
	testCSV  = "a,b,label\n0.5,0.5,1\n"
	idxLabel = "\x00\x00\x08\x01\x00\x00\x00\x02\x01\x00"
	idxImage = "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01\x00\xff"
)

func TestEveryLayoutIsFound(t *testing.T) {
	x, y := string(floats([]int{2, 2}, 0, 1, 0.5, 0.25)), string(floats([]int{2}, 0, 1))
	stored, packed := string(made(t, "stored.npz")), string(made(t, "packed.npz"))
	table := string(made(t, "snappy.parquet"))
	for name, test := range map[string]struct {
		files   map[string]string
		file    string
		o       Options
		train   int
		test    int
		classes int
		shape   []int
	}{
		"CSV":                    {map[string]string{"train.csv": trainCSV, "test.csv": testCSV, "notes.txt": "?"}, "", Options{}, 3, 1, 3, []int{2}},
		"CSV, compressed":        {map[string]string{"train.csv.gz": gz(t, trainCSV), "test.csv": testCSV}, "", Options{}, 3, 1, 3, []int{2}},
		"Parquet":                {map[string]string{"train.parquet": table, "test.parquet": table}, "", Options{}, 3, 3, 3, []int{5}},
		"npy":                    {map[string]string{"x_train.npy": x, "y_train.npy": y, "x_test.npy": x, "y_test.npy": y}, "", Options{}, 2, 2, 2, []int{2}},
		"npy by another name":    {map[string]string{"train-images.npy": x, "train-labels.npy": y, "test-features.npy": x, "test-labels.npy": y}, "", Options{}, 2, 2, 2, []int{2}},
		"npz":                    {map[string]string{"mine.npz": stored}, "", Options{}, 4, 2, 3, []int{3}},
		"npz in two":             {map[string]string{"train.npz": packed, "test.npz": packed}, "", Options{}, 4, 4, 3, []int{3}},
		"idx":                    {map[string]string{"train-images-idx3-ubyte": idxImage, "train-labels-idx1-ubyte": idxLabel, "test-images-idx3-ubyte": idxImage, "test-labels-idx1-ubyte": idxLabel}, "", Options{}, 2, 2, 2, []int{1, 1, 1}},
		"idx as MNIST names it":  {map[string]string{"train-images-idx3-ubyte.gz": gz(t, idxImage), "train-labels-idx1-ubyte.gz": gz(t, idxLabel), "t10k-images-idx3-ubyte": idxImage, "t10k-labels-idx1-ubyte": idxLabel}, "", Options{}, 2, 2, 2, []int{1, 1, 1}},
		"a file among others":    {map[string]string{"train.csv": trainCSV, "this.npz": stored, "that.npz": packed}, "this.npz", Options{}, 4, 2, 3, []int{3}},
		"a CSV to be split":      {map[string]string{"all.csv": trainCSV}, "all.csv", Options{TestFraction: 0.34}, 2, 1, 3, []int{2}},
		"a Parquet to be split":  {map[string]string{"all.parquet": table}, "all.parquet", Options{TestFraction: 0.34}, 2, 1, 3, []int{5}},
		"an npz to be split":     {map[string]string{"all.npz": packed}, "all.npz", Options{TestFraction: 0.25}, 3, 1, 3, []int{3}},
		"more classes than seen": {map[string]string{"train.csv": trainCSV, "test.csv": testCSV}, "", Options{Classes: 7}, 3, 1, 7, []int{2}},
		"another shape":          {map[string]string{"train.csv": trainCSV, "test.csv": testCSV}, "", Options{Shape: []int{1, 2, 1}}, 3, 1, 3, []int{1, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Split = rand.NewPCG(1, 2)
			train, held, err := Load(folder(test.files), test.file, test.o)
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range []struct {
				*data.Set
				records int
			}{{train, test.train}, {held, test.test}} {
				if set.Len() != set.records || set.Classes != test.classes || !slices.Equal(set.Shape, test.shape) || len(set.Features) != set.Len()*set.Dim() {
					t.Errorf("%d records of shape %v, %d classes; want %d of %v, %d", set.Len(), set.Shape, set.Classes, set.records, test.shape, test.classes)
				}
			}
		})
	}
}

func TestValuesAreScaledByWhatWasStated(t *testing.T) {
	files := map[string]string{"train.csv": "age,flag,label\n-5,1,0\n30,0,1\n200,1,1\n", "test.csv": "age,flag,label\n60,0,0\n", "ranges.csv": "column,low,high\nage,0,120\n"}
	train, test, err := Load(folder(files), "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{0, 1, 0.25, 0, 1, 1}; !slices.Equal(train.Features, want) || test.Features[0] != 0.5 {
		t.Errorf("features %v, want %v; test %v", train.Features, want, test.Features)
	}
	delete(files, "ranges.csv")
	if train, _, err = Load(folder(files), "", Options{Scale: []float64{-200, 200}}); err != nil || !slices.Equal(train.Features, []float32{0.4875, 0.5025, 0.575, 0.5, 1, 0.5025}) {
		t.Errorf("features %v, error %v", train.Features, err)
	}
	picture := string(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 2), }", 0, 51, 255, 102))
	y := string(floats([]int{2}, 0, 1))
	files = map[string]string{"x_train.npy": picture, "y_train.npy": y, "x_test.npy": picture, "y_test.npy": y}
	if train, _, err = Load(folder(files), "", Options{}); err != nil || !slices.Equal(train.Features, []float32{0, 0.2, 1, 0.4}) {
		t.Errorf("features of bytes %v, error %v", train.Features, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	x, y := string(floats([]int{2, 2}, 0, 1, 0.5, 0.25)), string(floats([]int{2}, 0, 1))
	with := func(name, content string) map[string]string {
		files := map[string]string{"train.csv": trainCSV, "test.csv": testCSV}
		files[name] = content
		return files
	}
	only := func(name, content string) map[string]string { return map[string]string{name: content} }
	for name, test := range map[string]struct {
		files map[string]string
		file  string
		o     Options
		want  string
	}{
		"an empty folder":             {nil, "", Options{}, "the folder holds nothing: want train.csv and test.csv"},
		"files of no known kind":      {only("a.xls", ""), "", Options{}, "the folder holds a.xls: want"},
		"features without labels":     {only("x_train.npy", x), "", Options{}, "the folder holds x_train.npy: want"},
		"two training sets":           {with("train.parquet", ""), "", Options{}, "several training sets: train.csv, train.parquet"},
		"two test sets":               {with("test.csv.gz", ""), "", Options{}, "several test sets: test.csv and test.csv.gz"},
		"no test set":                 {only("train.csv", trainCSV), "", Options{}, "set test_fraction: 0.1 to hold back a tenth"},
		"a test set and a fraction":   {with("", ""), "", Options{TestFraction: 0.5}, "leave test_fraction out"},
		"a fraction of nothing":       {only("train.csv", trainCSV), "", Options{TestFraction: 0.01}, "leaves nothing to test on"},
		"a fraction of everything":    {only("train.csv", trainCSV), "", Options{TestFraction: 0.99}, "or nothing to train on"},
		"a fraction above one":        {only("train.csv", trainCSV), "", Options{TestFraction: 2}, "test_fraction 2 outside (0, 1)"},
		"a file that is not there":    {nil, "gone.csv", Options{TestFraction: 0.5}, "gone.csv"},
		"a file of no known kind":     {only("a.xls", ""), "a.xls", Options{}, "a.xls is neither .csv, .parquet nor .npz"},
		"an npz of other arrays":      {only("a.npz", string(made(t, "text.npy"))), "", Options{}, "not a valid zip file"},
		"other columns":               {with("test.csv", "b,a,label\n1,0,1\n"), "", Options{}, `feature 1 is "b" in test.csv but "a" in train.csv`},
		"more columns":                {with("test.csv", "a,b,c,label\n1,0,1,1\n"), "", Options{}, "test.csv has records of shape [3], train.csv of shape [2]"},
		"values that need a scale":    {with("train.csv", "a,b,label\n0.5,0,0\n17,1,1\n-2,0,1\n"), "", Options{}, `column "a" holds values from -2 to 17, but they must lie in [0, 1]: state the range`},
		"values that are none":        {with("test.csv", "a,b,label\n0,nan,1\n"), "", Options{Scale: []float64{0, 1}}, `test.csv: column "b" of record 0 is NaN`},
		"values without end":          {with("test.csv", "a,b,label\n0,-inf,1\n"), "", Options{}, `column "b" of record 0 is -Inf`},
		"a range of no column":        {with("ranges.csv", "column,low,high\nc,0,1\n"), "", Options{}, `ranges.csv names column "c", which train.csv does not have`},
		"broken ranges":               {with("ranges.csv", "a,0,1\n"), "", Options{}, "want column,low,high"},
		"a scale upside down":         {with("", ""), "", Options{Scale: []float64{1, 0}}, "scale [1, 0]: the first must be below the second"},
		"a scale without end":         {with("", ""), "", Options{Scale: []float64{0, math.Inf(1)}}, "both finite"},
		"a scale too wide":            {with("", ""), "", Options{Scale: []float64{-math.MaxFloat64, math.MaxFloat64}}, "both finite"},
		"a scale of one number":       {with("", ""), "", Options{Scale: []float64{1}}, "scale has 1 numbers"},
		"a shape of two numbers":      {with("", ""), "", Options{Shape: []int{2, 1}}, "shape [2 1]: want [features] or [channels, height, width]"},
		"a shape of another size":     {with("", ""), "", Options{Shape: []int{3}}, "train.csv has 2 values in a record (shape [2]), shape [3] needs 3"},
		"a shape with a side of zero": {with("", ""), "", Options{Shape: []int{0}}, "each side must be from 1"},
		"a label beyond the classes":  {with("", ""), "", Options{Classes: 2}, "train.csv: label 2 of record 2 outside [0, 1]: classes is 2"},
		"a single class":              {with("", ""), "", Options{Classes: 1}, "classes 1 outside [2, 256]"},
		"nothing to tell apart":       {only("train.csv", "a,b\n0,0\n1,0\n"), "", Options{TestFraction: 0.5}, "every label is 0"},
		"a label column in arrays":    {map[string]string{"x_train.npy": x, "y_train.npy": y, "x_test.npy": x, "y_test.npy": y}, "", Options{Label: "z"}, `label "z" names a column, but x_train.npy has none`},
		"a scale for bytes": {map[string]string{"train-images-idx3-ubyte": idxImage, "train-labels-idx1-ubyte": idxLabel}, "",
			Options{Scale: []float64{0, 1}, TestFraction: 0.5}, "leave scale out"},
		"a compressed file that is none": {only("all.csv.gz", trainCSV), "all.csv.gz", Options{TestFraction: 0.5}, "all.csv.gz: gzip: invalid header"},
	} {
		t.Run(name, func(t *testing.T) {
			delete(test.files, "")
			test.o.Split = rand.NewPCG(1, 2)
			train, held, err := Load(folder(test.files), test.file, test.o)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "own: ") || train != nil || held != nil {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestASplitKeepsEveryRecordOnce(t *testing.T) {
	all := &data.Set{Shape: []int{1}, Classes: 2}
	for i := range 100 {
		all.Features = append(all.Features, float32(i))
		all.Labels = append(all.Labels, uint8(i%2))
	}
	train, test, err := split(all, 0.2, rand.NewPCG(3, 4))
	if err != nil || train.Len() != 80 || test.Len() != 20 {
		t.Fatalf("%d and %d records, error %v", train.Len(), test.Len(), err)
	}
	if !slices.IsSorted(train.Features) || !slices.IsSorted(test.Features) {
		t.Error("the order of the file was not kept")
	}
	both := slices.Concat(train.Features, test.Features)
	slices.Sort(both)
	if !slices.Equal(both, all.Features) {
		t.Error("a record was lost or is there twice")
	}
	for _, set := range []*data.Set{train, test} {
		for i := range set.Len() {
			if features, label := set.Record(i); int(features[0])%2 != label {
				t.Errorf("record %g has label %d", features[0], label)
			}
		}
	}
	again, _, _ := split(all, 0.2, rand.NewPCG(3, 4))
	other, _, _ := split(all, 0.2, rand.NewPCG(3, 5))
	if !slices.Equal(again.Features, train.Features) || slices.Equal(other.Features, train.Features) {
		t.Error("the split is not a function of the seed")
	}
}

func TestTheFingerprintKnowsEveryDifference(t *testing.T) {
	load := func(train string, o Options) string {
		a, b, err := Load(folder(map[string]string{"train.csv": train, "test.csv": testCSV}), "", o)
		if err != nil {
			t.Fatal(err)
		}
		return Fingerprint(a, b)
	}
	seen := map[string]string{load(trainCSV, Options{}): "the original"}
	for name, hash := range map[string]string{
		"another value":      load(strings.Replace(trainCSV, "0.25", "0.26", 1), Options{}),
		"another label":      load(strings.Replace(trainCSV, "0.5,1", "0.5,2", 1), Options{}),
		"another scale":      load(trainCSV, Options{Scale: []float64{0, 2}}),
		"another shape":      load(trainCSV, Options{Shape: []int{1, 1, 2}}),
		"another class":      load(trainCSV, Options{Classes: 4}),
		"one record less":    load("a,b,label\n0,1,0\n0.25,0.5,2\n", Options{}),
		"another order":      load("a,b,label\n0.25,0.5,1\n0,1,0\n1,0,2\n", Options{}),
		"train as test, too": load(testCSV+"0,0,2\n", Options{}),
	} {
		if before, ok := seen[hash]; ok {
			t.Errorf("%s has the fingerprint of %s", name, before)
		}
		seen[hash] = name
	}
	if seen[load("label,a,b\n0,0,1\n1,.25,5e-1\n2,1,0\n", Options{Label: "label"})] != "the original" {
		t.Error("the same data written differently has another fingerprint")
	}
}
