package kernel

import "fmt"

// Hadamard applies the Walsh-Hadamard matrix of ±1 to x, whose length is a power of two. It is its own inverse but for the
// factor len(x). Levels go from near neighbours to far ones in every version, so all give the same bits.
//
// Blocks that fit a core's first cache go through all their levels before the next block, and so do blocks that fit the second.
// Several levels at a time stay in registers.
func Hadamard(x []float32) {
	if len(x)&(len(x)-1) != 0 {
		panic(fmt.Sprintf("kernel: internal error: a Hadamard transform of length %d, no power of two", len(x)))
	}
	const first, second = 1 << 12, 1 << 16
	for at := 0; at < len(x); at += second {
		block := x[at:min(at+second, len(x))]
		for at := 0; at < len(block); at += first {
			levels(block[at:min(at+first, len(block))], 1)
		}
		levels(block, first)
	}
	levels(x, second)
}

// levels applies the levels of stride half, 2·half, ... len(x)/2.
func levels(x []float32, half int) {
	if half == 1 {
		half = neighbours(x)
	}
	for half < len(x) {
		half *= rowsTogether(x, half, len(x)/half)
	}
}

// neighbours applies the first levels and gives the stride of the next.
func neighbours(x []float32) int {
	if done := hadamardBlocksFast(x); done > 0 {
		return done
	}
	if len(x) < 8 {
		return 1
	}
	for len(x) >= 8 {
		a, b, c, d := four(x[0], x[1], x[2], x[3])
		e, f, g, h := four(x[4], x[5], x[6], x[7])
		x[0], x[1], x[2], x[3] = a+e, b+f, c+g, d+h
		x[4], x[5], x[6], x[7] = a-e, b-f, c-g, d-h
		x = x[8:]
	}
	return 8
}

// rowsTogether applies some levels across rows of half elements, and gives the number of rows that were taken together. left is how
// many there could be.
func rowsTogether(x []float32, half, left int) int {
	if rows := hadamardRowsFast(x, half, left); rows > 0 {
		return rows
	}
	rows := 2
	switch {
	case left == 8 || left >= 64:
		rows = 8
	case left > 2:
		rows = 4
	}
	for at := 0; at < len(x); at += rows * half {
		g := x[at : at+rows*half]
		switch rows {
		case 8:
			eight(g[:half], g[half:2*half], g[2*half:3*half], g[3*half:4*half], g[4*half:5*half], g[5*half:6*half], g[6*half:7*half], g[7*half:])
		case 4:
			x0, x1, x2, x3 := g[:half], g[half:2*half:2*half], g[2*half:3*half:3*half], g[3*half:4*half:4*half]
			for i := range x0 {
				x0[i], x1[i], x2[i], x3[i] = four(x0[i], x1[i], x2[i], x3[i])
			}
		default:
			x0, x1 := g[:half], g[half:2*half:2*half]
			for i, v := range x0 {
				x0[i], x1[i] = v+x1[i], v-x1[i]
			}
		}
	}
	return rows
}

// eight applies three levels across eight rows.
func eight(x0, x1, x2, x3, x4, x5, x6, x7 []float32) {
	n := len(x0)
	x1, x2, x3, x4, x5, x6, x7 = x1[:n], x2[:n], x3[:n], x4[:n], x5[:n], x6[:n], x7[:n]
	for i := range x0 {
		a, b, c, d := four(x0[i], x1[i], x2[i], x3[i])
		e, f, g, h := four(x4[i], x5[i], x6[i], x7[i])
		x0[i], x1[i], x2[i], x3[i] = a+e, b+f, c+g, d+h
		x4[i], x5[i], x6[i], x7[i] = a-e, b-f, c-g, d-h
	}
}

// four is small enough to be inlined.
func four(a, b, c, d float32) (_, _, _, _ float32) {
	a, b, c, d = a+b, a-b, c+d, c-d
	return a + c, b + d, a - c, b - d
}

// Signed sets dst to factor·x·signs, element by element.
func Signed(dst, x, signs []float32, factor float32) {
	x, signs = x[:len(dst)], signs[:len(dst)]
	for i := signedFast(dst, x, signs, factor); i < len(dst); i++ {
		dst[i] = x[i] * factor * signs[i]
	}
}
