package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// shape is a product as a test makes it: strides beyond the dense ones, transposed or not, at odd offsets.
type shape struct {
	m, n, k           int
	transA, transB    bool
	extraA, extraB    int // unused elements at the end of a row
	extraC            int
	offset            int // of every matrix in its slice
	add               bool
	special           float32 // one element of A, if not zero
	specialI, workers int
}

// view is rows×columns, transposed in memory or not.
func (s shape) view(r *rand.Rand, rows, columns, extra int, transposed bool) View {
	v := View{Row: columns + extra, Col: 1}
	length := rows * v.Row
	if transposed {
		v = View{Row: 1, Col: rows + extra}
		length = columns * v.Col
	}
	v.Data = make([]float32, s.offset+length)[s.offset:]
	for i := range v.Data {
		v.Data[i] = float32(r.NormFloat64())
	}
	if rows*columns > 0 { // not an element more than needed
		v.Data = v.Data[: (rows-1)*v.Row+(columns-1)*v.Col+1 : (rows-1)*v.Row+(columns-1)*v.Col+1]
	}
	return v
}

// untouched marks what a product must leave alone.
const untouched = 12345

// check compares a product with the definition in float64, and gives its bits.
func (s shape) check(t *testing.T, w *Workspace, seed uint64) []float32 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	a, b := s.view(r, s.m, s.k, s.extraA, s.transA), s.view(r, s.k, s.n, s.extraB, s.transB)
	if s.special != 0 && s.m*s.k > 0 {
		i := s.specialI % (s.m * s.k)
		a.Data[i/s.k*a.Row+i%s.k*a.Col] = s.special
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
				x := float64(a.Data[i*a.Row+l*a.Col]) * float64(b.Data[l*b.Row+j*b.Col])
				want[at] += x
				size[at] += math.Abs(x)
			}
		}
	}
	if s.workers > 0 {
		w.MultiplyParallel(c, ldc, a, b, s.m, s.n, s.k, s.add, s.workers)
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
	)
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
		{m: 240, n: 80, k: 784}, {m: 784, n: 80, k: 240, transA: true, add: true}, {m: 240, n: 784, k: 80, transB: true},
		{m: 10, n: 3000, k: 40}, {m: 300, n: 5, k: 300, transB: true}, {m: 97, n: 131, k: 257, extraA: 1, extraC: 2, offset: 3},
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

func TestARowsBitsDoNotDependOnTheRowsBesideIt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	const m, n, k = 61, 83, 300
	a, b := random(r, m*k), random(r, k*n)
	for _, v := range versions() {
		v.with(func() {
			var w Workspace
			all, one := make([]float32, m*n), make([]float32, n)
			w.Multiply(all, n, View{a, k, 1}, View{b, n, 1}, m, n, k, false)
			for i := range m {
				w.Multiply(one, n, View{a[i*k:], k, 1}, View{b, n, 1}, 1, n, k, false)
				if !sameBits(one, all[i*n:(i+1)*n]) {
					t.Fatalf("%s: row %d has other bits alone", v.name, i)
				}
			}
		})
	}
}

func TestAProductThatDoesNotFitItsSlicesPanics(t *testing.T) {
	full := func() (c []float32, a, b View) {
		return make([]float32, 6), View{make([]float32, 8), 4, 1}, View{make([]float32, 12), 3, 1}
	}
	for name, spoil := range map[string]func(c *[]float32, a, b *View) (ldc int){
		"C is an element short":       func(c *[]float32, a, b *View) int { *c = (*c)[:5]; return 3 },
		"A is an element short":       func(c *[]float32, a, b *View) int { a.Data = a.Data[:7]; return 3 },
		"B is an element short":       func(c *[]float32, a, b *View) int { b.Data = b.Data[:11]; return 3 },
		"rows of C overlap":           func(c *[]float32, a, b *View) int { return 2 },
		"a stride of A points behind": func(c *[]float32, a, b *View) int { a.Row = -1; return 3 },
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
			workers: int(flags >> 3 & 3),
		}
		for _, v := range versions() {
			v.with(func() { s.check(t, new(Workspace), seed) })
		}
	})
}

func TestProductsAreWhatTheGeneratorWrites(t *testing.T) {
	checkedIn, err := os.ReadFile("products_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	generated, err := exec.Command("go", "run", "generate_products.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(checkedIn, generated) {
		t.Error("products_amd64.s is not what generate_products.go writes: run go generate ./internal/kernel")
	}
}

// The sizes of the networks: forward, gradient and backward of 784-80 on 240 examples, convolutions of one row, and squares.
var benchmarked = []shape{
	{m: 240, n: 80, k: 784}, {m: 784, n: 80, k: 240, transA: true, add: true}, {m: 240, n: 784, k: 80, transB: true},
	{m: 240, n: 10, k: 80}, {m: 26, n: 32, k: 9}, {m: 26, n: 32, k: 288}, {m: 24, n: 64, k: 288}, {m: 576, n: 64, k: 288},
	{m: 512, n: 512, k: 512}, {m: 1024, n: 1024, k: 1024},
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

func BenchmarkMultiply(b *testing.B) {
	for _, s := range benchmarked {
		r := rand.New(rand.NewPCG(1, 2))
		x, y, c := s.view(r, s.m, s.k, 0, s.transA), s.view(r, s.k, s.n, 0, s.transB), make([]float32, s.m*s.n)
		for _, v := range versions() {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/threads=%d", v.name, s, workers), func(b *testing.B) {
					v.with(func() {
						var w Workspace
						for b.Loop() {
							w.MultiplyParallel(c, s.n, x, y, s.m, s.n, s.k, s.add, workers)
						}
					})
					b.ReportMetric(2*float64(s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
				})
			}
		}
	}
}
