package kernel

import (
	"fmt"
	"unsafe"
)

const (
	// dotsDepth is how many elements of the rows meet before the next rows do: four rows of A of that length stay in the first cache.
	dotsDepth = 512
	// dotsRows is how many rows of B stay in the second cache at that depth.
	dotsRows = 96
	// dotsGap keeps packed rows from crowding the same sets of the cache.
	dotsGap = 8
)

// AddDots64 adds factor·A·Bᵀ to C: element (i, j) gets factor times the inner product of row i of A and row j of B. C is m×n, A is m×k, B
// is n×k; each has so many elements from row to row. C shares no memory with A or B.
//
// An element's bits depend on its two rows and the processor's instructions, not on m, n or the strides.
func AddDots64(c []float64, ldc int, factor float64, a []float64, lda int, b []float64, ldb int, m, n, k int) {
	addDots64(c, ldc, factor, a, lda, b, ldb, m, n, k, false)
}

// AddGram64 adds factor·A·Aᵀ to the lower triangle of C, its diagonal included, and up to three elements of each row beyond it.
func AddGram64(c []float64, ldc int, factor float64, a []float64, lda int, m, k int) {
	addDots64(c, ldc, factor, a, lda, a, lda, m, m, k, true)
}

// AddLowerDots64 is [AddDots64] for a square C whose lower triangle is wanted only, as AddGram64 has it.
func AddLowerDots64(c []float64, ldc int, factor float64, a []float64, lda int, b []float64, ldb int, m, k int) {
	addDots64(c, ldc, factor, a, lda, b, ldb, m, m, k, true)
}

func addDots64(c []float64, ldc int, factor float64, a []float64, lda int, b []float64, ldb int, m, n, k int, lower bool) {
	if m <= 0 || n <= 0 || k <= 0 {
		return
	}
	if ldc < n || lda < k && m > 1 || ldb < k && n > 1 {
		panic(fmt.Sprintf("kernel: internal error: inner products of %d×%d and %d×%d with rows of %d, %d and %d elements", m, k, n, k, ldc, lda, ldb))
	}
	_, _, _ = c[(m-1)*ldc+n-1], a[(m-1)*lda+k-1], b[(n-1)*ldb+k-1]
	same := &a[0] == &b[0] && lda == ldb
	// Pieces of long rows lie far apart, where neither caches nor their foresight do well. Copying them pays if they are used often.
	packing := k > 2*dotsDepth && min(m, n) >= 32
	const ldPacked = dotsDepth + dotsGap
	var packedA, packedB []float64
	if packing {
		packedA = make([]float64, m*ldPacked)
		packedB = packedA
		if !same {
			packedB = make([]float64, n*ldPacked)
		}
	}
	for at := 0; at < k; at += dotsDepth {
		depth := min(dotsDepth, k-at)
		piece := dots{c, ldc, a[at:], lda, b[at:], ldb, m, n, depth, factor, lower}
		if packing {
			packRows64(packedA, ldPacked, a[at:], lda, m, depth)
			if !same {
				packRows64(packedB, ldPacked, b[at:], ldb, n, depth)
			}
			piece.a, piece.lda, piece.b, piece.ldb = packedA, ldPacked, packedB, ldPacked
		}
		piece.add()
	}
}

// dots are inner products of rows short enough for the cache.
type dots struct {
	c       []float64
	ldc     int
	a       []float64
	lda     int
	b       []float64
	ldb     int
	m, n, k int
	factor  float64
	lower   bool
}

func (d *dots) add() {
	var rowsA, rowsB [4]*float64
	var sums [16]float64
	for from := 0; from < d.n; from += dotsRows {
		to := min(from+dotsRows, d.n)
		for i := 0; i < d.m; i += 4 {
			if d.lower && i+4 <= from {
				continue
			}
			for r := range rowsA { // missing rows are computed as copies of the last, and not stored
				rowsA[r] = &d.a[min(i+r, d.m-1)*d.lda]
			}
			for j := from; j < to && !(d.lower && j >= i+4); j += 4 {
				for r := range rowsB {
					rowsB[r] = &d.b[min(j+r, to-1)*d.ldb]
				}
				dots4x4(&sums, &rowsA, &rowsB, d.k)
				for r := range min(4, d.m-i) {
					row := d.c[(i+r)*d.ldc+j:]
					for s := range min(4, to-j) {
						row[s] += d.factor * sums[4*r+s]
					}
				}
			}
		}
	}
}

// packRows64 copies the first elements of rows.
func packRows64(dst []float64, ldDst int, rows []float64, ld, count, depth int) {
	for i := range count {
		copy(dst[i*ldDst:], rows[i*ld:i*ld+depth])
	}
}

// dots4x4 sets the inner products of four rows with four.
func dots4x4(sums *[16]float64, a, b *[4]*float64, k int) {
	done := dots4x4Fast(sums, a, b, k)
	if done == 0 {
		clear(sums[:])
	}
	if done == k {
		return
	}
	var restB [4][]float64
	for j := range b {
		restB[j] = unsafe.Slice(b[j], k)[done:]
	}
	for i := range a {
		rest := unsafe.Slice(a[i], k)[done:]
		b0, b1, b2, b3 := restB[0][:len(rest)], restB[1][:len(rest)], restB[2][:len(rest)], restB[3][:len(rest)]
		var s0, s1, s2, s3 float64
		for l, x := range rest {
			s0 += x * b0[l]
			s1 += x * b1[l]
			s2 += x * b2[l]
			s3 += x * b3[l]
		}
		sums[4*i] += s0
		sums[4*i+1] += s1
		sums[4*i+2] += s2
		sums[4*i+3] += s3
	}
}
