package data

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
)

func grey(img image.Image, x, y int) uint8 {
	return color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y
}

func TestContactSheetPutsEachRecordInItsPlace(t *testing.T) {
	set := fourRecords() // pictures of 1 x 2
	sheet, err := ContactSheet(set, [][]int{{3}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	// Two columns of 2 values and two rows of 1, each value 2 dots, gaps of 4 around.
	if want := image.Rect(0, 0, 4+2*(4+4), 4+2*(2+4)); sheet.Bounds() != want {
		t.Fatalf("bounds %v, want %v", sheet.Bounds(), want)
	}
	tests := map[string]struct {
		x, y int
		want uint8
	}{
		"the corner is background":               {0, 0, 0x60},
		"record 3 first value, first dot":        {4, 4, 153},
		"record 3 first value, last dot":         {5, 5, 153},
		"record 3 second value":                  {6, 4, 255},
		"behind record 3 comes the gap":          {8, 4, 0x60},
		"an absent record leaves background":     {12, 4, 0x60},
		"record 1 begins the second row":         {4, 10, 51},
		"record 0 is second in the second row":   {12, 10, 0},
		"record 0 second value, rounded to byte": {14, 11, 26},
	}
	for name, test := range tests {
		if got := grey(sheet, test.x, test.y); got != test.want {
			t.Errorf("%s: dot (%d, %d) is %d, want %d", name, test.x, test.y, got, test.want)
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, sheet); err != nil {
		t.Fatal(err)
	}
	if back, err := png.Decode(&file); err != nil || back.Bounds() != sheet.Bounds() {
		t.Errorf("as PNG the sheet comes back with error %v", err)
	}
}

func TestContactSheetOfThreeChannelsIsInColour(t *testing.T) {
	set := &Set{Name: "dot", Shape: []int{3, 1, 1}, Classes: 1, Features: []float32{1, 0.2, 0}, Labels: []uint8{0}}
	sheet, err := ContactSheet(set, [][]int{{0}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sheet.At(gap, gap), (color.RGBA{R: 255, G: 51, B: 0, A: 255}); got != want {
		t.Errorf("dot is %v, want %v", got, want)
	}
	if got, want := sheet.At(0, 0), (color.RGBA{R: 0x60, G: 0x60, B: 0x60, A: 255}); got != want {
		t.Errorf("background is %v, want %v", got, want)
	}
}

func TestContactSheetRefuses(t *testing.T) {
	four := fourRecords()
	table := &Set{Name: "table", Shape: []int{104}, Classes: 2, Features: make([]float32, 104), Labels: []uint8{0}}
	many := make([][]int, 1_000_000)
	for r := range many {
		many[r] = []int{0, 1, 2, 3}
	}
	tests := map[string]struct {
		set  *Set
		rows [][]int
		want string
	}{
		"records that are no pictures":   {table, [][]int{{0}}, "shape [104]"},
		"no rows":                        {four, nil, "without a record"},
		"empty rows":                     {four, [][]int{{}, {}}, "without a record"},
		"a record behind the last":       {four, [][]int{{4}}, "record 4 of four outside [0, 3]"},
		"a record before the first":      {four, [][]int{{0, -1}}, "record -1"},
		"a sheet too large for a screen": {four, many, "show fewer records"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := ContactSheet(test.set, test.rows); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestFirstOfEachClassKeepsTheOrderOfTheSet(t *testing.T) {
	rows := fourRecords().FirstOfEachClass(2)
	want := [][]int{{1}, {0, 2}, nil}
	if !slices.EqualFunc(rows, want, func(a, b []int) bool { return slices.Equal(a, b) }) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}
