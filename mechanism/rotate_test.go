package mechanism

import (
	"math"
	"math/rand/v2"
	"testing"

	"hubbub/noise"
)

func TestRotationKeepsLengthAndComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, d := range []int{1, 2, 3, 7, 8, 9, 100, 4095, 4096, 4097, 20_000, 1 << 17} {
		rot := newRotation(d, noise.Seeded(uint64(d)))
		x := randomUpdate(r, d, 5)
		y, back := make([]float32, rot.width), make([]float32, d)
		rot.forward(y, x, 2)
		if rot.width < d || rot.width >= 2*d && d > 1 {
			t.Errorf("%d coordinates were padded to %d", d, rot.width)
		}
		norm := 0.0
		for _, v := range y {
			norm += float64(v) * float64(v)
		}
		if norm = math.Sqrt(norm); math.Abs(norm-10) > 1e-4 {
			t.Errorf("dimension %d: twice a vector of norm 5 has norm %g after the rotation", d, norm)
		}
		rot.backward(back, y, 0.5)
		for i := range x {
			if math.Abs(float64(back[i]-x[i])) > 1e-5 {
				t.Fatalf("dimension %d: %g came back as %g", d, x[i], back[i])
			}
		}
	}
}

// A vector with all its weight in one coordinate, or in a constant, is as flat as any other once it is rotated: no coordinate
// exceeds sqrt(2 ln(2·width/p))/sqrt(width) of its norm but with probability p = 1e-9.
func TestRotationFlattensTheWorstVectors(t *testing.T) {
	const d = 5000
	spike, constant := make([]float32, d), make([]float32, d)
	spike[17] = 1
	for i := range constant {
		constant[i] = float32(1 / math.Sqrt(d))
	}
	for name, x := range map[string][]float32{"spike": spike, "constant": constant} {
		for _, seed := range []uint64{1, 2, 3} {
			rot := newRotation(d, noise.Seeded(seed))
			y := make([]float32, rot.width)
			rot.forward(y, x, 1)
			largest := 0.0
			for _, v := range y {
				largest = max(largest, math.Abs(float64(v)))
			}
			if limit := math.Sqrt(2 * math.Log(2*float64(rot.width)/1e-9) / float64(rot.width)); largest > limit {
				t.Errorf("%s, seed %d: a coordinate of %g after the rotation, above %g", name, seed, largest, limit)
			}
		}
	}
}
