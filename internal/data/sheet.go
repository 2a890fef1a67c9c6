package data

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// The look of a contact sheet: every value of a record becomes a square of magnify x magnify dots, with a gap around it.
const (
	magnify      = 2
	gap          = 4
	maxSheetDots = 1 << 26
)

// ContactSheet draws records of a set as one picture: rows[r][k] is the record in row r, column k. Rows may differ in
// length. Sets of shape 1 x height x width give a grey picture, 3 x height x width one in colour (red, green, blue).
//
// For a sheet with a row per class pass [Set.FirstOfEachClass]; for the records of a client, slices.Chunk of its part.
func ContactSheet(s *Set, rows [][]int) (image.Image, error) {
	if len(s.Shape) != 3 || s.Shape[0] != 1 && s.Shape[0] != 3 {
		return nil, fmt.Errorf("data: %s has records of shape %v: only 1 x height x width and 3 x height x width are pictures",
			s.Name, s.Shape)
	}
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
		for _, i := range row {
			if i < 0 || i >= s.Len() {
				return nil, fmt.Errorf("data: record %d of %s outside [0, %d]", i, s.Name, s.Len()-1)
			}
		}
	}
	if columns == 0 {
		return nil, fmt.Errorf("data: contact sheet of %s without a record: ask for at least one", s.Name)
	}
	height, width := s.Shape[1], s.Shape[2]
	stepX, stepY := width*magnify+gap, height*magnify+gap
	if columns > maxSheetDots/stepX || len(rows) > maxSheetDots/stepY/(columns*stepX) {
		return nil, fmt.Errorf("data: contact sheet of %d x %d records has more than %d dots: show fewer records",
			len(rows), columns, maxSheetDots)
	}
	sheet := newSheet(s.Shape[0], columns*stepX+gap, len(rows)*stepY+gap)
	for r, row := range rows {
		for k, i := range row {
			features, _ := s.Record(i)
			drawRecord(sheet, gap+k*stepX, gap+r*stepY, features, s.Shape)
		}
	}
	return sheet, nil
}

// FirstOfEachClass lists, for each class, its first records in the order of the set, at most columns of them.
func (s *Set) FirstOfEachClass(columns int) [][]int {
	rows := make([][]int, s.Classes)
	for i, label := range s.Labels {
		if len(rows[label]) < columns {
			rows[label] = append(rows[label], i)
		}
	}
	return rows
}

func newSheet(channels, width, height int) draw.Image {
	area := image.Rect(0, 0, width, height)
	var sheet draw.Image = image.NewGray(area)
	if channels == 3 {
		sheet = image.NewRGBA(area)
	}
	background := color.Gray{Y: 0x60} // neither black nor white, so that records of both kinds stand out
	draw.Draw(sheet, area, image.NewUniform(background), image.Point{}, draw.Src)
	return sheet
}

func drawRecord(sheet draw.Image, left, top int, features []float32, shape []int) {
	channels, height, width := shape[0], shape[1], shape[2]
	plane := height * width
	for y := range height {
		for x := range width {
			var dot color.Color
			at := y*width + x
			if channels == 1 {
				dot = color.Gray{Y: toByte(features[at])}
			} else {
				dot = color.RGBA{R: toByte(features[at]), G: toByte(features[plane+at]), B: toByte(features[2*plane+at]), A: 0xff}
			}
			for i := range magnify * magnify {
				sheet.Set(left+x*magnify+i%magnify, top+y*magnify+i/magnify, dot)
			}
		}
	}
}

func toByte(unit float32) uint8 {
	return uint8(min(max(unit, 0), 1)*255 + 0.5)
}
