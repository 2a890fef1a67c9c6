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

// Encode writes the seeds down for an aggregator on another machine, and is as secret as they are.
func (u *Unmasking) Encode() []byte {
	b := make([]byte, 0, 32+4+len(u.survivors)/8+1+4+33*len(u.masks)+32*len(u.layers))
	b = append(b, u.root[:]...)
	b = u.survivors.append(appendNumber(b, len(u.survivors)))
	b = appendNumber(b, len(u.masks))
	for i := range u.masks {
		sign := byte(0)
		if u.masks[i].subtract {
			sign = 1
		}
		b = append(append(b, sign), u.masks[i].Seed[:]...)
	}
	for i := range u.layers {
		b = append(b, u.layers[i][:]...)
	}
	return b
}

// DecodeUnmasking reads what Encode wrote in a round with these parameters.
func DecodeUnmasking(p Params, encoded []byte) (*Unmasking, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	r := &reader{rest: encoded}
	u := &Unmasking{context: p.context(), root: r.hash()}
	n := int(r.number())
	if n < p.MinSurvivors || n > p.Cohort {
		return nil, refuse(ErrMalformed, "%d clients outside [%d, %d]", n, p.MinSurvivors, p.Cohort)
	}
	if u.survivors = r.set(n); r.short {
		return nil, r.end()
	}
	if err := p.checkSurvivors(u.survivors); err != nil {
		return nil, err
	}
	u.removed = p.removed(u.survivors)
	masks, layers := int(r.number()), 0
	if u.removed > 0 {
		layers = u.survivors.count() * (p.Layers - u.removed + 1)
	}
	if len(r.rest) != 33*masks+32*layers {
		return nil, refuse(ErrMalformed, "%d bytes for %d masks and %d layers", len(r.rest), masks, layers)
	}
	for range masks {
		sign := r.take(1)[0]
		if sign > 1 {
			return nil, refuse(ErrMalformed, "sign %d", sign)
		}
		u.masks = append(u.masks, signedSeed{Seed(r.hash()), sign == 1})
	}
	for range layers {
		u.layers = append(u.layers, r.hash())
	}
	return u, r.end()
}
