package kernel

//go:generate sh -c "go run generate_products.go > products_amd64.s"

// panelAVX512 and panelAVX2 set m×width of C, width being at most 32 or 16. There are runs of k steps, with a jump in A between them.
// Strides are in bytes; B's columns are adjacent.
//
//go:noescape
func panelAVX512(m, k int, a *float32, rowA, colA int, b *float32, rowB int, c *float32, rowC, width, add, runs, jump int)

//go:noescape
func panelAVX2(m, k int, a *float32, rowA, colA int, b *float32, rowB int, c *float32, rowC, width, add, runs, jump int)

func tileShape() (rows, width int) {
	switch {
	case hasAVX512:
		return 12, 32
	case hasAVX2:
		return 6, 16
	}
	return plainRows, plainWidth
}

// panel sets, or adds to, the m×width elements of C. There are runs of k steps: from one to the next A goes on jump elements further.
func panel(m, k, runs, jump int, a, b, c operand, width int, add bool) {
	adding := 0
	if add {
		adding = 1
	}
	switch {
	case hasAVX512:
		panelAVX512(m, k, (*float32)(a.data), 4*a.row, 4*a.col, (*float32)(b.data), 4*b.row, (*float32)(c.data), 4*c.row, width, adding, runs, 4*jump)
	case hasAVX2:
		panelAVX2(m, k, (*float32)(a.data), 4*a.row, 4*a.col, (*float32)(b.data), 4*b.row, (*float32)(c.data), 4*c.row, width, adding, runs, 4*jump)
	default:
		panelPlain(m, k, runs, jump, a, b, c, width, add)
	}
}
