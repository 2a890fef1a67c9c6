// Package own reads a user's own data, from files in the formats that other tools write: CSV, NumPy (.npy, .npz), Parquet, idx.
//
// It promises that a [data.Set] comes out only if every value was understood: a number, finite, in a range that somebody stated, with a
// label of a class. It never takes a range from the data: the largest value of a column belongs to somebody, and a scale
// that depends on it would tell everyone. What it refuses it names by file, line or record, and column.
//
// Files come in as an [fs.FS]; nothing is opened besides.
package own

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"

	"hubbub/internal/data"
)

// Name is what an own data set is called in an experiment file.
const Name = "own"

// Options says what the files themselves do not. Zero fields take the stated default.
type Options struct {
	Label        string      // column of the labels in a CSV or Parquet file; default the last
	Classes      int         // default the largest label + 1
	Scale        []float64   // low and high: mapped to 0 and 1, values beyond are put on them; default: values lie in [0, 1], bytes of pictures in [0, 255]
	Shape        []int       // of one record: [features] or [channels, height, width]; default as stored
	TestFraction float64     // without test files: so much of the training records, drawn at random, is held back as the public test set
	Split        rand.Source // draws them; needed with TestFraction
}

// Check refuses what contradicts itself.
func (o Options) Check() error {
	switch {
	case o.Classes != 0 && (o.Classes < 2 || o.Classes > maxClasses):
		return fmt.Errorf("own: classes %d outside [2, %d]", o.Classes, maxClasses)
	case len(o.Scale) != 0 && len(o.Scale) != 2:
		return fmt.Errorf("own: scale has %d numbers, want two: [low, high]", len(o.Scale))
	case len(o.Scale) == 2 && !goodRange(o.Scale[0], o.Scale[1]):
		return fmt.Errorf("own: scale [%g, %g]: the first must be below the second, both finite", o.Scale[0], o.Scale[1])
	case len(o.Shape) != 0 && len(o.Shape) != 1 && len(o.Shape) != 3:
		return fmt.Errorf("own: shape %v: want [features] or [channels, height, width]", o.Shape)
	case o.TestFraction != 0 && !(o.TestFraction > 0 && o.TestFraction < 1):
		return fmt.Errorf("own: test_fraction %g outside (0, 1)", o.TestFraction)
	}
	for _, side := range o.Shape {
		if side < 1 || side > maxFeatures {
			return fmt.Errorf("own: shape %v: each side must be from 1 to %d", o.Shape, maxFeatures)
		}
	}
	return nil
}

const maxClasses = 256 // labels are bytes

// Load reads the data set in a folder, or, if file is not empty, in that one file of it.
func Load(folder fs.FS, file string, o Options) (train, test *data.Set, err error) {
	if err := o.Check(); err != nil {
		return nil, nil, err
	}
	files, err := find(folder, file)
	if err != nil {
		return nil, nil, err
	}
	if err := files.checkTest(o.TestFraction); err != nil {
		return nil, nil, err
	}
	ranges, err := readRanges(folder)
	if err != nil {
		return nil, nil, err
	}
	var parts []*records
	for _, part := range files.parts() {
		r, err := part.read(folder, o)
		if err == nil {
			err = r.reshape(o.Shape)
		}
		if err == nil && len(parts) > 0 {
			err = r.belongsTo(parts[0])
		}
		if err == nil {
			err = r.scale(o.Scale, ranges)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("own: %w", err)
		}
		parts = append(parts, r)
	}
	classes, err := countClasses(parts, o.Classes)
	if err != nil {
		return nil, nil, fmt.Errorf("own: %w", err)
	}
	train = parts[0].set(classes)
	if len(parts) == 2 {
		return train, parts[1].set(classes), nil
	}
	return split(train, o.TestFraction, o.Split)
}

// split holds a fraction of the records back.
func split(all *data.Set, fraction float64, source rand.Source) (train, test *data.Set, err error) {
	n := int(math.Round(fraction * float64(all.Len())))
	if n < 1 || n >= all.Len() {
		return nil, nil, fmt.Errorf("own: test_fraction %g of %d records leaves nothing to test on, or nothing to train on", fraction, all.Len())
	}
	held := make([]bool, all.Len())
	for _, i := range rand.New(source).Perm(all.Len())[:n] {
		held[i] = true
	}
	empty := data.Set{Name: all.Name, Shape: all.Shape, Classes: all.Classes}
	parts := [2]data.Set{empty, empty}
	for i, testing := range held {
		part := &parts[0]
		if testing {
			part = &parts[1]
		}
		features, label := all.Record(i)
		part.Features = append(part.Features, features...)
		part.Labels = append(part.Labels, uint8(label))
	}
	return &parts[0], &parts[1], nil
}

// Fingerprint is the sha256 of what was read: shape, classes, features and labels of both sets. A run keeps it, so that it is not
// resumed with other data.
func Fingerprint(train, test *data.Set) string {
	hash := sha256.New()
	var buffer []byte
	for _, s := range []*data.Set{train, test} {
		buffer = fmt.Appendf(buffer[:0], "%v %d %d\n", s.Shape, s.Classes, s.Len())
		hash.Write(buffer)
		for from := 0; from < len(s.Features); from += 4096 {
			buffer = buffer[:0]
			for _, v := range s.Features[from:min(from+4096, len(s.Features))] {
				buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
			}
			hash.Write(buffer)
		}
		hash.Write(s.Labels)
	}
	return hex.EncodeToString(hash.Sum(nil))
}
