//go:build !amd64

package kernel

func decayFast(_ []float32, _, _ float32, _ []float32) int { return 0 }

func decaySquaresFast(_ []float32, _, _ float32, _ []float32) int { return 0 }

func descendFast(_, _, _ []float32, _, _, _ float32) int { return 0 }
