package kernel

import (
	"sync"
	"sync/atomic"
)

// MultiplyParallel is [Workspace.Multiply] by up to so many goroutines, which end before it returns. The bits are the same.
//
// They pack B together, once, and then share out the tiles of C.
func (w *Workspace) MultiplyParallel(c []float32, ldc int, a, b View, m, n, k int, add bool, workers int) {
	// Another processor joins in after some 50 microseconds, the pause that Go's scheduler makes before it hands over the newest
	// goroutine: by then one thread alone is done with fewer multiplications than these.
	const worthIt = 1 << 22
	if workers < 2 || m*n*k < worthIt {
		w.Multiply(c, ldc, a, b, m, n, k, add)
		return
	}
	w.share(c, ldc, a, b, m, n, k, add, workers)
}

func (w *Workspace) share(c []float32, ldc int, a, b View, m, n, k int, add bool, workers int) {
	if !checkProduct(c, ldc, a, b, m, n, k, add) {
		return
	}
	p := newProduct(c, ldc, a, b, m, n, k, add)
	if p.packB {
		w.b = grown(w.b, k*p.packedColumns())
	}
	if len(w.helpers) < workers {
		w.helpers = make([]Workspace, workers)
	}
	s := p.pieces(workers)
	s.packed.Add(s.toPack)
	var all sync.WaitGroup
	for i := 1; i < workers; i++ {
		all.Go(func() { s.work(&p, w.b, &w.helpers[i]) })
	}
	s.work(&p, w.b, &w.helpers[0])
	all.Wait()
}

// shared is what the goroutines of a product take their work from.
type shared struct {
	toPack      int // panels of B
	rows, width int // of the pieces of C
	pieces      int
	packed      sync.WaitGroup
	nextPanel   atomic.Int64
	nextPiece   atomic.Int64
}

// pieces cuts C into bands of whole tiles, or into columns where there are few rows; about four for each worker, so that one who
// wakes late holds nobody up.
func (p *product) pieces(workers int) *shared {
	s := &shared{}
	if p.packB {
		s.toPack = p.packedColumns() / p.tileWidth
	}
	cut := func(length, unit int) int {
		units := (length + unit - 1) / unit
		return max(units/(4*workers), 1) * unit
	}
	s.rows, s.width = min(cut(p.m, p.tileRows), bandRows), p.n
	if p.m < 2*workers*p.tileRows {
		s.rows, s.width = p.m, cut(p.n, p.tileWidth)
	}
	s.pieces = ((p.m + s.rows - 1) / s.rows) * ((p.n + s.width - 1) / s.width)
	return s
}

func (s *shared) work(p *product, packedB []float32, w *Workspace) {
	for j := int(s.nextPanel.Add(1)) - 1; j < s.toPack; j = int(s.nextPanel.Add(1)) - 1 {
		for at := 0; at < p.k; at += p.depth {
			p.pack(packedB[at*p.packedColumns():], at, min(p.depth, p.k-at), j*p.tileWidth, min((j+1)*p.tileWidth, p.n))
		}
		s.packed.Done()
	}
	s.packed.Wait()
	across := (p.n + s.width - 1) / s.width
	for i := int(s.nextPiece.Add(1)) - 1; i < s.pieces; i = int(s.nextPiece.Add(1)) - 1 {
		top, from := i/across*s.rows, i%across*s.width
		for at := 0; at < p.k; at += p.depth {
			depth := min(p.depth, p.k-at)
			panels := p.b.from(at, 0)
			if s.toPack > 0 {
				panels = p.packed(packedB[at*p.packedColumns():], depth)
			}
			p.band(w, panels, at, depth, top, min(top+s.rows, p.m), from, min(from+s.width, p.n))
		}
	}
}
