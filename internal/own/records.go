package own

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hubbub/internal/data"
)

// Limits on what a file may hold. MNIST has 47 million values.
const (
	maxValues   = 1 << 30
	maxFeatures = 1 << 20
)

// records is what a file, or two, held: numbers as they stood there.
type records struct {
	file     string   // for messages
	columns  []string // of a table; nil for arrays
	shape    []int    // of one record
	pictures bool     // of bytes, so that 255 is known to be the largest
	unit     bool     // they are scaled already
	features []float32
	labels   []uint8
}

func (r *records) len() int { return len(r.labels) }

func (r *records) dim() int { return len(r.features) / len(r.labels) }

// column names a feature for a message.
func (r *records) column(i int) string {
	if r.columns != nil {
		return fmt.Sprintf("column %q", r.columns[i])
	}
	return fmt.Sprintf("value %d", i)
}

// newRecords puts features and labels of n records together.
func newRecords(file string, shape []int, features, labels []float32) (*records, error) {
	n := len(labels)
	if n == 0 {
		return nil, fmt.Errorf("%s holds no record", file)
	}
	r := &records{file: file, shape: shape, features: features, labels: make([]uint8, n)}
	for i, label := range labels {
		if !(label >= 0 && label < maxClasses) || label != float32(math.Trunc(float64(label))) {
			return nil, fmt.Errorf("%s: the label of record %d is %g: labels must be whole numbers from 0 to %d: number the classes from 0", file, i, label, maxClasses-1)
		}
		r.labels[i] = uint8(label)
	}
	return r, nil
}

// bounds are what 0 and 1 stand for.
type bounds struct{ low, high float64 }

func goodRange(low, high float64) bool {
	return low < high && !math.IsInf(low, 0) && !math.IsInf(high, 0) && !math.IsInf(high-low, 0)
}

// scale maps every value to [0, 1] by the bounds that were stated for its column, or for all.
func (r *records) scale(all []float64, named map[string]bounds) error {
	if r.unit {
		if all != nil {
			return fmt.Errorf("%s holds bytes, of which 255 becomes 1: leave scale out", r.file)
		}
		return nil
	}
	for name := range named {
		if !slices.Contains(r.columns, name) {
			return fmt.Errorf("%s names column %q, which %s does not have as a feature", rangesFile, name, r.file)
		}
	}
	columns := make([]bounds, r.dim())
	for c := range columns {
		columns[c] = r.bounds(c, all, named)
	}
	for at, value := range r.features {
		c := at % len(columns)
		b, x := columns[c], float64(value)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: %s of record %d is %g: drop such records, or fill them in", r.file, r.column(c), at/len(columns), x)
		}
		if b == (bounds{}) {
			if x < 0 || x > 1 {
				low, high := r.extent(c)
				return fmt.Errorf("%s: %s holds values from %g to %g, but they must lie in [0, 1]: state the range that is possible, as it is known "+
					"without looking at the data, by scale: [low, high] or for each column by a line in %s (column,low,high)",
					r.file, r.column(c), low, high, rangesFile)
			}
			continue
		}
		r.features[at] = float32(min(max((x-b.low)/(b.high-b.low), 0), 1))
	}
	return nil
}

// bounds are those that were stated for a column, or zero if none were.
func (r *records) bounds(c int, all []float64, named map[string]bounds) bounds {
	if r.columns != nil {
		if b, ok := named[r.columns[c]]; ok {
			return b
		}
	}
	switch {
	case len(all) == 2:
		return bounds{all[0], all[1]}
	case r.pictures:
		return bounds{0, 255}
	}
	return bounds{}
}

// extent is the smallest and the largest value of a column whose range was not stated, for a message to the owner of the file.
func (r *records) extent(c int) (low, high float32) {
	low, high = r.features[c], r.features[c]
	for at := c; at < len(r.features); at += r.dim() {
		low, high = min(low, r.features[at]), max(high, r.features[at])
	}
	return low, high
}

// reshape gives the records the shape that was asked for.
func (r *records) reshape(shape []int) error {
	if shape == nil {
		return nil
	}
	size := 1
	for _, side := range shape {
		size *= side // at most maxFeatures^3 = 2^60
	}
	if size != r.dim() {
		return fmt.Errorf("%s has %d values in a record (shape %v), shape %v needs %d", r.file, r.dim(), r.shape, shape, size)
	}
	r.shape = shape
	return nil
}

// belongsTo refuses test records that are not like the training records.
func (r *records) belongsTo(train *records) error {
	if !slices.Equal(r.shape, train.shape) {
		return fmt.Errorf("%s has records of shape %v, %s of shape %v", r.file, r.shape, train.file, train.shape)
	}
	for i := range r.columns {
		if train.columns != nil && r.columns[i] != train.columns[i] {
			return fmt.Errorf("feature %d is %q in %s but %q in %s: give both the same columns in the same order", i+1, r.columns[i], r.file, train.columns[i], train.file)
		}
	}
	return nil
}

func (r *records) set(classes int) *data.Set {
	return &data.Set{Name: Name, Shape: r.shape, Classes: classes, Features: r.features, Labels: r.labels}
}

// countClasses takes the number that was given, or the largest label + 1.
func countClasses(parts []*records, given int) (int, error) {
	largest := 0
	for _, r := range parts {
		for i, label := range r.labels {
			if given > 0 && int(label) >= given {
				return 0, fmt.Errorf("%s: label %d of record %d outside [0, %d]: classes is %d", r.file, label, i, given-1, given)
			}
			largest = max(largest, int(label))
		}
	}
	if given == 0 && largest == 0 {
		return 0, errors.New("every label is 0: there is nothing to tell apart; if there are more classes, give their number as classes")
	}
	return max(given, largest+1), nil
}
