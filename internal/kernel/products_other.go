//go:build !amd64

package kernel

func tileShape() (rows, width int) { return plainRows, plainWidth }

func panel(m, k, runs, jump int, a, b, c operand, width int, add bool) {
	panelPlain(m, k, runs, jump, a, b, c, width, add)
}
