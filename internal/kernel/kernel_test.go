package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if r.IntN(3) > 0 { // a third are zeros
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

func TestSumSquaresKeepsSmallCoordinatesBesideLargeOnes(t *testing.T) {
	x := make([]float32, 100_001)
	x[0] = 4096
	for i := range x[1:] {
		x[i+1] = 0.01
	}
	want := 4096.0*4096 + 100_000*float64(float32(0.01))*float64(float32(0.01))
	if got := SumSquares(x); math.Abs(got-want) > 1e-3 { // float32 sums would lose all of the 10
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFiniteSeesEveryBadValueAtEveryPlace(t *testing.T) {
	for _, v := range versions() {
		v.with(func() {
			for n := range 70 {
				x := make([]float32, n)
				for i := range x {
					x[i] = []float32{0, math.MaxFloat32, -math.SmallestNonzeroFloat32}[i%3]
				}
				if !Finite(x) {
					t.Fatalf("%s: %d finite values were refused", v.name, n)
				}
				for i := range x {
					for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
						before := x[i]
						x[i] = bad
						if Finite(x) {
							t.Fatalf("%s: %g at %d of %d passed as finite", v.name, bad, i, n)
						}
						x[i] = before
					}
				}
			}
		})
	}
}

func TestSquaresOfPartsAreThoseOfTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	x := make([]float32, 4003)
	var parts [][]float32
	for from := 0; from < len(x); {
		to := min(len(x), from+32*r.IntN(9)+r.IntN(33))
		for i := from; i < to; i++ {
			x[i] = float32(r.NormFloat64())
		}
		parts = append(parts, x[from:to])
		from = (to+31)&^31 + 32*r.IntN(4)
	}
	for _, v := range versions() {
		v.with(func() {
			var s Squares
			for _, part := range parts {
				s.Add(part)
			}
			if got, want := s.Sum(), SumSquares(x); got != want {
				t.Errorf("%s: %v by parts, %v as a whole", v.name, got, want)
			}
		})
	}
}

func TestSeekingIsReadingUpTo(t *testing.T) {
	key := [32]byte{5}
	whole := make([]byte, 40*Chunk)
	NewKeystream(key).Fill(whole)
	for _, k := range []*Keystream{NewKeystream(key), portableKeystream(key)} {
		for _, chunk := range []uint64{7, 0, 39, 38, 1} {
			k.Seek(chunk)
			got := make([]byte, Chunk)
			k.Fill(got)
			if !bytes.Equal(got, whole[chunk*Chunk:(chunk+1)*Chunk]) || k.counter != (chunk+1)*Chunk/16 {
				t.Errorf("chunk %d is another one", chunk)
			}
		}
	}
}
