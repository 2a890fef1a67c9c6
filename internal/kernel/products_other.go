//go:build !amd64

package kernel

func tileShape() (rows, width int) { return plainRows, plainWidth }

func panel(m, k int, a, b, c operand, width int, add bool) { panelPlain(m, k, a, b, c, width, add) }
