package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The maps together are a convolution: held against its definition in float64, forward and back, on whole numbers, which no map
// rounds: halves of halves are exact.
func TestPatchesMakeAConvolutionAndItsWayBack(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	whole := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(17) - 8)
		}
		return x
	}
	patch := func(data []float32, side, channels int) Patches {
		return Patches{data, side * channels, channels, side * side * channels}
	}
	for _, channels := range []int{1, 8, 16, 21, 32} {
		const n = 3 // patches, each a convolution of its own; channels do not mix here
		x, w, biases, deltas := whole(16*n*channels), whole(9*n*channels), whole(channels), whole(4*n*channels)
		out, dx, dw := make([]float32, 4*n*channels), make([]float32, 16*n*channels), make([]float32, 9*n*channels)
		wantOut, wantDx, wantDw := slices.Clone(out), slices.Clone(dx), slices.Clone(dw)
		at := func(s, side, i, j, c int) int { return ((s*side+i)*side+j)*channels + c }
		for k := range n * 4 * 9 * channels {
			c, s := k%channels, k/channels/36
			i, j, a, b := k/channels/18%2, k/channels/9%2, k/channels/3%3, k/channels%3
			if a == 0 && b == 0 {
				wantOut[at(s, 2, i, j, c)] += biases[c]
			}
			wantOut[at(s, 2, i, j, c)] += x[at(s, 4, i+a, j+b, c)] * w[at(s, 3, a, b, c)]
			wantDx[at(s, 4, i+a, j+b, c)] += deltas[at(s, 2, i, j, c)] * w[at(s, 3, a, b, c)]
			wantDw[at(s, 3, a, b, c)] += deltas[at(s, 2, i, j, c)] * x[at(s, 4, i+a, j+b, c)]
		}
		for _, v := range versions() {
			v.with(func() {
				inputs, weights, patches := make([]float32, 16*n*channels), make([]float32, 16*n*channels), make([]float32, 16*n*channels)
				times := func(a, b []float32) Patches {
					product := make([]float32, len(a))
					for i := range a {
						product[i] = a[i] * b[i]
					}
					return patch(product, 4, channels)
				}
				clear(dx)
				PatchOfInput(patch(inputs, 4, channels), patch(x, 4, channels), n, channels)
				PatchOfWeights(patch(weights, 4, channels), patch(w, 3, channels), n, channels)
				PatchToOutput(patch(out, 2, channels), times(inputs, weights), n, biases)
				PatchOfDeltas(patch(patches, 4, channels), patch(deltas, 2, channels), n, channels)
				PatchToInput(patch(dx, 4, channels), times(patches, weights), n, channels)
				PatchToWeights(patch(dw, 3, channels), times(patches, inputs), n, channels, false)
				if !slices.Equal(out, wantOut) || !slices.Equal(dx, wantDx) || !slices.Equal(dw, wantDw) {
					t.Errorf("%s, %d channels: not a convolution", v.name, channels)
				}
			})
		}
	}
}

// Faster versions give the definition's bits, also where patches overlap, and write nothing elsewhere.
func TestMapsOfPatchesEqualTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for number, m := range []patchMap{patchOfInput, patchOfWeights, patchToOutput, patchOfDeltas, patchToWeights, patchAddWeights, patchToInput} {
		for _, channels := range []int{1, 7, 8, 16, 23, 40, 64} {
			for _, patches := range []int{1, 2, 5} {
				t.Run(fmt.Sprintf("map %d of %d patches of %d channels", number, patches, channels), func(t *testing.T) {
					place := func(side, next int) Patches {
						s := Patches{Row: (2*patches + 3) * channels, Col: channels, Next: next}
						s.Data = make([]float32, (patches-1)*next+(side-1)*(s.Row+s.Col)+channels+1)
						for i := range s.Data {
							s.Data[i] = float32(r.NormFloat64())
						}
						return s
					}
					src, dst := place(len(m.t[0]), 2*channels), place(len(m.t), 2*channels)
					if !m.add { // patches that are set must not overlap
						dst = place(len(m.t), len(m.t)*((2*patches+3)*channels))
					}
					var biases []float32
					if number == patchToOutput.fast {
						biases = random(r, channels)
					}
					want := Patches{slices.Clone(dst.Data), dst.Row, dst.Col, dst.Next}
					m.applyPlain(want, src, patches, 0, channels, biases)
					for _, v := range versions() {
						v.with(func() {
							got := Patches{slices.Clone(dst.Data), dst.Row, dst.Col, dst.Next}
							m.apply(got, src, patches, channels, biases)
							for i, x := range got.Data {
								if math.Float32bits(x) != math.Float32bits(want.Data[i]) {
									t.Fatalf("%s: element %d is %g, want %g", v.name, i, x, want.Data[i])
								}
							}
						})
					}
				})
			}
		}
	}
}
