package kernel

import (
	"fmt"
	"unsafe"
)

// View is a matrix inside a slice: element (i, j) is Data[i·Row + j·Col]. Swapping the two strides transposes it.
//
// With Run above zero its columns come in runs of so many, which begin Next elements apart: element (i, j) is
// Data[i·Row + (j mod Run)·Col + (j div Run)·Next]. So the pixels under a window are a row of a matrix, and are not copied. Only the
// left factor of [Workspace.Multiply] may be so.
type View struct {
	Data      []float32
	Row, Col  int
	Run, Next int
}

// Workspace is the packing memory of matrix products. Its zero value is ready; one goroutine uses it at a time.
type Workspace struct {
	a, b   []float32
	shared *shared // of products by a crew
}

const (
	// maxDepth is how many steps of k are added up in registers: a panel of B of that depth stays in the first cache.
	maxDepth = 320
	// bandRows is how many rows of A meet one panel of B before the next: at that depth they stay in the second cache.
	bandRows = 240
)

// Multiply sets C = A·B, or adds A·B to C. C is m×n with ldc elements from row to row, A is m×k and B is k×n. C shares no memory
// with A or B.
//
// An element's bits depend on its row of A, its column of B, A's runs, and the processor's instructions; not on m, n or the strides.
func (w *Workspace) Multiply(c []float32, ldc int, a, b View, m, n, k int, add bool) {
	if !checkProduct(c, ldc, a, b, m, n, k, add) {
		return
	}
	if a.Run > maxDepth {
		w.runByRun(c, ldc, a, b, m, n, k, add)
		return
	}
	p := newProduct(c, ldc, a, b, m, n, k, add)
	for at := 0; at < k; at += p.depth {
		depth := min(p.depth, k-at)
		panels := p.b.from(at, 0)
		if p.packB {
			w.b = grown(w.b, depth*p.packedColumns())
			p.pack(w.b, at, depth, 0, n)
			panels = p.packed(w.b, depth)
		}
		for i := 0; i < m; i += bandRows {
			p.band(w, panels, at, depth, i, min(i+bandRows, m), 0, n)
		}
	}
}

// runByRun multiplies runs so long that each is cut by itself.
func (w *Workspace) runByRun(c []float32, ldc int, a, b View, m, n, k int, add bool) {
	for at := 0; at < k; at += a.Run {
		w.Multiply(c, ldc, View{Data: a.Data[at/a.Run*a.Next:], Row: a.Row, Col: a.Col}, View{Data: b.Data[at*b.Row:], Row: b.Row, Col: b.Col}, m, n, a.Run, add || at > 0)
	}
}

// checkProduct panics if a matrix does not fit its slice. It settles products of nothing and says if there is more to do.
func checkProduct(c []float32, ldc int, a, b View, m, n, k int, add bool) bool {
	if m|n|k|a.Row|a.Col|a.Run|a.Next|b.Row|b.Col < 0 || ldc < n || b.Run != 0 || a.Run > 0 && k%a.Run != 0 {
		panic(fmt.Sprintf("kernel: internal error: a product of %d×%d by %d×%d, with %d elements in a row of the result", m, k, k, n, ldc))
	}
	if m == 0 || n == 0 {
		return false
	}
	_ = c[(m-1)*ldc+n-1]
	if k == 0 {
		for i := 0; i < m && !add; i++ {
			clear(c[i*ldc : i*ldc+n])
		}
		return false
	}
	if a.Run > 0 {
		_ = a.Data[(m-1)*a.Row+(a.Run-1)*a.Col+(k/a.Run-1)*a.Next]
	} else {
		_ = a.Data[(m-1)*a.Row+(k-1)*a.Col]
	}
	_ = b.Data[(k-1)*b.Row+(n-1)*b.Col]
	return true
}

// operand is a View whose bounds were checked.
type operand struct {
	data     unsafe.Pointer
	row, col int
}

func (o operand) from(i, j int) operand {
	o.data = unsafe.Add(o.data, 4*(i*o.row+j*o.col))
	return o
}

// product is one product and how it is cut: into parts of k, panels of B, tiles of C.
type product struct {
	c, a, b             operand
	m, n, k             int
	run, jump           int // steps of a run of A's columns, and elements from the end of one to the next; no run: all is one
	add                 bool
	depth               int // steps of k at a time; a function of k alone, so that the order of sums is
	tileRows, tileWidth int
	packA, packB        bool
}

func newProduct(c []float32, ldc int, a, b View, m, n, k int, add bool) product {
	p := product{
		c: operand{unsafe.Pointer(unsafe.SliceData(c)), ldc, 1},
		a: operand{unsafe.Pointer(unsafe.SliceData(a.Data)), a.Row, a.Col},
		b: operand{unsafe.Pointer(unsafe.SliceData(b.Data)), b.Row, b.Col},
		m: m, n: n, k: k, run: a.Run, jump: a.Next - a.Run*a.Col, add: add,
	}
	unit := max(1, a.Run) // what is not cut
	most := maxDepth / unit * unit
	parts := (k + most - 1) / most
	p.depth = (k/unit + parts - 1) / parts * unit
	p.tileRows, p.tileWidth = tileShape()
	// Rows of B that are far apart crowd the same sets of the cache, and copying them pays if enough rows of A use the copy.
	p.packB = b.Col != 1 || m > 2*p.tileRows && (n > 4*p.tileWidth || b.Row%256 == 0)
	p.packA = n > 2*p.tileWidth && a.Row%256 == 0 && a.Run == 0
	return p
}

// packedColumns is n, filled up to whole panels.
func (p *product) packedColumns() int { return (p.n + p.tileWidth - 1) / p.tileWidth * p.tileWidth }

// pack copies rows at to at+depth of columns [from, to) of B into dst, panel after panel. from is the first column of a panel.
func (p *product) pack(dst []float32, at, depth, from, to int) {
	for j := from; j < to; j += p.tileWidth {
		pack(dst[j*depth:], p.tileWidth, p.b.from(at, j), depth, min(p.tileWidth, to-j))
	}
}

// packed is the view of what pack left, for whole panels only: a panel begins where its first column does.
func (p *product) packed(panels []float32, depth int) operand {
	return operand{unsafe.Pointer(unsafe.SliceData(panels)), p.tileWidth, depth}
}

// band sets rows [top, bottom) and columns [from, to) of C to the product of depth steps, beginning with step at. from is the first
// column of a panel.
func (p *product) band(w *Workspace, panels operand, at, depth, top, bottom, from, to int) {
	a, rows := p.a.from(top, at), bottom-top
	steps, runs := depth, 1
	if p.run > 0 {
		a = operand{unsafe.Add(a.data, 4*(at/p.run)*p.jump), a.row, a.col}
		steps, runs = p.run, depth/p.run
	}
	if p.packA {
		w.a = grown(w.a, bandRows*(maxDepth+gap))
		a = spread(w.a, a, rows, depth)
	}
	for j := from; j < to; j += p.tileWidth {
		panel(rows, steps, runs, p.jump, a, panels.from(0, j), p.c.from(top, j), min(p.tileWidth, to-j), p.add || at > 0)
	}
}

// gap keeps the rows of a packed band from crowding the same sets of the cache.
const gap = 16

// spread copies rows×depth of A, its neighbours staying neighbours, so that lines are far enough apart.
func spread(dst []float32, a operand, rows, depth int) operand {
	to := operand{unsafe.Pointer(unsafe.SliceData(dst)), maxDepth + gap, 1}
	if a.col == 1 {
		pack(dst, to.row, a, rows, depth)
		return to
	}
	to.row, to.col = 1, bandRows
	pack(dst, to.col, operand{a.data, a.col, a.row}, depth, rows)
	return to
}

// pack copies rows of width elements of x, ld apart in dst.
func pack(dst []float32, ld int, x operand, rows, width int) {
	_ = dst[(rows-1)*ld+width-1]
	if x.col == 1 {
		for i := range rows {
			copy(dst[i*ld:i*ld+width], unsafe.Slice((*float32)(x.from(i, 0).data), width))
		}
		return
	}
	done, columns := 0, 0
	if x.row == 1 {
		done, columns = transposeFast(dst, ld, (*float32)(x.data), x.col, rows, width)
	}
	if columns < width {
		packPlain(dst[columns:], ld, x.from(0, columns), rows, width-columns)
	}
	if done < rows && columns > 0 {
		packPlain(dst[done*ld:], ld, x.from(done, 0), rows-done, columns)
	}
}

// Transpose turns rows of so many columns into columns.
func Transpose(dst, src []float32, columns int) {
	if len(src) == 0 {
		return
	}
	rows := len(src) / columns
	pack(dst, rows, operand{unsafe.Pointer(unsafe.SliceData(src)), 1, columns}, columns, rows)
}

// packPlain is pack for any strides.
func packPlain(dst []float32, ld int, x operand, rows, width int) {
	base, across := unsafe.Pointer(unsafe.SliceData(dst)), 4*x.col
	j := 0
	for ; j+4 <= width; j += 4 { // four columns at a time: their elements lie side by side in dst
		for i := range rows {
			to, from := (*[4]float32)(unsafe.Add(base, 4*(i*ld+j))), unsafe.Add(x.data, 4*(i*x.row+j*x.col))
			to[0] = *(*float32)(from)
			to[1] = *(*float32)(unsafe.Add(from, across))
			to[2] = *(*float32)(unsafe.Add(from, 2*across))
			to[3] = *(*float32)(unsafe.Add(from, 3*across))
		}
	}
	for ; j < width; j++ {
		for i := range rows {
			dst[i*ld+j] = *(*float32)(x.from(i, j).data)
		}
	}
}

func grown(x []float32, n int) []float32 {
	if cap(x) < n {
		return make([]float32, n)
	}
	return x[:n]
}
