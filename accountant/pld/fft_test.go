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
			if cmplx.Abs(got[place]-want) > 1e-13*norm2(x)*math.Sqrt(float64(n)) {
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
		if got := norm2(y) / norm2(x); got > 2*tr.relativeError() {
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

func TestPackedSpectraAreThoseOfTwoRealSignals(t *testing.T) {
	const n = 64
	x, y := make([]complex128, n), make([]complex128, n)
	packed := randomSignal(n, 3)
	for i, z := range packed {
		x[i], y[i] = complex(real(z), 0), complex(imag(z), 0)
	}
	tr := newTransform(n)
	tr.forward(x)
	tr.forward(y)
	tr.forward(packed)
	for i := range n {
		j := mirror(i)
		p, q := unpack(packed[i], packed[j])
		if cmplx.Abs(p-x[i]) > 1e-12 || cmplx.Abs(q-y[i]) > 1e-12 {
			t.Errorf("place %d: %v and %v, want %v and %v", i, p, q, x[i], y[i])
		}
		if at, mirrored := pack(p, q); cmplx.Abs(at-packed[i]) > 1e-12 || cmplx.Abs(mirrored-packed[j]) > 1e-12 {
			t.Errorf("place %d: packs to %v and %v, want %v and %v", i, at, mirrored, packed[i], packed[j])
		}
	}
}
