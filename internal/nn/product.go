package nn

// View, Workspace: the naive product, until the fast one is there.

type View struct {
	Data     []float32
	Row, Col int
}

type Workspace struct{}

func (w *Workspace) Multiply(c []float32, ldc int, a, b View, m, n, k int, add bool) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if !add {
			clear(row)
		}
		for l := range k {
			x := a.Data[i*a.Row+l*a.Col]
			for j := range row {
				row[j] += x * b.Data[l*b.Row+j*b.Col]
			}
		}
	}
}
