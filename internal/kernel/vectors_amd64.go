package kernel

import "unsafe"

//go:generate sh -c "go run generate_vectors.go > vectors_amd64.s"

//go:noescape
func hadamardBlocksAVX512(x *float32, blocks int)

//go:noescape
func hadamardBlocksAVX2(x *float32, blocks int)

//go:noescape
func hadamardRowsAVX512by2(x *float32, half, groups int)

//go:noescape
func hadamardRowsAVX512by4(x *float32, half, groups int)

//go:noescape
func hadamardRowsAVX512by8(x *float32, half, groups int)

//go:noescape
func hadamardRowsAVX512by16(x *float32, half, groups int)

//go:noescape
func hadamardRowsAVX2by2(x *float32, half, groups int)

//go:noescape
func hadamardRowsAVX2by4(x *float32, half, groups int)

//go:noescape
func hadamardRowsAVX2by8(x *float32, half, groups int)

//go:noescape
func signedAVX512(dst, x, signs *float32, groups int, factor float32)

//go:noescape
func signedAVX2(dst, x, signs *float32, groups int, factor float32)

//go:noescape
func finiteAVX512(x *float32, groups int) (left int)

//go:noescape
func finiteAVX2(x *float32, groups int) (left int)

//go:noescape
func transposeAVX512(dst *float32, ld int, src *float32, stride, squares int)

//go:noescape
func transposeAVX2(dst *float32, ld int, src *float32, stride, squares int)

//go:noescape
func unwrapAVX512(dst *float32, sum *int64, groups int, half, mask int64, scale float64)

// hadamardBlocksFast transforms blocks of as many elements as it says; 0 if x is shorter than one.
func hadamardBlocksFast(x []float32) int {
	switch {
	case hasAVX512 && len(x) >= 256:
		hadamardBlocksAVX512(&x[0], len(x)/256)
		return 256
	case hasAVX2 && len(x) >= 64:
		hadamardBlocksAVX2(&x[0], len(x)/64)
		return 64
	}
	return 0
}

// hadamardRowsFast takes up to left rows together and says how many; 0 if they are too short.
func hadamardRowsFast(x []float32, half, left int) int {
	switch {
	case hasAVX512 && half >= 16:
		rows := min(left, 16)
		groups := len(x) / (rows * half)
		switch rows {
		case 2:
			hadamardRowsAVX512by2(&x[0], half, groups)
		case 4:
			hadamardRowsAVX512by4(&x[0], half, groups)
		case 8:
			hadamardRowsAVX512by8(&x[0], half, groups)
		case 16:
			hadamardRowsAVX512by16(&x[0], half, groups)
		}
		return rows
	case hasAVX2 && half >= 8:
		rows := min(left, 8)
		groups := len(x) / (rows * half)
		switch rows {
		case 2:
			hadamardRowsAVX2by2(&x[0], half, groups)
		case 4:
			hadamardRowsAVX2by4(&x[0], half, groups)
		case 8:
			hadamardRowsAVX2by8(&x[0], half, groups)
		}
		return rows
	}
	return 0
}

// signedFast does the first elements, a multiple of 16, and says how many.
func signedFast(dst, x, signs []float32, factor float32) int {
	groups := len(dst) / 16
	switch {
	case groups == 0:
		return 0
	case hasAVX512:
		signedAVX512(&dst[0], &x[0], &signs[0], groups, factor)
	case hasAVX2:
		signedAVX2(&dst[0], &x[0], &signs[0], groups, factor)
	default:
		return 0
	}
	return 16 * groups
}

// finiteFast looks at the first elements, a multiple of 16, and says how many there are and whether all are finite.
func finiteFast(x []float32) (looked int, finite bool) {
	groups := len(x) / 16
	switch {
	case groups == 0:
		return 0, true
	case hasAVX512:
		return 16 * groups, finiteAVX512(&x[0], groups) == 0
	case hasAVX2:
		return 16 * groups, finiteAVX2(&x[0], groups) == 0
	}
	return 0, true
}

// unwrapFast does the first elements, a multiple of 8, and says how many.
func unwrapFast(dst []float32, sum []int64, half, mask int64, scale float64) int {
	groups := len(dst) / 8
	if !hasAVX512 || groups == 0 {
		return 0
	}
	unwrapAVX512(&dst[0], &sum[0], groups, half, mask, scale)
	return 8 * groups
}

// transposeFast sets dst[i·ld+j] to src[j·stride+i] for the first rows i and columns j, and says how many of each.
func transposeFast(dst []float32, ld int, src *float32, stride, rows, columns int) (rowsDone, columnsDone int) {
	side := 0
	switch {
	case hasAVX512 && rows >= 16 && columns >= 16:
		side = 16
	case hasAVX2 && rows >= 8 && columns >= 8:
		side = 8
	default:
		return 0, 0
	}
	rowsDone, columnsDone = rows/side*side, columns/side*side
	for j := 0; j < columnsDone; j += side {
		strip := (*float32)(unsafe.Add(unsafe.Pointer(src), 4*j*stride))
		if side == 16 {
			transposeAVX512(&dst[j], ld, strip, stride, rows/side)
		} else {
			transposeAVX2(&dst[j], ld, strip, stride, rows/side)
		}
	}
	return rowsDone, columnsDone
}
