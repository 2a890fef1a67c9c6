//go:build !amd64

package kernel

func addAliasedFast(*Aliased, []int64, []byte, []byte) int { return 0 }

func normal32Fast([]float32, []byte) bool { return false }

func keystreamFast([]byte, *[15][16]byte, uint64) {
	panic("kernel: internal error: no fast keystream on this processor")
}

func subWord(uint32) uint32 { panic("kernel: internal error: no fast keystream on this processor") }

func addKeystream32(*uint32, int, *[15][16]byte, uint64, uint64)      { subWord(0) }
func subtractKeystream32(*uint32, int, *[15][16]byte, uint64, uint64) { subWord(0) }
func addKeystream64(*uint64, int, *[15][16]byte, uint64, uint64)      { subWord(0) }
func subtractKeystream64(*uint64, int, *[15][16]byte, uint64, uint64) { subWord(0) }

func roundFast([]int64, []float32, float64, []byte) int { return 0 }

func addNearestFast([]int64, []float32, float64) int { return 0 }

func addNearest64Fast([]int64, []float64, float64) int { return 0 }

func truncateFast([]int64, []float32, float64) int { return 0 }

func addClampedFast([]int64, []int64, int64) int { return 0 }

func addWrappedFast([]int64, []int64, int64, int64) int { return 0 }

func sumSquaresFast([]float32) (float64, bool) { return 0, false }

func addSquaresFast(*Squares, []float32) bool { return false }

func roughRowsFast([]float64, []float32, int) bool { return false }

func drawAliasedFast(*Keystream, *Aliased, []int64, []byte, []byte) bool { return false }

func drawNormal32Fast(*Keystream, []float32, []byte) bool { return false }
