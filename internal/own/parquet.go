package own

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readParquet reads columns of numbers.
func readParquet(file string, r io.ReaderAt, size int64, label string) (_ *records, err error) {
	// The library answers some broken files with a panic; what a user hands us must be an error.
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%s: the file is broken: %v", file, broken)
		}
	}()
	if err := checkFooter(r, size); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	open, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var columns []string
	for _, column := range open.Root().Columns() {
		if err := checkColumn(column); err != nil {
			return nil, fmt.Errorf("%s: column %q %w", file, column.Name(), err)
		}
		columns = append(columns, column.Name())
	}
	labelAt, err := labelColumn(file, columns, label)
	if err != nil {
		return nil, err
	}
	rows := open.NumRows()
	if rows < 0 || rows > maxValues/int64(len(columns)) || len(columns) > maxFeatures {
		return nil, fmt.Errorf("%s claims %d rows of %d columns, at most %d values are read", file, rows, len(columns), maxValues)
	}
	for _, group := range open.Metadata().RowGroups {
		for _, chunk := range group.Columns {
			// The library's reader of LZ4 does not come to an end on some broken files.
			if codec := chunk.MetaData.Codec; codec == format.Lz4 || codec == format.Lz4Raw || codec == format.LZO {
				return nil, fmt.Errorf("%s is compressed by %v: use snappy, gzip, zstd or brotli", file, codec)
			}
		}
	}
	values := make([][]float32, len(columns))
	for _, group := range open.RowGroups() {
		for c, chunk := range group.ColumnChunks() {
			if values[c], err = readChunk(values[c], chunk, int(rows)); err != nil {
				return nil, fmt.Errorf("%s: column %q: %w", file, columns[c], err)
			}
		}
	}
	for c := range columns {
		if len(values[c]) != int(rows) {
			return nil, fmt.Errorf("%s: column %q has %d values, the file claims %d rows", file, columns[c], len(values[c]), rows)
		}
	}
	features := make([]float32, 0, int(rows)*(len(columns)-1))
	for i := range int(rows) {
		for c := range columns {
			if c != labelAt {
				features = append(features, values[c][i])
			}
		}
	}
	return newTable(file, columns, labelAt, features, values[labelAt])
}

// checkFooter looks at the end of the file, length of the footer and magic, before the library takes memory for what it claims.
func checkFooter(r io.ReaderAt, size int64) error {
	const ends = 4 + 8 // magic; length and magic
	if size < ends {
		return fmt.Errorf("%d bytes are too few for a Parquet file", size)
	}
	var end [8]byte
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return err
	}
	if string(end[4:]) != "PAR1" {
		return fmt.Errorf("offset %d: %q, want \"PAR1\": this is no Parquet file, or it is cut short", size-4, end[4:])
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > size-ends {
		return fmt.Errorf("offset %d: a footer of %d bytes in a file of %d", size-8, length, size)
	}
	return nil
}

// checkColumn refuses what is no plain number.
func checkColumn(c *parquet.Column) error {
	if !c.Leaf() || c.Repeated() {
		return errors.New("is nested: give each number a column of its own")
	}
	switch c.Type().Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double:
	default:
		return fmt.Errorf("holds %v: want numbers: replace categories by columns of 0 and 1, and number the labels from 0", c.Type())
	}
	// A decimal or a time is stored as an integer that means something else.
	if logical := c.Type().LogicalType(); logical != nil && logical.Value != nil {
		if _, integer := logical.Value.(*format.IntType); !integer {
			return fmt.Errorf("holds %v: turn it into plain numbers", c.Type())
		}
	}
	return nil
}

// readChunk appends the values of a column in one group of rows, of which there are at most so many in all.
func readChunk(values []float32, chunk parquet.ColumnChunk, most int) ([]float32, error) {
	pages := chunk.Pages()
	defer pages.Close()
	buffer := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		values, err = readPage(values, page.Values(), buffer, most)
		parquet.Release(page)
		if err != nil {
			return nil, err
		}
	}
}

func readPage(values []float32, page parquet.ValueReader, buffer []parquet.Value, most int) ([]float32, error) {
	for {
		n, err := page.ReadValues(buffer)
		for _, v := range buffer[:n] {
			x, ok := number(v)
			if !ok {
				return nil, fmt.Errorf("nothing stands in row %d: drop such records, or fill them in", len(values))
			}
			if len(values) == most {
				return nil, fmt.Errorf("it has more values than the %d rows that the file claims", most)
			}
			values = append(values, x)
		}
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, io.ErrNoProgress
		}
	}
}

func number(v parquet.Value) (x float32, ok bool) {
	if v.IsNull() {
		return 0, false
	}
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1, true
		}
		return 0, true
	case parquet.Int32:
		return float32(v.Int32()), true
	case parquet.Int64:
		return float32(v.Int64()), true
	case parquet.Float:
		return v.Float(), true
	case parquet.Double:
		return float32(v.Double()), true
	}
	return 0, false
}
