package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// What is read is a matrix of full rows, and reads back to the same numbers when it is written again.
func FuzzParseMatrix(f *testing.F) {
	for _, seed := range []string{"1, 0.6\n0.6, 1\n", "1", "", "1,2\n3\n", "1,x", "NaN, Inf", "\"1\",\"2\"", "1e400", "0x1p-3", ",", "1\r\n2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseMatrix(strings.NewReader(text))
		if err != nil {
			return
		}
		var again strings.Builder
		for _, row := range rows {
			if len(row) != len(rows[0]) || len(row) == 0 {
				t.Fatalf("a row of %d numbers after one of %d", len(row), len(rows[0]))
			}
			for j, v := range row {
				if j > 0 {
					again.WriteString(",")
				}
				fmt.Fprintf(&again, "%g", v)
			}
			again.WriteString("\n")
		}
		second, err := parseMatrix(strings.NewReader(again.String()))
		if err != nil || len(second) != len(rows) {
			t.Fatalf("%d rows read back as %d (%v)", len(rows), len(second), err)
		}
		for i, row := range rows {
			for j, v := range row {
				if second[i][j] != v && !(math.IsNaN(v) && math.IsNaN(second[i][j])) {
					t.Fatalf("%g read back as %g", v, second[i][j])
				}
			}
		}
	})
}
