package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"hubbub/internal/kernel"
)

// The clever convolution is held against the plain one, which the other tests hold against its definition.
func TestPatchesGiveWhatWindowsDo(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      picture
		filters int
		padding string
		bands   int
	}{
		{"even sides, one band", picture{10, 12, 16}, 16, "", 1},
		{"odd sides, channels and filters", picture{11, 13, 19}, 35, "", 1},
		{"zeros around an odd picture", picture{9, 9, 16}, 17, "same", 1},
		{"the network for digits, several bands", picture{26, 26, 32}, 64, "", 2},
		{"a wide picture, a row in each band", picture{8, 402, 32}, 16, "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, why := newConv(c.in, Layer{Kind: "conv", Filters: c.filters, Padding: c.padding})
			if why != "" || !plain.suitsWinograd() {
				t.Fatalf("no convolution for patches: %s", why)
			}
			clever := newWinograd(plain)
			if rows := clever.whole.height / 2; (rows+clever.bandRows()-1)/clever.bandRows() != c.bands {
				t.Fatalf("%d rows of patches in bands of %d, want %d bands", rows, clever.bandRows(), c.bands)
			}
			r := rand.New(rand.NewPCG(1, 2))
			random := func(n int) []float32 {
				x := make([]float32, n)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				return x
			}
			weights := plain.window()*c.filters + c.filters
			params, in, deltas, before := random(weights), random(c.in.size()), random(plain.out.size()), random(weights)
			for _, add := range []bool{false, true} {
				results := func(l layer) [][]float32 {
					v := visit{params: params, in: in, out: random(plain.out.size()), kept: make([]float32, l.keeps()), turned: make([]float32, l.turns())}
					v.scratch, v.dOut, v.dIn, v.add = random(l.scratch()), append([]float32{}, deltas...), random(c.in.size()), add
					v.gradient = append([]float32{}, before...)
					var w kernel.Workspace
					l.turn(v.turned, params)
					l.forward(&w, v)
					l.backward(&w, v)
					return [][]float32{v.out, v.dIn, v.gradient}
				}
				want, got := results(plain), results(clever)
				for i, name := range []string{"output", "gradient by the input", "gradient by the weights"} {
					difference, norm := 0.0, 0.0
					for j, x := range want[i] {
						difference += math.Pow(float64(x-got[i][j]), 2)
						norm += math.Pow(float64(x), 2)
					}
					if relative := math.Sqrt(difference / norm); !(relative < 1e-6) {
						t.Errorf("%s, add %t: off by %.2g of its norm", name, add, relative)
					}
				}
			}
		})
	}
}
