package own

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func parquetFile(t testing.TB, name, label string) (*records, error) {
	content := made(t, name+".parquet")
	return readParquet(name, bytes.NewReader(content), int64(len(content)), label)
}

func TestWhatArrowWroteIsRead(t *testing.T) {
	for _, name := range strings.Fields("none snappy gzip zstd brotli groups pages2 deltas") {
		t.Run(name, func(t *testing.T) {
			r, err := parquetFile(t, name, "")
			if err != nil {
				t.Fatal(err)
			}
			want := []float32{1, 0, 1, 0.5, 0.125, 0, 1, 0, 0.25, 0.75, 1, 1, 1, 1, 0}
			if !slices.Equal(r.columns, []string{"flag", "count", "byte", "half", "double"}) || !slices.Equal(r.features, want) ||
				!slices.Equal(r.labels, []uint8{2, 0, 1}) || !slices.Equal(r.shape, []int{5}) {
				t.Errorf("columns %v, features %v, labels %v, shape %v", r.columns, r.features, r.labels, r.shape)
			}
		})
	}
	r, err := parquetFile(t, "zstd", "count")
	if err != nil || !slices.Equal(r.labels, []uint8{0, 1, 1}) || !slices.Equal(r.columns, []string{"flag", "byte", "half", "double", "label"}) {
		t.Errorf("label by name: %+v, error %v", r, err)
	}
}

func TestReadParquetRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"missing": `column "a": nothing stands in row 1`,
		"lz4":     "lz4 is compressed by LZ4_RAW: use snappy",
		"text":    `column "colour" holds STRING: want numbers`,
		"nested":  `column "list" is nested`,
		"decimal": `column "money" holds DECIMAL`,
		"date":    `column "day" holds DATE: turn it into plain numbers`,
	} {
		if r, err := parquetFile(t, name, ""); err == nil || !strings.Contains(err.Error(), want) || r != nil {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	if _, err := parquetFile(t, "none", "colour"); err == nil || !strings.Contains(err.Error(), `no column is called "colour"`) {
		t.Errorf("a label that is not there: %v", err)
	}
	whole := made(t, "none.parquet")
	for _, n := range []int{0, 3, 11, 100, len(whole) - 1} {
		if _, err := readParquet("cut", bytes.NewReader(whole[:n]), int64(n), ""); err == nil || !strings.HasPrefix(err.Error(), "cut: ") {
			t.Errorf("cut to %d bytes: error %v", n, err)
		}
	}
}

func FuzzReadParquet(f *testing.F) {
	for _, name := range strings.Fields("none snappy groups deltas pages2 missing decimal") {
		f.Add(made(f, name+".parquet"))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := readParquet("fuzz", bytes.NewReader(file), int64(len(file)), "")
		if err != nil {
			return
		}
		if len(r.features) != r.len()*len(r.columns) || len(r.columns) != r.shape[0] || r.len() == 0 {
			t.Errorf("%d records with %d features in %d columns", r.len(), len(r.features), len(r.columns))
		}
	})
}
