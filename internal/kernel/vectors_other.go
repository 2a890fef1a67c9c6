//go:build !amd64

package kernel

func hadamardBlocksFast([]float32) int { return 0 }

func hadamardRowsFast([]float32, int, int) int { return 0 }

func signedFast(_, _, _ []float32, _ float32) int { return 0 }

func finiteFast([]float32) (int, bool) { return 0, true }

func unwrapFast([]float32, []int64, int64, int64, float64) int { return 0 }

func transposeFast([]float32, int, *float32, int, int, int) (int, int) { return 0, 0 }
