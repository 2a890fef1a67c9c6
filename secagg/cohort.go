package secagg

import (
	"bytes"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/sha256"
	"math/bits"
	"slices"
)

// advert is what a client says of itself: the public halves of its keys for this round, signed under its enrolled name.
type advert struct {
	id         ID
	seal, mask publicKey
	self       [32]byte // commitment to the seed of the self mask
	layers     [32]byte // end of the chain of layer seeds; absent without layers
	sealKEM    []byte   // ML-KEM-768 encapsulation keys; absent unless hybrid
	maskKEM    []byte
	signature  [64]byte
}

// body is the signed part.
func (a *advert) body(p *Params) []byte {
	b := make([]byte, 0, advertSize(p))
	b = append(b, a.id[:]...)
	b = append(b, a.seal[:]...)
	b = append(b, a.mask[:]...)
	b = append(b, a.self[:]...)
	if p.Layers > 0 {
		b = append(b, a.layers[:]...)
	}
	if p.Hybrid {
		b = append(append(b, a.sealKEM...), a.maskKEM...)
	}
	return b
}

func (a *advert) encode(p *Params) []byte { return append(a.body(p), a.signature[:]...) }

func advertSize(p *Params) int {
	size := 4*32 + 64
	if p.Layers > 0 {
		size += 32
	}
	if p.Hybrid {
		size += 2 * mlkem.EncapsulationKeySize768
	}
	return size
}

func (r *reader) advert(p *Params) *advert {
	a := &advert{id: ID(r.hash()), seal: publicKey(r.hash()), mask: publicKey(r.hash()), self: r.hash()}
	if p.Layers > 0 {
		a.layers = r.hash()
	}
	if p.Hybrid {
		a.sealKEM = bytes.Clone(r.take(mlkem.EncapsulationKeySize768))
		a.maskKEM = bytes.Clone(r.take(mlkem.EncapsulationKeySize768))
	}
	copy(a.signature[:], r.take(64))
	return a
}

func advertSigned(context *[32]byte, body []byte) []byte {
	return append(append([]byte("hubbub secagg 1 keys\x00"), context[:]...), body...)
}

func (a *advert) sign(p *Params, context *[32]byte, key ed25519.PrivateKey) {
	copy(a.signature[:], ed25519.Sign(key, advertSigned(context, a.body(p))))
}

// check refuses what no honest client of this round can have sent.
func (a *advert) check(p *Params, context *[32]byte, roster Roster) error {
	if roster != nil && !roster[a.id] {
		return refuse(ErrUnknown, "client %s", a.id)
	}
	for _, k := range []*publicKey{&a.seal, &a.mask} {
		if err := k.check(); err != nil {
			return refuse(err, "client %s", a.id)
		}
	}
	if p.Hybrid {
		for _, k := range [][]byte{a.sealKEM, a.maskKEM} {
			if _, err := mlkem.NewEncapsulationKey768(k); err != nil {
				return refuse(ErrKey, "client %s: %v", a.id, err)
			}
		}
	}
	if a.seal == a.mask {
		return refuse(ErrReplayedKey, "client %s seals and masks with one key", a.id)
	}
	if !a.id.verify(advertSigned(context, a.body(p)), &a.signature) {
		return refuse(ErrSignature, "keys of client %s: forged, or of another round, model or setting", a.id)
	}
	return nil
}

// cohort is who takes part: the adverts that a side knows, ordered by name, and the root that commits to all of them.
type cohort struct {
	root    [32]byte
	adverts []*advert // nil where a client was not shown it
	graph   topology
}

// The root is that of a hash tree over the adverts, filled up with zeros to a power of two.
func leaf(p *Params, context *[32]byte, a *advert) [32]byte {
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(context[:])
	h.Write(a.encode(p))
	return [32]byte(h.Sum(nil))
}

func parent(left, right *[32]byte) [32]byte {
	var b [65]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[33:], right[:])
	return sha256.Sum256(b[:])
}

// depth is the number of hashes between a leaf and the top.
func depth(n int) int { return bits.Len(uint(n - 1)) }

// tree gives the levels of the hash tree, leaves first.
func tree(leaves [][32]byte) [][][32]byte {
	level := make([][32]byte, 1<<depth(len(leaves)))
	copy(level, leaves)
	levels := [][][32]byte{level}
	for len(level) > 1 {
		above := make([][32]byte, len(level)/2)
		for i := range above {
			above[i] = parent(&level[2*i], &level[2*i+1])
		}
		level = above
		levels = append(levels, level)
	}
	return levels
}

// climb goes from a leaf to the top along the siblings of a proof.
func climb(leaf [32]byte, index int, proof [][32]byte) [32]byte {
	for _, sibling := range proof {
		if index%2 == 0 {
			leaf = parent(&leaf, &sibling)
		} else {
			leaf = parent(&sibling, &leaf)
		}
		index /= 2
	}
	return leaf
}

// rootOf binds the tree to the parameters and to the number of clients.
func rootOf(context *[32]byte, n int, top *[32]byte) [32]byte {
	b := append([]byte("hubbub secagg 1 cohort\x00"), context[:]...)
	return sha256.Sum256(append(appendNumber(b, n), top[:]...))
}

// newCohort is the server's: it knows every advert.
func newCohort(p *Params, context *[32]byte, adverts []*advert) (*cohort, [][][32]byte, error) {
	plan, err := p.plan(len(adverts))
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(adverts, func(a, b *advert) int { return bytes.Compare(a.id[:], b.id[:]) })
	leaves := make([][32]byte, len(adverts))
	for i, a := range adverts {
		leaves[i] = leaf(p, context, a)
	}
	levels := tree(leaves)
	root := rootOf(context, len(adverts), &levels[len(levels)-1][0])
	return &cohort{root: root, adverts: adverts, graph: newTopology(plan, root)}, levels, nil
}

// encodeFor writes the cohort for client self: in a complete graph all adverts; otherwise its own and its neighbours', each with the
// hashes that prove its place.
func (c *cohort) encodeFor(p *Params, context *[32]byte, self int, levels [][][32]byte) []byte {
	n := len(c.adverts)
	if c.graph.complete {
		b := appendNumber(header(kindCohort, context, 4+n*advertSize(p)), n)
		for _, a := range c.adverts {
			b = append(b, a.encode(p)...)
		}
		return b
	}
	shown := c.graph.circle(self)
	b := appendNumber(header(kindCohort, context, 4+len(shown)*(4+advertSize(p)+32*depth(n))), n)
	for _, i := range shown {
		b = append(appendNumber(b, i), c.adverts[i].encode(p)...)
		for d, at := 0, i; d < depth(n); d, at = d+1, at/2 {
			b = append(b, levels[d][at^1][:]...)
		}
	}
	return b
}

// decodeCohort reads what encodeFor wrote for the client named self, and gives its place. Keys and signatures are not checked yet.
func decodeCohort(p *Params, context *[32]byte, self ID, message []byte) (*cohort, int, error) {
	r, err := open(message, kindCohort, context)
	if err != nil {
		return nil, 0, err
	}
	n := int(r.number())
	if n < p.MinSurvivors || n > p.Cohort {
		return nil, 0, refuse(ErrCohort, "%d clients, outside [%d, %d]", n, p.MinSurvivors, p.Cohort)
	}
	plan, err := p.plan(n)
	if err != nil {
		return nil, 0, err
	}
	shown, size := n, advertSize(p)
	if !plan.Complete {
		shown = plan.Degree + 1
		size += 4 + 32*depth(n)
	}
	if len(r.rest) != shown*size {
		return nil, 0, refuse(ErrMalformed, "%d bytes instead of %d for %d clients", len(r.rest), shown*size, shown)
	}
	c := &cohort{adverts: make([]*advert, n)}
	if plan.Complete {
		leaves := make([][32]byte, n)
		for i := range c.adverts {
			c.adverts[i] = r.advert(p)
			leaves[i] = leaf(p, context, c.adverts[i])
		}
		levels := tree(leaves)
		c.root = rootOf(context, n, &levels[len(levels)-1][0])
	} else if err := c.readProved(r, p, context, shown); err != nil {
		return nil, 0, err
	}
	place := slices.IndexFunc(c.adverts, func(a *advert) bool { return a != nil && a.id == self })
	if place < 0 {
		return nil, 0, refuse(ErrUnknown, "this client is not in the cohort that it was sent")
	}
	c.graph = newTopology(plan, c.root)
	for _, i := range c.graph.circle(place) {
		if c.adverts[i] == nil {
			return nil, 0, refuse(ErrMalformed, "the keys of neighbour %d are not among those sent", i)
		}
	}
	return c, place, r.end()
}

// readProved reads adverts with their proofs, in ascending order of place. All must lead to one top.
func (c *cohort) readProved(r *reader, p *Params, context *[32]byte, shown int) error {
	n, last := len(c.adverts), -1
	var top [32]byte
	for range shown {
		i := int(r.number())
		if i <= last || i >= n {
			return refuse(ErrMalformed, "place %d after %d among %d", i, last, n)
		}
		a := r.advert(p)
		proof := make([][32]byte, depth(n))
		for d := range proof {
			proof[d] = r.hash()
		}
		reached := climb(leaf(p, context, a), i, proof)
		if last >= 0 && reached != top {
			return refuse(ErrMalformed, "the keys of client %d are not proved to belong to the cohort", i)
		}
		c.adverts[i], top, last = a, reached, i
	}
	c.root = rootOf(context, n, &top)
	return nil
}

// check is the client's look at the others: known, distinct, signed.
func (c *cohort) check(p *Params, context *[32]byte, roster Roster) error {
	keys := map[publicKey]bool{}
	var last *advert
	for _, a := range c.adverts {
		if a == nil {
			continue
		}
		if last != nil && bytes.Compare(last.id[:], a.id[:]) >= 0 {
			return refuse(ErrReplayedKey, "client %s twice, or out of order", a.id)
		}
		if keys[a.seal] || keys[a.mask] {
			return refuse(ErrReplayedKey, "client %s has a key of another", a.id)
		}
		keys[a.seal], keys[a.mask], last = true, true, a
		if err := a.check(p, context, roster); err != nil {
			return err
		}
	}
	return nil
}
