package kernel

// The six maps of Winograd's convolution F(2×2, 3×3): a patch of 2×2 outputs of a window of 3×3 pixels takes 16 multiplications
// for each channel and filter, where the definition takes 36 (Lavin and Gray 2015, arXiv:1509.09308). With x a patch of 4×4 pixels,
// w the weights and ⊙ the product of elements, summed over channels,
//
//	out = Aᵀ·[(G·w·Gᵀ) ⊙ (Bᵀ·x·B)]·A
//
// and the way back is that of any linear map: by the same matrices, transposed. A and B only add and subtract, and G halves, so the
// results are about as exact as those of the definition: sums are shorter.

// Patches is a run of small patches of pixels inside a slice. Channel c of the pixel in row i and column j of patch s is
// Data[s·Next + i·Row + j·Col + c].
type Patches struct {
	Data           []float32
	Row, Col, Next int
}

// patchMap maps a patch x to t·x·tᵀ, channel by channel.
type patchMap struct {
	t    [][]float32 // entries are 0, ±1 or ±1/2: a product is exact
	fast int         // its number among the faster versions
	add  bool        // to what is there, instead of setting it
}

var (
	patchOfInput    = patchMap{t: [][]float32{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}}, fast: 0} // Bᵀ
	patchOfWeights  = patchMap{t: [][]float32{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}, fast: 1}   // G
	patchToOutput   = patchMap{t: [][]float32{{1, 1, 1, 0}, {0, 1, -1, 1}}, fast: 2}                               // Aᵀ
	patchOfDeltas   = patchMap{t: [][]float32{{1, 0}, {1, 1}, {1, -1}, {0, 1}}, fast: 3}                           // A
	patchToWeights  = patchMap{t: [][]float32{{1, 0.5, 0.5, 0}, {0, 0.5, -0.5, 0}, {0, 0.5, 0.5, 1}}, fast: 4}     // Gᵀ
	patchAddWeights = patchMap{t: patchToWeights.t, fast: 5, add: true}
	patchToInput    = patchMap{t: [][]float32{{1, 0, 0, 0}, {0, 1, -1, -1}, {-1, 1, 1, 0}, {0, 0, 0, 1}}, fast: 6, add: true} // B
)

// PatchOfInput sets dst to Bᵀ·x·B for so many patches x of 4×4 pixels.
func PatchOfInput(dst, x Patches, patches, channels int) {
	patchOfInput.apply(dst, x, patches, channels, nil)
}

// PatchOfWeights sets dst to G·w·Gᵀ for patches w of 3×3 weights.
func PatchOfWeights(dst, w Patches, patches, channels int) {
	patchOfWeights.apply(dst, w, patches, channels, nil)
}

// PatchToOutput sets patches of 2×2 pixels to Aᵀ·x·A plus the biases, one for each channel.
func PatchToOutput(dst, x Patches, patches int, biases []float32) {
	patchToOutput.apply(dst, x, patches, len(biases), biases)
}

// PatchOfDeltas sets dst to A·d·Aᵀ for patches d of 2×2 pixels: the way back of PatchToOutput.
func PatchOfDeltas(dst, d Patches, patches, channels int) {
	patchOfDeltas.apply(dst, d, patches, channels, nil)
}

// PatchToWeights sets patches of 3×3 weights to Gᵀ·x·G, or adds that: the way back of PatchOfWeights.
func PatchToWeights(dst, x Patches, patches, channels int, add bool) {
	if add {
		patchAddWeights.apply(dst, x, patches, channels, nil)
	} else {
		patchToWeights.apply(dst, x, patches, channels, nil)
	}
}

// PatchToInput adds B·x·Bᵀ to patches of 4×4 pixels: the way back of PatchOfInput. Patches may overlap: each is added after the
// one before.
func PatchToInput(dst, x Patches, patches, channels int) {
	patchToInput.apply(dst, x, patches, channels, nil)
}

func (m patchMap) apply(dst, src Patches, patches, channels int, biases []float32) {
	if patches <= 0 || channels <= 0 {
		return
	}
	dst.check(len(m.t), patches, channels)
	src.check(len(m.t[0]), patches, channels)
	if done := m.applyFast(dst, src, patches, channels, biases); done < channels {
		m.applyPlain(dst, src, patches, done, channels, biases)
	}
}

// check panics if the patches do not fit their slice.
func (s Patches) check(side, patches, channels int) {
	_ = s.Data[(patches-1)*s.Next+(side-1)*(s.Row+s.Col)+channels-1]
}

// applyPlain is the definition, for channels from the first on.
func (m patchMap) applyPlain(dst, src Patches, patches, first, channels int, biases []float32) {
	const together = 16
	var left [4 * together]float32 // row i of t·x
	var y [together]float32
	for s := range patches {
		for c := first; c < channels; c += together {
			n := min(together, channels-c)
			from, to := src.Data[s*src.Next+c:], dst.Data[s*dst.Next+c:]
			for i, row := range m.t {
				for j := range row {
					combine(left[j*together:j*together+n], row, from[j*src.Col:], src.Row)
				}
				for j, column := range m.t {
					combine(y[:n], column, left[:], together)
					if biases != nil {
						Axpy(y[:n], 1, biases[c:])
					}
					at := to[i*dst.Row+j*dst.Col:]
					if m.add {
						Axpy(y[:n], 1, at)
					}
					copy(at, y[:n])
				}
			}
		}
	}
}

// combine sets y to the sum of vectors of x, stride apart, times the coefficients.
func combine(y, coefficients, x []float32, stride int) {
	begun := false
	for i, f := range coefficients {
		if f == 0 {
			continue
		}
		from := x[i*stride:][:len(y)]
		for c, v := range from {
			if begun {
				y[c] += f * v
			} else {
				y[c] = f * v
			}
		}
		begun = true
	}
}
