package own

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// part is where the records of one set stand: in one file with their labels, or in two.
type part struct {
	format   string // csv, parquet, npz, npy or idx
	features string // file
	labels   string // file, for npy and idx
	arrays   [2]string
}

// layout is what was found: the training part, and the test part if there is one.
type layout struct {
	train *part
	test  *part
}

func (l layout) parts() []*part {
	if l.test == nil {
		return []*part{l.train}
	}
	return []*part{l.train, l.test}
}

// checkTest makes sure that there is exactly one way to a test set.
func (l layout) checkTest(fraction float64) error {
	switch {
	case l.test == nil && fraction == 0:
		return fmt.Errorf("own: %s has no test records beside it, and accuracy is measured on a public test set: add test files of the same kind, "+
			"or set test_fraction: 0.1 to hold back a tenth of the records, which are then public and not protected", l.train.features)
	case l.test != nil && fraction != 0:
		return fmt.Errorf("own: test_fraction %g, but there are test records in %s: leave test_fraction out, or take the test files away", fraction, l.test.features)
	}
	return nil
}

// ways lists how a set may be stored; % stands for train or test.
var ways = []part{
	{format: "csv", features: "%.csv"},
	{format: "csv", features: "%.csv.gz"},
	{format: "parquet", features: "%.parquet"},
	{format: "npz", features: "%.npz", arrays: [2]string{"x", "y"}},
	{format: "npy", features: "x_%.npy", labels: "y_%.npy"},
	{format: "npy", features: "%-images.npy", labels: "%-labels.npy"},
	{format: "npy", features: "%-features.npy", labels: "%-labels.npy"},
	{format: "idx", features: "%-images-idx3-ubyte", labels: "%-labels-idx1-ubyte"},
	{format: "idx", features: "%-images-idx3-ubyte.gz", labels: "%-labels-idx1-ubyte.gz"},
}

const expected = "want train.csv and test.csv; train.parquet and test.parquet; x_train.npy, y_train.npy, x_test.npy and y_test.npy; " +
	"one .npz with x_train, y_train, x_test and y_test; or train-images-idx3-ubyte, train-labels-idx1-ubyte and the same of test"

// find looks which files there are. MNIST's own name for test, t10k, is understood too.
func find(folder fs.FS, file string) (layout, error) {
	if file != "" {
		return findFile(folder, file)
	}
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return layout{}, fmt.Errorf("own: %w", err)
	}
	var names, archives []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
			if strings.HasSuffix(e.Name(), ".npz") && e.Name() != "train.npz" && e.Name() != "test.npz" {
				archives = append(archives, e.Name())
			}
		}
	}
	train, test := storedAs(names, "train"), append(storedAs(names, "test"), storedAs(names, "t10k")...)
	switch {
	case len(train)+len(archives) == 0:
		return layout{}, fmt.Errorf("own: the folder holds %s: %s", some(names), expected)
	case len(train)+len(archives) > 1:
		var all []string
		for _, p := range train {
			all = append(all, p.features)
		}
		return layout{}, fmt.Errorf("own: several training sets: %s: leave one in the folder, or name the file", strings.Join(append(all, archives...), ", "))
	case len(archives) == 1:
		return findFile(folder, archives[0])
	case len(test) > 1:
		return layout{}, fmt.Errorf("own: several test sets: %s and %s: leave one in the folder", test[0].features, test[1].features)
	}
	l := layout{train: &train[0]}
	if len(test) == 1 {
		l.test = &test[0]
	}
	return l, nil
}

func storedAs(names []string, what string) (found []part) {
	for _, way := range ways {
		way.features, way.labels = strings.Replace(way.features, "%", what, 1), strings.Replace(way.labels, "%", what, 1)
		if slices.Contains(names, way.features) && (way.labels == "" || slices.Contains(names, way.labels)) {
			found = append(found, way)
		}
	}
	return found
}

// findFile takes one file for everything. Only an .npz can hold test records too.
func findFile(folder fs.FS, file string) (layout, error) {
	switch name := strings.TrimSuffix(file, ".gz"); path.Ext(name) {
	case ".csv":
		return layout{train: &part{format: "csv", features: file}}, nil
	case ".parquet":
		return layout{train: &part{format: "parquet", features: file}}, nil
	case ".npz":
		arrays, err := listNPZ(folder, file)
		if err != nil {
			return layout{}, fmt.Errorf("own: %w", err)
		}
		has := func(x, y string) bool { return slices.Contains(arrays, x) && slices.Contains(arrays, y) }
		var l layout
		switch {
		case has("x_train", "y_train"):
			l.train = &part{format: "npz", features: file, arrays: [2]string{"x_train", "y_train"}}
		case has("x", "y"):
			l.train = &part{format: "npz", features: file, arrays: [2]string{"x", "y"}}
		default:
			return layout{}, fmt.Errorf("own: %s holds the arrays %s: want x_train and y_train, and x_test and y_test", file, some(arrays))
		}
		if has("x_test", "y_test") {
			l.test = &part{format: "npz", features: file, arrays: [2]string{"x_test", "y_test"}}
		}
		return l, nil
	}
	return layout{}, fmt.Errorf("own: %s is neither .csv, .parquet nor .npz: name the folder of an array in two files", file)
}

func some(names []string) string {
	const most = 8
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// read reads the part.
func (p *part) read(folder fs.FS, o Options) (*records, error) {
	switch p.format {
	case "csv":
		return readFile(folder, p.features, func(r io.Reader) (*records, error) { return readCSV(p.features, r, o.Label) })
	case "parquet":
		return readSeekable(folder, p.features, func(r io.ReaderAt, size int64) (*records, error) { return readParquet(p.features, r, size, o.Label) })
	}
	if o.Label != "" {
		return nil, fmt.Errorf("label %q names a column, but %s has none: leave label out", o.Label, p.features)
	}
	if p.format == "idx" {
		return p.readIDX(folder)
	}
	x, y, err := p.readArrays(folder)
	if err != nil {
		return nil, err
	}
	return x.records(y, o.Shape != nil)
}

// readFile opens a file, decompresses it if its name says so, and hands it on.
func readFile[T any](folder fs.FS, name string, read func(io.Reader) (T, error)) (none T, err error) {
	file, err := folder.Open(name)
	if err != nil {
		return none, err
	}
	defer file.Close()
	var content io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		compressed, err := gzip.NewReader(file)
		if err != nil {
			return none, fmt.Errorf("%s: %w", name, err)
		}
		defer compressed.Close()
		content = compressed
	}
	return read(content)
}

// readSeekable opens a file whose table of contents stands at its end.
func readSeekable[T any](folder fs.FS, name string, read func(r io.ReaderAt, size int64) (T, error)) (none T, err error) {
	file, err := folder.Open(name)
	if err != nil {
		return none, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return none, err
	}
	seekable, ok := file.(io.ReaderAt)
	if !ok {
		return none, fmt.Errorf("%s: %w", name, errors.ErrUnsupported)
	}
	return read(seekable, info.Size())
}
