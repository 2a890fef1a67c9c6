package kernel

//go:generate sh -c "go run generate_dots64.go > dots64_amd64.s"

//go:noescape
func dots4x4AVX512(sums *[16]float64, a, b *[4]*float64, k int)

//go:noescape
func dots4x4AVX2(sums *[16]float64, a, b *[4]*float64, k int)

// dots4x4Fast sets the sums over the first elements and says how many those are.
func dots4x4Fast(sums *[16]float64, a, b *[4]*float64, k int) int {
	switch {
	case hasAVX512:
		dots4x4AVX512(sums, a, b, k)
		return k &^ 7
	case hasAVX2:
		dots4x4AVX2(sums, a, b, k)
		return k &^ 3
	}
	return 0
}
