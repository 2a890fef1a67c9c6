package kernel

//go:generate sh -c "go run generate_layers.go > layers_amd64.s"

//go:noescape
func axpyAVX512(y, b *float32, groups int, x float32)

//go:noescape
func axpyAVX2(y, b *float32, groups int, x float32)

//go:noescape
func scaleAVX512(y *float32, groups int, x float32)

//go:noescape
func scaleAVX2(y *float32, groups int, x float32)

//go:noescape
func reluAVX512(x *float32, groups int)

//go:noescape
func reluAVX2(x *float32, groups int)

//go:noescape
func reluBackAVX512(delta, output *float32, groups int)

//go:noescape
func reluBackAVX2(delta, output *float32, groups int)

//go:noescape
func largerAVX512(y, which, x *float32, pixels, groups, stride int, number float32)

//go:noescape
func largerAVX2(y, which, x *float32, pixels, groups, stride int, number float32)

//go:noescape
func addWhereAVX512(dx, delta, which *float32, pixels, groups, stride int, number float32)

//go:noescape
func setWhereAVX512(dx, delta, which *float32, pixels, groups, stride int, number float32)

//go:noescape
func addWhereAVX2(dx, delta, which *float32, pixels, groups, stride int, number float32)

//go:noescape
func setWhereAVX2(dx, delta, which *float32, pixels, groups, stride int, number float32)

//go:noescape
func addToRowsAVX512(y, x *float32, rows, groups int)

//go:noescape
func addToRowsAVX2(y, x *float32, rows, groups int)

//go:noescape
func addRowsAVX512(sum, y *float32, rows, groups int)

//go:noescape
func addRowsAVX2(sum, y *float32, rows, groups int)

// group is how many elements a loop takes at a time.
const group = 16

func axpyFast(y []float32, x float32, b []float32) int {
	groups := len(y) / group
	switch {
	case groups == 0:
	case hasAVX512:
		axpyAVX512(&y[0], &b[0], groups, x)
		return group * groups
	case hasAVX2:
		axpyAVX2(&y[0], &b[0], groups, x)
		return group * groups
	}
	return 0
}

func scaleFast(y []float32, x float32) int {
	groups := len(y) / group
	switch {
	case groups == 0:
	case hasAVX512:
		scaleAVX512(&y[0], groups, x)
		return group * groups
	case hasAVX2:
		scaleAVX2(&y[0], groups, x)
		return group * groups
	}
	return 0
}

func reluFast(x []float32) int {
	groups := len(x) / group
	switch {
	case groups == 0:
	case hasAVX512:
		reluAVX512(&x[0], groups)
		return group * groups
	case hasAVX2:
		reluAVX2(&x[0], groups)
		return group * groups
	}
	return 0
}

func reluBackFast(delta, output []float32) int {
	groups := len(delta) / group
	switch {
	case groups == 0:
	case hasAVX512:
		reluBackAVX512(&delta[0], &output[0], groups)
		return group * groups
	case hasAVX2:
		reluBackAVX2(&delta[0], &output[0], groups)
		return group * groups
	}
	return 0
}

func addToRowsFast(y, x []float32) int {
	rows, groups := len(y)/max(1, len(x)), len(x)/group
	switch {
	case rows == 0 || groups == 0 || len(x)%group != 0:
	case hasAVX512:
		addToRowsAVX512(&y[0], &x[0], rows, groups)
		return rows * len(x)
	case hasAVX2:
		addToRowsAVX2(&y[0], &x[0], rows, groups)
		return rows * len(x)
	}
	return 0
}

func addRowsFast(sum, y []float32) int {
	rows, groups := len(y)/max(1, len(sum)), len(sum)/group
	switch {
	case rows == 0 || groups == 0 || len(sum)%group != 0:
	case hasAVX512:
		addRowsAVX512(&sum[0], &y[0], rows, groups)
		return rows * len(sum)
	case hasAVX2:
		addRowsAVX2(&sum[0], &y[0], rows, groups)
		return rows * len(sum)
	}
	return 0
}

func largerFast(y, which, x []float32, number float32, pixels, channels, stride int) int {
	switch {
	case channels%group != 0:
	case hasAVX512:
		largerAVX512(&y[0], &which[0], &x[0], pixels, channels/group, 4*stride, number)
		return pixels
	case hasAVX2:
		largerAVX2(&y[0], &which[0], &x[0], pixels, channels/group, 4*stride, number)
		return pixels
	}
	return 0
}

func addWhereFast(dx, delta, which []float32, number float32, pixels, channels, stride int) int {
	switch {
	case channels%group != 0:
	case hasAVX512:
		addWhereAVX512(&dx[0], &delta[0], &which[0], pixels, channels/group, 4*stride, number)
		return pixels
	case hasAVX2:
		addWhereAVX2(&dx[0], &delta[0], &which[0], pixels, channels/group, 4*stride, number)
		return pixels
	}
	return 0
}

func setWhereFast(dx, delta, which []float32, number float32, pixels, channels, stride int) int {
	switch {
	case channels%group != 0:
	case hasAVX512:
		setWhereAVX512(&dx[0], &delta[0], &which[0], pixels, channels/group, 4*stride, number)
		return pixels
	case hasAVX2:
		setWhereAVX2(&dx[0], &delta[0], &which[0], pixels, channels/group, 4*stride, number)
		return pixels
	}
	return 0
}
