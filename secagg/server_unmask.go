package secagg

import (
	"slices"

	"hubbub/secagg/shamir"
)

// closeUnmask restores one secret of each client that shared keys: the self mask of survivors, the mask key of the others; and of
// survivors the layers of noise to take away.
func (s *Server) closeUnmask() (*Unmasking, error) {
	u := &Unmasking{root: s.cohort.root, context: s.context, survivors: s.survivors, removed: s.p.removed(s.survivors)}
	restore := restorer{s: s, quorums: map[string]*shamir.Quorum{}}
	for dealer := range s.shared {
		if !s.shared[dealer] {
			continue
		}
		a := s.cohort.adverts[dealer]
		if !s.survivors[dealer] {
			mask, err := restore.secret(dealer, 0, func(mask Seed) bool {
				x25519, _ := newAgreementKey(&s.p, &s.context, &mask).public()
				return x25519 == a.mask
			})
			if err != nil {
				return nil, refuse(err, "mask key of client %s", a.id)
			}
			if err := s.takeOut(u, dealer, &mask); err != nil {
				return nil, err
			}
			mask.erase()
			continue
		}
		self, err := restore.secret(dealer, 0, func(self Seed) bool { return commitment(&s.context, &self) == a.self })
		if err != nil {
			return nil, refuse(err, "self mask of client %s", a.id)
		}
		u.masks = append(u.masks, signedSeed{self, true})
		if u.removed > 0 {
			layer, err := restore.secret(dealer, 1, func(layer Seed) bool {
				_, ok := layersFrom(&s.context, u.removed, s.p.Layers, layer, &a.layers)
				return ok
			})
			if err != nil {
				return nil, refuse(err, "layers of client %s", a.id)
			}
			seeds, _ := layersFrom(&s.context, u.removed, s.p.Layers, layer, &a.layers)
			u.layers = append(u.layers, seeds...)
		}
	}
	s.shares = nil
	return u, nil
}

// takeOut lists the masks that survivors have in common with a client whose vector did not come.
func (s *Server) takeOut(u *Unmasking, dropped int, secret *Seed) error {
	key := newAgreementKey(&s.p, &s.context, secret)
	for _, other := range s.cohort.graph.holders(dropped) {
		if !s.survivors[other] {
			continue
		}
		pair, err := pairSeed(&s.p, key, secret, s.cohort.adverts[other], s.box(other, dropped), &s.cohort.root, dropped, other)
		if err != nil {
			return err
		}
		u.masks = append(u.masks, signedSeed{pair, adds(other, dropped)})
	}
	return nil
}

// restorer combines shares. Where several secrets come from the same holders, the common work is done once.
type restorer struct {
	s       *Server
	quorums map[string]*shamir.Quorum
	suspect []int // clients whose share of somebody was wrong: theirs, or dealt to them so
}

// secret combines t shares of a dealer; which is the secret's place among what was revealed of it. If the dealer's advert does not confirm the
// result, shares are wrong: half of those beyond t may be, and one if there is one beyond t. Who was found wrong once is asked last from
// then on.
func (r *restorer) secret(dealer, which int, confirmed func(Seed) bool) (Seed, error) {
	s, t := r.s, r.s.cohort.graph.threshold
	var candidates, last []int
	for _, h := range s.cohort.graph.holders(dealer) {
		switch {
		case s.shares[h] == nil:
		case slices.Contains(r.suspect, h):
			last = append(last, h)
		default:
			candidates = append(candidates, h)
		}
	}
	candidates = append(candidates, last...)
	if len(candidates) < t {
		return Seed{}, refuse(ErrShare, "%d shares came, the threshold is %d", len(candidates), t)
	}
	seed, _, err := r.combine(dealer, which, candidates[:t])
	if err == nil && (confirmed(seed) || !enforced(checkRestored)) {
		return seed, nil
	}
	if seed, wrong, err := r.combine(dealer, which, candidates); err == nil && confirmed(seed) {
		r.suspect = append(r.suspect, wrong...)
		return seed, nil
	}
	if len(candidates) == t+1 {
		for i := range candidates { // all but one
			if seed, _, err := r.combine(dealer, which, slices.Delete(slices.Clone(candidates), i, i+1)); err == nil && confirmed(seed) {
				r.suspect = append(r.suspect, candidates[i])
				return seed, nil
			}
		}
	}
	return Seed{}, refuse(ErrShare, "%d shares came and do not give what was advertised", len(candidates))
}

// combine restores a secret from the shares of these holders, and says whose were wrong if there are enough to tell.
func (r *restorer) combine(dealer, which int, holders []int) (seed Seed, wrong []int, err error) {
	graph := &r.s.cohort.graph
	indices, name := make([]int, len(holders)), make([]byte, 0, 4*len(holders))
	values := make([]shamir.Value, len(holders))
	for i, h := range holders {
		indices[i] = graph.index(dealer, h)
		name = appendNumber(name, indices[i])
		share := r.s.shares[h][graph.index(h, dealer)-1]
		if values[i], err = shamir.ParseValue(share[which*shamir.ValueSize:][:shamir.ValueSize]); err != nil {
			return Seed{}, nil, err
		}
	}
	defer clear(values)
	n := len(graph.holders(dealer))
	name = appendNumber(name, n)
	q := r.quorums[string(name)]
	if q == nil {
		if q, err = shamir.NewQuorum(indices, n, graph.threshold); err != nil {
			return Seed{}, nil, err
		}
		r.quorums[string(name)] = q
	}
	secret, places, err := q.Correct(values)
	for _, index := range places {
		wrong = append(wrong, graph.holders(dealer)[index-1])
	}
	return secret, wrong, err
}
