package kernel

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// butterflies is the transform level by level, as it is written in books.
func butterflies(x []float32) {
	for half := 1; half < len(x); half *= 2 {
		for i := range x {
			if i&half == 0 {
				x[i], x[i+half] = x[i]+x[i+half], x[i]-x[i+half]
			}
		}
	}
}

func TestEveryVersionOfTheHadamardTransformGivesTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for length := 1; length <= 1<<18; length *= 2 {
		x := random(r, length)
		x[0] = float32(math.Copysign(0, -1))
		want := slices.Clone(x)
		butterflies(want)
		for _, v := range versions() {
			v.with(func() {
				got := slices.Clone(x)
				if Hadamard(got); !sameBits(got, want) {
					t.Errorf("%s: length %d: other bits than level by level", v.name, length)
				}
			})
		}
	}
}

func TestTheHadamardMatrixHasTheSignsOfItsDefinition(t *testing.T) {
	const length = 512 // element (i, j) is -1 to the number of ones that i and j share
	for _, v := range versions() {
		v.with(func() {
			for j := 0; j < length; j += 37 {
				x := make([]float32, length)
				x[j] = 1
				Hadamard(x)
				for i := range x {
					if want := 1 - 2*float32(bits.OnesCount(uint(i&j))%2); x[i] != want {
						t.Fatalf("%s: element (%d, %d) is %g, want %g", v.name, i, j, x[i], want)
					}
				}
			}
		})
	}
}

func TestSignedEqualsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for _, v := range versions() {
		v.with(func() {
			for n := range 70 {
				x, signs, dst := random(r, n), random(r, n), make([]float32, n+1)
				dst[n] = untouched
				Signed(dst[:n], x, signs, 0.37)
				for i := range n {
					if want := x[i] * 0.37 * signs[i]; math.Float32bits(dst[i]) != math.Float32bits(want) {
						t.Fatalf("%s: element %d of %d is %g, want %g", v.name, i, n, dst[i], want)
					}
				}
				if dst[n] != untouched {
					t.Fatalf("%s: %d elements: the next one was touched", v.name, n)
				}
			}
		})
	}
}

func BenchmarkHadamard(b *testing.B) {
	for _, length := range []int{1 << 12, 1 << 16, 1 << 20} {
		for _, v := range versions() {
			b.Run(fmt.Sprintf("%d/%s", length, v.name), func(b *testing.B) {
				x := make([]float32, length)
				v.with(func() {
					for b.Loop() {
						Hadamard(x)
					}
				})
				b.ReportMetric(float64(length)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			})
		}
	}
}
