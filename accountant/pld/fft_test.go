package pld

import (
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

func randomSignal(n int, seed uint64) []complex128 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(r.NormFloat64(), r.NormFloat64())
	}
	return x
}

func norm(x []complex128) float64 {
	var sum float64
	for _, z := range x {
		sum += real(z)*real(z) + imag(z)*imag(z)
	}
	return math.Sqrt(sum)
}

func TestTransformIsTheDiscreteFourierTransform(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8, 64, 256} {
		x := randomSignal(n, uint64(n))
		got := append([]complex128(nil), x...)
		newTransform(n).forward(got)
		for f := range n {
			var want complex128
			for k, z := range x {
				want += z * cmplx.Rect(1, -2*math.Pi*float64(f*k%n)/float64(n))
			}
			place := int(bits.Reverse64(uint64(f)) >> (64 - bits.Len(uint(n)) + 1))
			if n == 1 {
				place = 0
			}
			if cmplx.Abs(got[place]-want) > 1e-13*norm(x)*math.Sqrt(float64(n)) {
				t.Errorf("length %d, frequency %d: %v, want %v", n, f, got[place], want)
			}
		}
	}
}

func TestTransformErrorIsWithinItsBound(t *testing.T) {
	// There and back errs at most twice the bound of one way.
	for _, n := range []int{16, 1 << 10, 1 << 16} {
		tr := newTransform(n)
		x := randomSignal(n, 7)
		y := append([]complex128(nil), x...)
		tr.forward(y)
		tr.inverse(y)
		for i := range y {
			y[i] = y[i]/complex(float64(n), 0) - x[i]
		}
		if got := norm(y) / norm(x); got > 2*tr.relativeError() {
			t.Errorf("length %d: error %g above the bound %g", n, got, 2*tr.relativeError())
		}
	}
}

func TestMirrorFindsTheNegativeFrequency(t *testing.T) {
	for _, n := range []int{1, 2, 8, 64} {
		width := bits.Len(uint(n)) - 1
		reversed := func(f int) int {
			if width == 0 {
				return 0
			}
			return int(bits.Reverse64(uint64(f)) >> (64 - width))
		}
		for f := range n {
			if got, want := mirror(reversed(f)), reversed((n-f)%n); got != want {
				t.Errorf("length %d: mirror of frequency %d is place %d, want %d", n, f, got, want)
			}
		}
	}
}
