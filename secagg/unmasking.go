package secagg

import (
	"fmt"
	"io"
)

// Unmasking is what opens the sum of one set of survivors, and nothing else: the seeds of the masks that are left in it. It prints as
// "secagg.Unmasking(secret)". It does not change, so any number of goroutines may use it.
type Unmasking struct {
	root      [32]byte
	context   [32]byte
	survivors set
	masks     []signedSeed
	removed   int // first layer that is taken away; 0: none
	layers    []Seed
}

type signedSeed struct {
	Seed
	subtract bool
}

// Survivors is whose values are in the sum, by place in the cohort.
func (u *Unmasking) Survivors() []bool { return append([]bool(nil), u.survivors...) }

// Format hides the seeds from every verb.
func (u Unmasking) Format(f fmt.State, _ rune) { io.WriteString(f, "secagg.Unmasking(secret)") }

// Erase forgets the seeds, when every chunk was opened. Nothing can be opened afterwards.
func (u *Unmasking) Erase() {
	clear(u.masks)
	clear(u.layers)
	*u = Unmasking{}
}

// unmask takes the masks off a sum and gives its residues around zero.
func unmask[W word](sum []W, u *Unmasking, from, bits int) []int64 {
	for i := range u.masks {
		addMask(sum, &u.masks[i].Seed, from, u.masks[i].subtract)
	}
	centred := make([]int64, len(sum))
	for i, x := range sum {
		centred[i] = int64(x) << (64 - bits) >> (64 - bits)
	}
	return centred
}

// removeLayers takes the layers off that dropouts did not use up.
func (u *Unmasking) removeLayers(sum []int64, p *Params, chunk int, noise LayerNoise) {
	if u.removed == 0 {
		return
	}
	layer := make([]int64, len(sum))
	each := p.Layers - u.removed + 1 // layers of one client
	for i := range u.layers {
		noise(u.removed+i%each, layerSeed(&u.context, &u.layers[i], chunk), layer)
	}
	for i := range sum {
		sum[i] = (sum[i] - layer[i]) << (64 - p.Bits) >> (64 - p.Bits)
	}
}
