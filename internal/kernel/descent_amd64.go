package kernel

//go:generate sh -c "go run generate_descent.go > descent_amd64.s"

//go:noescape
func decayAVX512(y, x *float32, groups int, keep, rest float32)

//go:noescape
func decayAVX2(y, x *float32, groups int, keep, rest float32)

//go:noescape
func decaySquaresAVX512(y, x *float32, groups int, keep, rest float32)

//go:noescape
func decaySquaresAVX2(y, x *float32, groups int, keep, rest float32)

//go:noescape
func descendAVX512(params, direction, square *float32, groups int, rate, correction, tau float32)

//go:noescape
func descendAVX2(params, direction, square *float32, groups int, rate, correction, tau float32)

func decayFast(y []float32, keep, rest float32, x []float32) int {
	groups := len(y) / group
	switch {
	case groups == 0:
	case hasAVX512:
		decayAVX512(&y[0], &x[0], groups, keep, rest)
		return group * groups
	case hasAVX2:
		decayAVX2(&y[0], &x[0], groups, keep, rest)
		return group * groups
	}
	return 0
}

func decaySquaresFast(y []float32, keep, rest float32, x []float32) int {
	groups := len(y) / group
	switch {
	case groups == 0:
	case hasAVX512:
		decaySquaresAVX512(&y[0], &x[0], groups, keep, rest)
		return group * groups
	case hasAVX2:
		decaySquaresAVX2(&y[0], &x[0], groups, keep, rest)
		return group * groups
	}
	return 0
}

func descendFast(params, direction, square []float32, rate, correction, tau float32) int {
	groups := len(params) / group
	switch {
	case groups == 0:
	case hasAVX512:
		descendAVX512(&params[0], &direction[0], &square[0], groups, rate, correction, tau)
		return group * groups
	case hasAVX2:
		descendAVX2(&params[0], &direction[0], &square[0], groups, rate, correction, tau)
		return group * groups
	}
	return 0
}
