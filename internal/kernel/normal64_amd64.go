package kernel

//go:generate sh -c "go run generate_normal64.go > normal64_amd64.s"

//go:noescape
func normal64AVX512(dst *float64, words *byte, groups int)

//go:noescape
func normal64AVX2(dst *float64, words *byte, groups int)

func normal64Fast(dst []float64, words []byte) bool {
	switch {
	case hasAVX512:
		normal64AVX512(&dst[0], &words[0], len(dst)/Normal64Group)
	case hasAVX2:
		normal64AVX2(&dst[0], &words[0], len(dst)/Normal64Group)
	default:
		return false
	}
	return true
}
