package pld

import (
	"math"
	"math/bits"
)

// transform is the discrete Fourier transform of one length, a power of two. The spectrum is kept in bit-reversed
// order: [transform.power] does not care, and no pass over memory is spent on sorting.
type transform struct {
	n int
	// roots[s] holds e^(-2πi·k/2^s) for k < 2^s/2. One table per level keeps each pass on contiguous memory.
	roots [][]complex128
}

func newTransform(n int) transform {
	levels := bits.Len(uint(n)) - 1
	roots := make([][]complex128, levels+1)
	if levels > 0 {
		top := make([]complex128, n/2)
		for k := range top {
			sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
			top[k] = complex(cos, sin)
		}
		roots[levels] = top
		for s := levels - 1; s > 0; s-- {
			roots[s] = make([]complex128, len(roots[s+1])/2)
			for k := range roots[s] {
				roots[s][k] = roots[s+1][2*k]
			}
		}
	}
	return transform{n, roots}
}

// forward replaces x by its spectrum (decimation in frequency; halves first, so that the recursion stays in cache).
func (t transform) forward(x []complex128) {
	n := len(x)
	if n < 2 {
		return
	}
	roots := t.roots[bits.Len(uint(n))-1]
	low, high := x[:n/2], x[n/2:]
	high = high[:len(low)]
	roots = roots[:len(low)]
	for k, w := range roots {
		a, b := low[k], high[k]
		low[k] = a + b
		d := a - b
		high[k] = complex(real(d)*real(w)-imag(d)*imag(w), real(d)*imag(w)+imag(d)*real(w))
	}
	t.forward(low)
	t.forward(high)
}

// inverse undoes forward, without the division by the length.
func (t transform) inverse(x []complex128) {
	n := len(x)
	if n < 2 {
		return
	}
	low, high := x[:n/2], x[n/2:]
	t.inverse(low)
	t.inverse(high)
	roots := t.roots[bits.Len(uint(n))-1]
	high = high[:len(low)]
	roots = roots[:len(low)]
	for k, w := range roots {
		a, b := low[k], high[k]
		b = complex(real(b)*real(w)+imag(b)*imag(w), imag(b)*real(w)-real(b)*imag(w)) // times the conjugate root
		low[k], high[k] = a+b, a-b
	}
}

// mirror is the place of frequency -f where i is that of f: in bit-reversed order all bits under the highest flip.
func mirror(i int) int {
	if i == 0 {
		return 0
	}
	return i ^ (1<<(bits.Len(uint(i))-1) - 1)
}

// relativeError bounds the error of one transform, in the 2-norm and relative to the result: log2(n)·(μ + γ4·(√2+μ)),
// Higham, Accuracy and Stability of Numerical Algorithms, Theorem 24.2, with roots correct to μ = 4 units of round-off.
func (t transform) relativeError() float64 {
	const unit = 0x1p-53
	return 10 * unit * float64(max(1, bits.Len(uint(t.n))-1))
}

// norm2 is the 2-norm.
func norm2(x []complex128) float64 {
	var sum float64
	for _, z := range x {
		sum += real(z)*real(z) + imag(z)*imag(z)
	}
	return math.Sqrt(sum)
}
