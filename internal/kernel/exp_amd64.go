package kernel

//go:generate sh -c "go run generate_exp.go > exp_amd64.s"

//go:noescape
func expAVX512(x *float32, groups int)

//go:noescape
func expAVX2(x *float32, groups int)

func expFast(x []float32) int {
	groups := len(x) / group
	switch {
	case groups == 0:
	case hasAVX512:
		expAVX512(&x[0], groups)
		return group * groups
	case hasAVX2:
		expAVX2(&x[0], groups)
		return group * groups
	}
	return 0
}
