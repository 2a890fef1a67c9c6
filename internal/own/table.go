package own

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// rangesFile states the range of columns, each in a line: column,low,high.
const rangesFile = "ranges.csv"

// readRanges reads the ranges of the columns, if the folder states any.
func readRanges(folder fs.FS) (map[string]bounds, error) {
	file, err := folder.Open(rangesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("own: %w", err)
	}
	defer file.Close()
	ranges, err := parseRanges(file)
	if err != nil {
		return nil, fmt.Errorf("own: %s: %w", rangesFile, err)
	}
	return ranges, nil
}

func parseRanges(r io.Reader) (map[string]bounds, error) {
	ranges := map[string]bounds{}
	lines := csv.NewReader(r)
	lines.FieldsPerRecord, lines.TrimLeadingSpace = 3, true
	for first := true; ; first = false {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return ranges, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := lines.FieldPos(0)
		if first {
			if !slices.Equal(fields, []string{"column", "low", "high"}) {
				return nil, fmt.Errorf("line 1 is %q, want column,low,high", strings.Join(fields, ","))
			}
			continue
		}
		low, lowErr := strconv.ParseFloat(fields[1], 64)
		high, highErr := strconv.ParseFloat(fields[2], 64)
		if lowErr != nil || highErr != nil || !goodRange(low, high) {
			return nil, fmt.Errorf("line %d: from %q to %q is no range: two numbers, the first below the second", line, fields[1], fields[2])
		}
		if _, twice := ranges[fields[0]]; twice {
			return nil, fmt.Errorf("line %d: column %q has a range already", line, fields[0])
		}
		ranges[fields[0]] = bounds{low, high}
	}
}

// labelColumn finds the column of the labels in a table.
func labelColumn(file string, columns []string, label string) (int, error) {
	if len(columns) < 2 {
		return 0, fmt.Errorf("%s: one column is not enough, a feature and a label are needed; columns are told apart by commas", file)
	}
	for i, name := range columns {
		if strings.HasPrefix(name, "__index_level_") {
			return 0, fmt.Errorf("%s: column %q is an index that pandas added: save with index=False", file, name)
		}
		if name == "" {
			return 0, fmt.Errorf("%s: column %d has no name: give it one, or leave the column out (pandas: index=False)", file, i+1)
		}
		if slices.Contains(columns[:i], name) {
			return 0, fmt.Errorf("%s: two columns are called %q", file, name)
		}
	}
	at := len(columns) - 1
	if label != "" {
		at = slices.Index(columns, label)
	}
	if at < 0 {
		return 0, fmt.Errorf("%s: no column is called %q, as label says: there are %s", file, label, some(columns))
	}
	return at, nil
}

// without is the list without one element.
func without(columns []string, at int) []string {
	return slices.Delete(slices.Clone(columns), at, at+1)
}

// readCSV reads numbers below a line of column names.
func readCSV(file string, r io.Reader, label string) (*records, error) {
	lines := csv.NewReader(r)
	lines.ReuseRecord, lines.TrimLeadingSpace = true, true
	header, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty", file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	columns := make([]string, len(header))
	numbers := 0
	for i, name := range header {
		columns[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")) // some programs begin files with a mark
		if _, err := strconv.ParseFloat(columns[i], 64); err == nil {
			numbers++
		}
	}
	if numbers == len(columns) {
		return nil, fmt.Errorf("%s: line 1 holds numbers, want the names of the columns", file)
	}
	if len(columns) > maxFeatures {
		return nil, fmt.Errorf("%s has %d columns, at most %d are read", file, len(columns), maxFeatures)
	}
	labelAt, err := labelColumn(file, columns, label)
	if err != nil {
		return nil, err
	}
	var features, labels []float32
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(features)+len(fields) > maxValues {
			return nil, fmt.Errorf("%s holds more than %d values", file, maxValues)
		}
		for i, field := range fields {
			x, err := strconv.ParseFloat(strings.TrimSpace(field), 32)
			if err != nil {
				line, _ := lines.FieldPos(i)
				return nil, fmt.Errorf("%s: line %d, column %q: %s", file, line, columns[i], whatIsNoNumber(field, err))
			}
			if i == labelAt {
				labels = append(labels, float32(x))
			} else {
				features = append(features, float32(x))
			}
		}
	}
	return newTable(file, columns, labelAt, features, labels)
}

func newTable(file string, columns []string, labelAt int, features, labels []float32) (*records, error) {
	r, err := newRecords(file, []int{len(columns) - 1}, features, labels)
	if err != nil {
		return nil, err
	}
	r.columns = without(columns, labelAt)
	return r, nil
}

func whatIsNoNumber(field string, err error) string {
	switch {
	case strings.TrimSpace(field) == "":
		return "nothing stands there: drop such records, or fill them in"
	case errors.Is(err, strconv.ErrRange):
		return fmt.Sprintf("%.20q is too large", field)
	}
	return fmt.Sprintf("%.20q is no number: replace categories by columns of 0 and 1, and number the labels from 0", field)
}
