package kernel

import "unsafe"

//go:generate sh -c "go run generate_samplers.go > samplers_amd64.s"

//go:noescape
func addAliasedAVX512(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64)

//go:noescape
func addSmallAliasedAVX512(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64)

//go:noescape
func addMediumAliasedAVX512(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64)

//go:noescape
func addAliasedAVX2(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64)

//go:noescape
func drawAliasedVAES(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64, keys *[15][16]byte, counter uint64)

//go:noescape
func drawSmallAliasedVAES(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64, keys *[15][16]byte, counter uint64)

//go:noescape
func drawMediumAliasedVAES(dst *int64, words *byte, entries *uint32, open *byte, groups int, shift, signMask uint64, lowest int64, keys *[15][16]byte, counter uint64)

//go:noescape
func drawNormal32VAES(dst *float32, words *byte, chunks int, keys *[15][16]byte, counter uint64)

//go:noescape
func normal32AVX512(dst *float32, words *byte, groups int)

//go:noescape
func normal32AVX2(dst *float32, words *byte, groups int)

//go:noescape
func keystreamVAES(dst *byte, chunks int, keys *[15][16]byte, counter uint64)

//go:noescape
func addKeystream32(dst *uint32, chunks int, keys *[15][16]byte, counter, mask uint64)

//go:noescape
func subtractKeystream32(dst *uint32, chunks int, keys *[15][16]byte, counter, mask uint64)

//go:noescape
func addKeystream64(dst *uint64, chunks int, keys *[15][16]byte, counter, mask uint64)

//go:noescape
func subtractKeystream64(dst *uint64, chunks int, keys *[15][16]byte, counter, mask uint64)

//go:noescape
func subWord(x uint32) uint32

// addAliasedFast does the first elements, a multiple of 16, and says how many.
func addAliasedFast(a *Aliased, dst []int64, words []byte, open []byte) int {
	groups := len(dst) / 16
	if groups == 0 {
		return 0
	}
	var space [mediumColumns]uint32
	entries, shift := a.padded(&space), uint64(32-a.Bits)
	switch {
	case hasAVX512 && a.Bits <= smallBits:
		addSmallAliasedAVX512(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest)
	case hasAVX512 && a.Bits <= mediumBits:
		addMediumAliasedAVX512(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest)
	case hasAVX512:
		addAliasedAVX512(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest)
	case hasAVX2:
		addAliasedAVX2(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest)
	default:
		return 0
	}
	return 16 * groups
}

// Tables of up to so many bits are kept in registers, which are loaded whole.
const (
	smallBits     = 5
	mediumBits    = 6
	mediumColumns = 1 << mediumBits
)

// padded is where the table lies, or a copy of a short one that may be read to the end of the registers.
func (a *Aliased) padded(space *[mediumColumns]uint32) *uint32 {
	if a.Bits >= mediumBits {
		return &a.Entries[0]
	}
	copy(space[:], a.Entries)
	return &space[0]
}

// drawAliasedFast adds draws of all chunks of words but the last, and makes all but the first. It says if it did.
func drawAliasedFast(k *Keystream, a *Aliased, dst []int64, words []byte, open []byte) bool {
	groups := len(dst)/16 - Chunk/64
	if k.block != nil || groups == 0 {
		return false
	}
	var space [mediumColumns]uint32
	entries, shift := a.padded(&space), uint64(32-a.Bits)
	switch {
	case a.Bits <= smallBits:
		drawSmallAliasedVAES(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest, &k.keys, k.counter)
	case a.Bits <= mediumBits:
		drawMediumAliasedVAES(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest, &k.keys, k.counter)
	default:
		drawAliasedVAES(&dst[0], &words[0], entries, &open[0], groups, shift, uint64(a.SignMask), a.Lowest, &k.keys, k.counter)
	}
	return true
}

// drawNormal32Fast makes numbers of all chunks of words but the last, and all chunks but the first. It says if it did.
func drawNormal32Fast(k *Keystream, dst []float32, words []byte) bool {
	chunks := len(words)/Chunk - 1
	if k.block != nil || chunks == 0 {
		return false
	}
	drawNormal32VAES(&dst[0], &words[0], chunks, &k.keys, k.counter)
	return true
}

func normal32Fast(dst []float32, words []byte) bool {
	switch {
	case hasAVX512:
		normal32AVX512(&dst[0], &words[0], len(dst)/NormalGroup)
	case hasAVX2:
		normal32AVX2(&dst[0], &words[0], len(dst)/NormalGroup)
	default:
		return false
	}
	return true
}

func keystreamFast(dst []byte, keys *[15][16]byte, counter uint64) {
	keystreamVAES(&dst[0], len(dst)/Chunk, keys, counter)
}

//go:noescape
func roundAVX512(dst *int64, x *float32, coins *byte, groups int, scale float64)

//go:noescape
func addNearestAVX512(sum *int64, x *float32, groups int, scale float64)

//go:noescape
func addNearest64AVX512(sum *int64, x *float64, groups int, scale float64)

//go:noescape
func truncateAVX512(dst *int64, x *float32, groups int, scale float64)

//go:noescape
func addClampedAVX512(sum *int64, x *int64, groups int, limit int64)

//go:noescape
func addWrappedAVX512(sum *int64, x *int64, groups int, half, mask int64)

//go:noescape
func addWrappedAVX2(sum *int64, x *int64, groups int, half, mask int64)

//go:noescape
func sumSquaresAVX512(x *float32, n int) float64

//go:noescape
func sumSquaresAVX2(x *float32, n int) float64

//go:noescape
func addSquaresAVX512(x *float32, n int, sums *Squares)

//go:noescape
func addSquaresAVX2(x *float32, n int, sums *Squares)

//go:noescape
func roughRowsAVX512(sums *float64, x *float32, rows, columns int)

//go:noescape
func roughRowsAVX2(sums *float64, x *float32, rows, columns int)

// roundFast and those that follow do the first elements, a multiple of 8, and say how many. AVX2 cannot turn a float64 into an int64, nor
// choose the smaller of two of those.
func roundFast(dst []int64, x []float32, scale float64, coins []byte) int {
	groups := len(dst) / 8
	if !hasAVX512 || groups == 0 {
		return 0
	}
	roundAVX512(&dst[0], &x[0], &coins[0], groups, scale)
	return 8 * groups
}

func addNearestFast(sum []int64, x []float32, scale float64) int {
	groups := len(sum) / 8
	if !hasAVX512 || groups == 0 {
		return 0
	}
	addNearestAVX512(&sum[0], &x[0], groups, scale)
	return 8 * groups
}

func addNearest64Fast(sum []int64, x []float64, scale float64) int {
	groups := len(sum) / 8
	if !hasAVX512 || groups == 0 {
		return 0
	}
	addNearest64AVX512(&sum[0], &x[0], groups, scale)
	return 8 * groups
}

func truncateFast(dst []int64, x []float32, scale float64) int {
	groups := len(dst) / 8
	if !hasAVX512 || groups == 0 {
		return 0
	}
	truncateAVX512(&dst[0], &x[0], groups, scale)
	return 8 * groups
}

func addClampedFast(sum, x []int64, limit int64) int {
	groups := len(sum) / 8
	if !hasAVX512 || groups == 0 {
		return 0
	}
	addClampedAVX512(&sum[0], &x[0], groups, limit)
	return 8 * groups
}

func addWrappedFast(sum, x []int64, half, mask int64) int {
	groups := len(sum) / 8
	switch {
	case groups == 0:
		return 0
	case hasAVX512:
		addWrappedAVX512(&sum[0], &x[0], groups, half, mask)
	case hasAVX2:
		addWrappedAVX2(&sum[0], &x[0], groups, half, mask)
	default:
		return 0
	}
	return 8 * groups
}

func sumSquaresFast(x []float32) (sum float64, ok bool) {
	switch {
	case hasAVX512:
		return sumSquaresAVX512(unsafe.SliceData(x), len(x)), true
	case hasAVX2:
		return sumSquaresAVX2(unsafe.SliceData(x), len(x)), true
	}
	return 0, false
}

func addSquaresFast(sums *Squares, x []float32) bool {
	switch {
	case hasAVX512:
		addSquaresAVX512(unsafe.SliceData(x), len(x), sums)
	case hasAVX2:
		addSquaresAVX2(unsafe.SliceData(x), len(x), sums)
	default:
		return false
	}
	return true
}

func roughRowsFast(sums []float64, x []float32, columns int) bool {
	switch {
	case hasAVX512:
		roughRowsAVX512(&sums[0], &x[0], len(sums), columns)
	case hasAVX2:
		roughRowsAVX2(&sums[0], &x[0], len(sums), columns)
	default:
		return false
	}
	return true
}
