package kernel

import "unsafe"

//go:generate sh -c "go run generate_winograd.go > winograd_amd64.s"

// The maps of winograd.go, for whole vectors of 16 or 8 channels. Strides are in bytes.

//go:noescape
func patchOfInputAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchOfWeightsAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchToOutputAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchOfDeltasAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchToWeightsAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchAddWeightsAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchToInputAVX512(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchOfInputAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchOfWeightsAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchToOutputAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchOfDeltasAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchToWeightsAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchAddWeightsAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

//go:noescape
func patchToInputAVX2(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

type patchLoop func(dst, src *float32, dstRow, dstCol, dstNext, srcRow, srcCol, srcNext, patches, vectors int, biases *float32)

// In the order of patchMap.fast.
var (
	patchesAVX512 = [...]patchLoop{patchOfInputAVX512, patchOfWeightsAVX512, patchToOutputAVX512, patchOfDeltasAVX512, patchToWeightsAVX512, patchAddWeightsAVX512, patchToInputAVX512}
	patchesAVX2   = [...]patchLoop{patchOfInputAVX2, patchOfWeightsAVX2, patchToOutputAVX2, patchOfDeltasAVX2, patchToWeightsAVX2, patchAddWeightsAVX2, patchToInputAVX2}
)

// applyFast maps whole vectors of channels and says how many channels that were.
func (m patchMap) applyFast(dst, src Patches, patches, channels int, biases []float32) int {
	loop, lanes := patchLoop(nil), 0
	switch {
	case hasAVX512:
		loop, lanes = patchesAVX512[m.fast], 16
	case hasAVX2:
		loop, lanes = patchesAVX2[m.fast], 8
	default:
		return 0
	}
	vectors := channels / lanes
	if vectors > 0 {
		loop(&dst.Data[0], &src.Data[0], 4*dst.Row, 4*dst.Col, 4*dst.Next, 4*src.Row, 4*src.Col, 4*src.Next, patches, vectors, unsafe.SliceData(biases))
	}
	return vectors * lanes
}
