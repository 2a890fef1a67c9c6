package kernel

// Crew does tasks, several at once if it can. The caller has one: this package starts no goroutine.
type Crew interface {
	// Size is how many tasks may run at once.
	Size() int
	// Do calls task(worker, i) for each i below tasks, with workers below Size that are never used twice at once, and returns when all are done.
	Do(tasks int, task func(worker, i int))
}

// MultiplyParallel is [Workspace.Multiply] by a crew, or by the caller alone if there is none. The bits are the same.
//
// They pack B together, once, and then share out the tiles of C.
func (w *Workspace) MultiplyParallel(c []float32, ldc int, a, b View, m, n, k int, add bool, crew Crew) {
	// Some 7 microseconds of one thread. A crew that is awake takes 2 to begin and to end.
	const worthIt = 1 << 19
	if crew == nil || crew.Size() < 2 || m*n*k < worthIt {
		w.Multiply(c, ldc, a, b, m, n, k, add)
		return
	}
	w.share(c, ldc, a, b, m, n, k, add, crew)
}

func (w *Workspace) share(c []float32, ldc int, a, b View, m, n, k int, add bool, crew Crew) {
	if !checkProduct(c, ldc, a, b, m, n, k, add) {
		return
	}
	if a.Run > maxDepth {
		w.runByRun(c, ldc, a, b, m, n, k, add)
		return
	}
	if w.shared == nil {
		w.shared = newShared()
	}
	s := w.shared
	if len(s.workers) < crew.Size() {
		s.workers = make([]Workspace, crew.Size())
	}
	s.product = newProduct(c, ldc, a, b, m, n, k, add)
	s.cut(crew.Size())
	for s.at = 0; s.at < k; s.at += s.deep {
		s.deep = min(s.deep, k-s.at)
		if s.packB {
			w.b = grown(w.b, s.deep*s.packedColumns())
			s.panels = w.b
			crew.Do(s.parts()*s.packedColumns()/s.tileWidth, s.packTask)
		}
		crew.Do(s.bands*s.strips, s.multiplyTask)
	}
	s.product, s.panels = product{}, nil // the caller's memory is not ours to keep
}

// shared is a product that a crew works on, and how it is cut into tasks.
type shared struct {
	product
	at, deep      int       // the steps of k that are worked on: whole parts of depth
	panels        []float32 // of B, packed: part after part
	bands, strips int       // the pieces of C, down and across: whole tiles
	workers       []Workspace

	packTask, multiplyTask func(worker, i int) // made once: a function made for each product would be an allocation
}

func newShared() *shared {
	s := &shared{}
	s.packTask, s.multiplyTask = s.packPanel, s.multiplyPiece
	return s
}

// sharedPanels is how many elements of B are packed at a time, at least one part of k: half of a second cache of 2 MiB, where they
// stay while bands of A go by.
const sharedPanels = 1 << 18

// cut chooses the pieces: bands of rows, or strips of columns where rows are few; the same number for each worker, and more than one,
// so that one who is late holds the others up less. Each piece reads all of B: more would be slower.
func (s *shared) cut(workers int) {
	s.deep = max(sharedPanels/(s.packedColumns()*s.depth), 1) * s.depth
	const each = 2
	down, across := (s.m+s.tileRows-1)/s.tileRows, s.packedColumns()/s.tileWidth
	s.bands, s.strips = min(down, each*workers), 1
	if down < 2*workers {
		s.bands, s.strips = 1, min(across, each*workers)
	}
	most := bandRows / s.tileRows // tiles of a band, or packed rows of A would not fit
	if least := (down + most - 1) / most; least > s.bands {
		s.bands = (least + workers - 1) / workers * workers
	}
}

// parts is how many parts of k are worked on.
func (s *shared) parts() int { return (s.deep + s.depth - 1) / s.depth }

// part is the steps of k of one of them, and its packed panels.
func (s *shared) part(i int) (at, depth int, panels []float32) {
	at = s.at + i*s.depth
	if s.packB {
		panels = s.panels[i*s.depth*s.packedColumns():]
	}
	return at, min(s.depth, s.k-at), panels
}

func (s *shared) packPanel(_, i int) {
	at, depth, panels := s.part(i % s.parts())
	from := i / s.parts() * s.tileWidth
	s.pack(panels, at, depth, from, min(from+s.tileWidth, s.n))
}

func (s *shared) multiplyPiece(worker, i int) {
	top, bottom := share(i/s.strips, s.bands, s.m, s.tileRows)
	from, to := share(i%s.strips, s.strips, s.n, s.tileWidth)
	for part := range s.parts() {
		at, depth, packed := s.part(part)
		panels := s.b.from(at, 0)
		if s.packB {
			panels = s.packed(packed, depth)
		}
		s.band(&s.workers[worker], panels, at, depth, top, bottom, from, to)
	}
}

// share is the i-th of so many shares of a length: whole units, as even as can be.
func share(i, shares, length, unit int) (from, to int) {
	units := (length + unit - 1) / unit
	return units * i / shares * unit, min(units*(i+1)/shares*unit, length)
}
