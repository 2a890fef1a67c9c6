package chart

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func TestPicturesAreTheOnesInTestdata(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			got, err := e.chart.SVG()
			if err != nil {
				t.Fatal(err)
			}
			again, err := e.chart.SVG()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, again) {
				t.Error("the same chart gave different bytes")
			}
			path := filepath.Join("testdata", e.name+".svg")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; go test -update writes it", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at the picture, then go test -update", path)
			}
		})
	}
}
