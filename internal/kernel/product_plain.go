package kernel

import "unsafe"

// The plain version's tile: its sums and the elements that meet fit the registers of every processor.
const plainRows, plainWidth = 4, 2

// panelPlain is the definition of what the faster versions do but for rounding: they round once for a multiplication and an
// addition together.
func panelPlain(m, k, runs, jump int, a, b, c operand, width int, add bool) {
	for i := 0; i < m; i += plainRows {
		// Missing rows and columns are computed as copies of the last, and not stored.
		a0, a1, a2, a3 := a.from(i, 0), a.from(min(i+1, m-1), 0), a.from(min(i+2, m-1), 0), a.from(min(i+3, m-1), 0)
		second := 4 * (width - 1)
		var s00, s01, s10, s11, s20, s21, s30, s31 float32
		for step := range runs * k {
			at, row := 4*(step*a.col+step/k*jump), unsafe.Add(b.data, 4*step*b.row)
			b0, b1 := *(*float32)(row), *(*float32)(unsafe.Add(row, second))
			x := *(*float32)(unsafe.Add(a0.data, at))
			s00 += x * b0
			s01 += x * b1
			x = *(*float32)(unsafe.Add(a1.data, at))
			s10 += x * b0
			s11 += x * b1
			x = *(*float32)(unsafe.Add(a2.data, at))
			s20 += x * b0
			s21 += x * b1
			x = *(*float32)(unsafe.Add(a3.data, at))
			s30 += x * b0
			s31 += x * b1
		}
		sums := [plainRows][plainWidth]float32{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}}
		for r := range min(plainRows, m-i) {
			for j := range width {
				to := (*float32)(c.from(i+r, j).data)
				if add {
					sums[r][j] += *to
				}
				*to = sums[r][j]
			}
		}
	}
}
