package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every kernel, what it gives for inputs that are the same each time, and how far versions may lie apart: not at all, unless a
// multiplication and an addition are rounded together in some of them.
var kernels = []struct {
	name    string
	run     func(r *rand.Rand, n int) any
	rounded bool
}{
	{"Aliased.Add", func(r *rand.Rand, n int) any {
		dst, open := make([]int64, n), make([]byte, (n+7)/8)
		randomAliased(r.Uint64(), 9, 1, -3).Add(dst, randomBytes(r.Uint64(), 4*n), open)
		return []any{dst, open}
	}, false},
	{"Normal32", func(r *rand.Rand, n int) any {
		dst := make([]float32, n/NormalGroup*NormalGroup)
		Normal32(dst, randomBytes(r.Uint64(), 4*n))
		return dst
	}, false},
	{"Normal64", func(r *rand.Rand, n int) any {
		dst := make([]float64, n/Normal64Group*Normal64Group)
		Normal64(dst, randomBytes(r.Uint64(), 8*n))
		return dst
	}, false},
	{"Exp", func(r *rand.Rand, n int) any {
		x := random(r, n)
		for i := range x {
			x[i] = -30 * max(x[i], -x[i])
		}
		Exp(x)
		return x
	}, false},
	{"Keystream.Fill", func(r *rand.Rand, n int) any {
		dst := make([]byte, n/Chunk*Chunk)
		k := NewKeystream([32]byte(randomBytes(r.Uint64(), 32)))
		k.Seek(uint64(n))
		k.Fill(dst)
		return dst
	}, false},
	{"Keystream.AddMasked32", func(r *rand.Rand, n int) any {
		dst := make([]uint32, n)
		NewKeystream([32]byte(randomBytes(r.Uint64(), 32))).AddMasked32(dst, 1<<19-1, true)
		return dst
	}, false},
	{"Keystream.AddMasked64", func(r *rand.Rand, n int) any {
		dst := make([]uint64, n)
		NewKeystream([32]byte(randomBytes(r.Uint64(), 32))).AddMasked64(dst, 1<<50-1, false)
		return dst
	}, false},
	{"Round", func(r *rand.Rand, n int) any {
		dst := make([]int64, n)
		Round(dst, random(r, n), 0x1p40, randomBytes(r.Uint64(), 4*n))
		return dst
	}, false},
	{"AddNearest", func(r *rand.Rand, n int) any {
		sum, x := make([]int64, n), random(r, n)
		for i := range x {
			if i%3 == 0 {
				x[i] = float32(r.IntN(9)) / 2 // halves go to the even side
			}
		}
		AddNearest(sum, x, 1)
		AddNearest(sum, x, 0x1p40)
		return sum
	}, false},
	{"AddNearest64", func(r *rand.Rand, n int) any {
		sum, x := make([]int64, n), make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
			if i%3 == 0 {
				x[i] = float64(r.IntN(18)-9) / 2 // halves go to the even side
			}
		}
		AddNearest64(sum, x, 1)
		AddNearest64(sum, x, 0x1.fffffffffffffp58) // more bits than a float64 holds
		return sum
	}, false},
	{"Truncate and AddClamped", func(r *rand.Rand, n int) any {
		sum, x := make([]int64, n), make([]int64, n)
		Truncate(x, random(r, n), 0x1p40)
		for i := range x {
			sum[i] = r.Int64N(1<<40) - 1<<39
			if i%5 == 0 {
				x[i] = []int64{math.MinInt64, math.MaxInt64, 1 << 39, -1 << 39, 1<<39 + 1, -1<<39 - 1}[r.IntN(6)]
			}
		}
		AddClamped(sum, x, 1<<39)
		return []any{x, sum}
	}, false},
	{"AddWrapped and Unwrap", func(r *rand.Rand, n int) any {
		sum, x, mean := make([]int64, n), make([]int64, n), make([]float32, n)
		for i := range x {
			x[i] = r.Int64N(1<<40) - 1<<39
		}
		AddWrapped(sum, x, 1<<15, 1<<16-1)
		Unwrap(mean, x, 1<<15, 1<<16-1, 0.3)
		return []any{sum, mean}
	}, false},
	{"SumSquares", func(r *rand.Rand, n int) any { return SumSquares(random(r, n)) }, false},
	{"RoughSquares", func(r *rand.Rand, n int) any {
		squares := make([]float64, 5)
		RoughSquares(squares, random(r, 5*n))
		return squares
	}, false},
	{"Hadamard and Signed", func(r *rand.Rand, n int) any {
		x, y := random(r, 1<<(n%12)), make([]float32, 1<<(n%12))
		Hadamard(x)
		Signed(y, x, random(r, len(x)), 0.7)
		return y
	}, false},
	{"Multiply", func(r *rand.Rand, n int) any {
		m, k := 1+n%29, 1+n%600
		c := make([]float32, m*n)
		new(Workspace).Multiply(c, n, View{Data: random(r, m*k), Row: 1, Col: m}, View{Data: random(r, k*n), Row: 1, Col: k}, m, n, k, false)
		return c
	}, true},
}

func TestEveryKernelGivesTheSameWithAnyInstructions(t *testing.T) {
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			for _, n := range []int{1, 31, 32, 64, 100, 777, 1024, 1500} {
				var want any
				for i, v := range versions() {
					v.with(func() {
						got := k.run(rand.New(rand.NewPCG(uint64(n), 3)), n)
						switch {
						case i == 0:
							want = got
						case k.rounded:
							// 600 roundings of 2^-24, of sums of about sqrt(600), are far below this.
							for j, x := range got.([]float32) {
								if y := want.([]float32)[j]; math.Abs(float64(x-y)) > 1e-4*(1+math.Abs(float64(y))) {
									t.Fatalf("%s: %d: element %d is %g, with plain instructions %g", v.name, n, j, x, y)
								}
							}
						case fmt.Sprint(got) != fmt.Sprint(want): // prints floats so that different bits differ
							t.Fatalf("%s: %d elements: not what plain instructions give", v.name, n)
						}
					})
				}
			}
		})
	}
}
