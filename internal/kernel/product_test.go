package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"hubbub/internal/crew"
)

// shape is a product as a test makes it: strides beyond the dense ones, transposed or not, at odd offsets.
type shape struct {
	m, n, k           int
	transA, transB    bool
	extraA, extraB    int // unused elements at the end of a row
	extraC            int
	offset            int // of every matrix in its slice
	between           int // unused elements after each of A and B
	add               bool
	special           float32 // one element of A, if not zero
	specialI, workers int
	run               int // columns of A in a run, with a gap between runs; k is whole runs
}

// view is rows×columns, transposed in memory or not, in runs or not.
func (s shape) view(r *rand.Rand, rows, columns, extra int, transposed bool, run int) View {
	step := 1 + s.between
	v := View{Row: (columns + extra) * step, Col: step}
	if transposed {
		v = View{Row: step, Col: (rows + extra) * step}
	}
	if rows*columns == 0 {
		return v
	}
	if run > 0 {
		v.Run, v.Next = run, run*v.Col+5
	}
	length := (rows-1)*v.Row + v.column(columns-1) + 1 // not an element more than needed
	v.Data = make([]float32, s.offset+length)[s.offset : s.offset+length : s.offset+length]
	for i := range v.Data {
		v.Data[i] = float32(r.NormFloat64())
	}
	return v
}

// column is where column j begins.
func (v View) column(j int) int {
	if v.Run == 0 {
		return j * v.Col
	}
	return j%v.Run*v.Col + j/v.Run*v.Next
}

// untouched marks what a product must leave alone.
const untouched = 12345

// check compares a product with the definition in float64, and gives its bits.
func (s shape) check(t *testing.T, w *Workspace, seed uint64) []float32 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	if s.run > 0 {
		s.k -= s.k % s.run
	}
	a, b := s.view(r, s.m, s.k, s.extraA, s.transA, s.run), s.view(r, s.k, s.n, s.extraB, s.transB, 0)
	if s.special != 0 && s.m*s.k > 0 {
		i := s.specialI % (s.m * s.k)
		a.Data[i/s.k*a.Row+a.column(i%s.k)] = s.special
	}
	ldc := s.n + s.extraC
	const margin = 70
	whole := make([]float32, margin+s.offset+s.m*ldc+margin)
	for i := range whole {
		whole[i] = untouched
	}
	c := whole[margin+s.offset : len(whole)-margin]
	want, size := make([]float64, s.m*s.n), make([]float64, s.m*s.n)
	for i := range s.m {
		for j := range s.n {
			at := i*s.n + j
			c[i*ldc+j] = float32(r.NormFloat64())
			if s.add {
				want[at] = float64(c[i*ldc+j])
			} else {
				c[i*ldc+j] = float32(math.NaN()) // must not be read
			}
			size[at] = math.Abs(want[at])
			for l := range s.k {
				x := float64(a.Data[i*a.Row+a.column(l)]) * float64(b.Data[l*b.Row+j*b.Col])
				want[at] += x
				size[at] += math.Abs(x)
			}
		}
	}
	if s.workers > 0 {
		workers := crew.New(s.workers)
		w.share(c, ldc, a, b, s.m, s.n, s.k, s.add, workers) // whatever the size
		workers.Close()
	} else {
		w.Multiply(c, ldc, a, b, s.m, s.n, s.k, s.add)
	}
	for i, x := range whole {
		at := i - margin - s.offset
		if at < 0 || at >= s.m*ldc || at%ldc >= s.n {
			if x != untouched {
				t.Fatalf("%+v: element %d outside of C was written", s, at)
			}
			continue
		}
		exact := at/ldc*s.n + at%ldc
		// k+1 roundings of 2^-24 each, at worst.
		allowed := float64(s.k+1) * 0x1p-24 * size[exact]
		got := float64(x)
		same := math.Abs(got-want[exact]) <= allowed || got == want[exact] || math.IsNaN(got) && math.IsNaN(want[exact])
		if !same {
			t.Fatalf("%+v: element (%d, %d) is %g, the definition gives %g", s, at/ldc, at%ldc, got, want[exact])
		}
	}
	return slices.Clone(c)
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func TestEveryVersionMultipliesAtEveryEdge(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	var shapes []shape
	for m := range 7 { // every small shape, as the three products of a layer: forward, gradient, backward
		for n := range 10 {
			for k := range 10 {
				shapes = append(shapes, shape{m: m, n: n, k: k}, shape{m: m, n: n, k: k, transA: true, add: true}, shape{m: m, n: n, k: k, transB: true})
			}
		}
	}
	for m := range 27 { // every height of a tile
		shapes = append(shapes, shape{m: m, n: 33, k: 5}, shape{m: m, n: 7, k: 4, add: true, extraA: 1, extraB: 2, extraC: 3, offset: 1})
	}
	for n := range 70 { // every width of a panel
		shapes = append(shapes, shape{m: 13, n: n, k: 3, add: n%2 == 0, extraC: n % 3}, shape{m: 30, n: n, k: 6, transB: true})
	}
	for _, k := range []int{0, 1, 2, 3, 255, 256, 257, 513, 784} { // every part of k
		shapes = append(shapes, shape{m: 25, n: 34, k: k, transA: true}, shape{m: 25, n: 70, k: k, transB: true, add: true})
	}
	shapes = append(shapes,
		shape{m: 250, n: 70, k: 256, extraA: 0}, // rows of A that crowd a cache
		shape{m: 241, n: 100, k: 40, transA: true, transB: true},
		shape{m: 30, n: 256, k: 300, extraB: 0},
		shape{m: 14, n: 40, k: 300, special: nan, specialI: 3000},
		shape{m: 14, n: 40, k: 300, special: inf, specialI: 777, transB: true},
		shape{m: 14, n: 5, k: 10, special: nan, add: true},
		shape{m: 50, n: 70, k: 128, between: 1}, shape{m: 50, n: 70, k: 20, between: 2, transA: true, transB: true, add: true},
		shape{m: 250, n: 70, k: 256, between: 1},             // neither rows nor columns of A are adjacent, and rows crowd
		shape{m: 256, n: 70, k: 30, transA: true, add: true}, // columns of A crowd
	)
	for m := 1; m < 27; m++ { // every height, with runs of odd and even length
		shapes = append(shapes, shape{m: m, n: 33, k: 9, run: 3}, shape{m: m, n: 7, k: 40, run: 8, transA: true, add: true}, shape{m: m, n: 70, k: 5, run: 1})
	}
	for _, run := range []int{26, 96, 319, 320, 321, 400} { // several in a part of k, one, and less
		shapes = append(shapes, shape{m: 25, n: 34, k: 3 * run, run: run, transA: true}, shape{m: 25, n: 70, k: 15 * run, run: run, transB: true, add: true})
	}
	for _, v := range versions() {
		v.with(func() {
			var w Workspace
			for i, s := range shapes {
				s.check(t, &w, uint64(i))
			}
		})
	}
}

func TestProductsHaveTheSameBitsOnAnyNumberOfThreadsAndWithEitherVectors(t *testing.T) {
	shapes := []shape{
		{m: 60, n: 40, k: 330}, {m: 150, n: 40, k: 60, transA: true, add: true}, {m: 60, n: 150, k: 40, transB: true},
		{m: 10, n: 900, k: 40}, {m: 250, n: 5, k: 300, transB: true}, {m: 49, n: 67, k: 256, extraC: 2, offset: 3},
		{m: 4, n: 500, k: 700, transB: true}, // more of B than is packed at a time
		{m: 60, n: 40, k: 676, run: 26}, {m: 60, n: 40, k: 700, run: 350},
	}
	for i, s := range shapes {
		fused := map[bool][]float32{}
		for _, v := range versions() {
			v.with(func() {
				var w Workspace
				want := s.check(t, &w, uint64(i))
				for workers := 1; workers < 6; workers++ {
					s.workers = workers
					if !sameBits(s.check(t, &w, uint64(i)), want) {
						t.Errorf("%s: %+v: other bits than on one thread", v.name, s)
					}
				}
				s.workers = 0
				if before := fused[v.name != "generic"]; before != nil && !sameBits(before, want) {
					t.Errorf("%s: %+v: other bits than with narrower vectors", v.name, s)
				}
				fused[v.name != "generic"] = want
			})
		}
	}
}

func TestPackingGoesByTheDefinitionAtEveryEdge(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for _, v := range versions() {
		v.with(func() {
			for _, strides := range [][2]int{{40, 1}, {1, 50}, {3, 160}} {
				for rows := 1; rows < 50; rows += 3 {
					for width := 1; width <= 40; width++ {
						const ld = 41
						x, dst := View{Data: random(r, 50*40*4), Row: strides[0], Col: strides[1]}, make([]float32, 50*ld)
						for i := range dst {
							dst[i] = untouched
						}
						pack(dst, ld, operand{unsafe.Pointer(&x.Data[0]), x.Row, x.Col}, rows, width)
						for i, got := range dst {
							want := float32(untouched)
							if i/ld < rows && i%ld < width {
								want = x.Data[i/ld*x.Row+i%ld*x.Col]
							}
							if got != want {
								t.Fatalf("%s: %d×%d with strides %v: element (%d, %d) is %g, want %g", v.name, rows, width, strides, i/ld, i%ld, got, want)
							}
						}
					}
				}
			}
		})
	}
}

func TestAParallelProductIsTheProduct(t *testing.T) {
	const m, n, k = 200, 160, 140 // large enough to be shared
	r := rand.New(rand.NewPCG(8, 9))
	a, b, c, want := View{Data: random(r, m*k), Row: k, Col: 1}, View{Data: random(r, k*n), Row: 1, Col: k}, make([]float32, m*n), make([]float32, m*n)
	var w Workspace
	w.Multiply(want, n, a, b, m, n, k, false)
	if w.MultiplyParallel(c, n, a, b, m, n, k, false, nil); !sameBits(c, want) {
		t.Error("the caller alone gives other bits")
	}
	for size := 1; size < 5; size++ {
		workers := crew.New(size)
		defer workers.Close()
		clear(c)
		if w.MultiplyParallel(c, n, a, b, m, n, k, false, workers); !sameBits(c, want) {
			t.Errorf("a crew of %d gives other bits", size)
		}
		if n := testing.AllocsPerRun(5, func() { w.MultiplyParallel(c, n, a, b, m, n, k, false, workers) }); n > 0 {
			t.Errorf("a crew of %d: %g allocations", size, n)
		}
	}
}

func TestARowsBitsDoNotDependOnTheRowsBesideIt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	const m, n, k = 61, 83, 300
	a, b := random(r, m*k), random(r, k*n)
	for _, v := range versions() {
		v.with(func() {
			var w Workspace
			all, one := make([]float32, m*n), make([]float32, n)
			w.Multiply(all, n, View{Data: a, Row: k, Col: 1}, View{Data: b, Row: n, Col: 1}, m, n, k, false)
			for i := range m {
				w.Multiply(one, n, View{Data: a[i*k:], Row: k, Col: 1}, View{Data: b, Row: n, Col: 1}, 1, n, k, false)
				if !sameBits(one, all[i*n:(i+1)*n]) {
					t.Fatalf("%s: row %d has other bits alone", v.name, i)
				}
			}
		})
	}
}

func TestAProductThatDoesNotFitItsSlicesPanics(t *testing.T) {
	full := func() (c []float32, a, b View) {
		return make([]float32, 6), View{Data: make([]float32, 8), Row: 4, Col: 1}, View{Data: make([]float32, 12), Row: 3, Col: 1}
	}
	for name, spoil := range map[string]func(c *[]float32, a, b *View) (ldc int){
		"C is an element short":       func(c *[]float32, a, b *View) int { *c = (*c)[:5]; return 3 },
		"A is an element short":       func(c *[]float32, a, b *View) int { a.Data = a.Data[:7]; return 3 },
		"B is an element short":       func(c *[]float32, a, b *View) int { b.Data = b.Data[:11]; return 3 },
		"rows of C overlap":           func(c *[]float32, a, b *View) int { return 2 },
		"a stride of A points behind": func(c *[]float32, a, b *View) int { a.Row = -1; return 3 },
		"A's last run is short":       func(c *[]float32, a, b *View) int { a.Run, a.Next = 2, 3; return 3 },
		"A's runs do not fill k":      func(c *[]float32, a, b *View) int { a.Run = 3; return 3 },
		"B has runs":                  func(c *[]float32, a, b *View) int { b.Run = 2; return 3 },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c, a, b := full()
			ldc := spoil(&c, &a, &b)
			new(Workspace).Multiply(c, ldc, a, b, 2, 3, 4, false)
		})
	}
}

func FuzzMultiply(f *testing.F) {
	f.Add(uint64(1), uint8(12), uint8(32), uint16(9), uint8(0), uint8(0), uint8(0))
	f.Add(uint64(2), uint8(26), uint8(33), uint16(288), uint8(7), uint8(3), uint8(1))
	f.Add(uint64(3), uint8(100), uint8(200), uint16(257), uint8(31), uint8(77), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, m, n uint8, k uint16, flags, extras, special uint8) {
		s := shape{
			m: int(m), n: int(n), k: int(k % 600), transA: flags&1 > 0, transB: flags&2 > 0, add: flags&4 > 0,
			extraA: int(extras & 3), extraB: int(extras >> 2 & 3), extraC: int(extras >> 4 & 3), offset: int(extras >> 6),
			special: []float32{0, 0, float32(math.NaN()), float32(math.Inf(1))}[special%4], specialI: int(seed % 65536),
			workers: int(flags >> 3 & 3), between: int(flags >> 5 & 1), run: int(flags>>6) * int(special>>2),
		}
		for _, v := range versions() {
			v.with(func() { s.check(t, new(Workspace), seed) })
		}
	})
}

// The sizes of the networks: forward, gradient and backward of 784-80 on 240 examples, convolutions of one row, and squares.
var benchmarked = []shape{
	{m: 240, n: 80, k: 784}, {m: 784, n: 80, k: 240, transA: true, add: true}, {m: 240, n: 784, k: 80, transB: true},
	{m: 240, n: 10, k: 80}, {m: 26, n: 32, k: 9}, {m: 26, n: 32, k: 96, add: true}, {m: 26, n: 32, k: 288}, {m: 24, n: 64, k: 288}, {m: 576, n: 64, k: 288},
	{m: 512, n: 512, k: 512}, {m: 1024, n: 1024, k: 1024}, {m: 256, n: 256, k: 256, transA: true},
}

func (s shape) String() string {
	name := fmt.Sprintf("%dx%dx%d", s.m, s.n, s.k)
	if s.transA {
		name += "-ta"
	}
	if s.transB {
		name += "-tb"
	}
	return name
}

// BenchmarkProduct is what bench/product.py compares with OpenBLAS.
func BenchmarkProduct(b *testing.B) {
	for _, s := range benchmarked {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", s, workers), func(b *testing.B) { s.benchmark(b, workers) })
		}
	}
}

func BenchmarkVersionsOfProduct(b *testing.B) {
	for _, s := range benchmarked[:3] {
		for _, v := range versions() {
			b.Run(fmt.Sprintf("%s/%s", s, v.name), func(b *testing.B) { v.with(func() { s.benchmark(b, 1) }) })
		}
	}
}

func (s shape) benchmark(b *testing.B, workers int) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y, c := s.view(r, s.m, s.k, 0, s.transA, 0), s.view(r, s.k, s.n, 0, s.transB, 0), make([]float32, s.m*s.n)
	var w Workspace
	shared := crew.New(workers)
	defer shared.Close()
	// The best of many short batches: on a shared machine an average measures the neighbours.
	flops := 2 * float64(s.m*s.n*s.k)
	batch := 1 + int(100e6/flops)
	fastest := time.Hour
	for b.Loop() {
		start := time.Now()
		for range batch {
			w.MultiplyParallel(c, s.n, x, y, s.m, s.n, s.k, s.add, shared)
		}
		fastest = min(fastest, time.Since(start))
	}
	b.ReportMetric(flops*float64(batch)/fastest.Seconds()/1e9, "GFLOPS")
}
