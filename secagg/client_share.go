package secagg

import (
	"bytes"

	"hubbub/noise"
	"hubbub/secagg/shamir"
)

// share answers the cohort: it checks everybody's keys, splits the secrets and seals a share of each to every holder.
func (c *Client) share(message []byte) ([]byte, error) {
	if err := c.awaits(waitsForCohort); err != nil {
		return nil, err
	}
	cohort, place, err := decodeCohort(&c.p, &c.context, c.advert.id, message)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(cohort.adverts[place].encode(&c.p), c.advert.encode(&c.p)) {
		return nil, refuse(ErrReplayedKey, "the cohort holds other keys of this client than it advertised")
	}
	if err := cohort.check(&c.p, &c.context, c.roster); err != nil {
		return nil, err
	}
	circle, err := c.meet(cohort, place)
	if err != nil {
		return nil, err
	}
	boxes, err := c.deal(cohort, place, circle)
	if err != nil {
		return nil, err
	}
	c.cohort, c.place, c.circle, c.phase = cohort, place, circle, waitsForShares
	c.coins.erase()
	return boxes, nil
}

// meet agrees on sealing keys with every neighbour.
func (c *Client) meet(cohort *cohort, place int) ([]neighbour, error) {
	holders := cohort.graph.holders(place)
	circle := make([]neighbour, len(holders))
	seal := newAgreementKey(&c.p, &c.context, &c.seal)
	for i, other := range holders {
		circle[i].place = other
		if other == place {
			circle[i].in = true
			continue
		}
		a := cohort.adverts[other]
		agreed, err := agree(seal.x25519, &a.seal)
		if err != nil {
			return nil, refuse(err, "client %s", a.id)
		}
		circle[i].agreed = Seed(agreed)
	}
	return circle, nil
}

// deal splits the secrets. Where the client is a holder itself it keeps its shares.
func (c *Client) deal(cohort *cohort, place int, circle []neighbour) ([]byte, error) {
	coins := streamReader{noise.Key(derive(c.coins[:], &cohort.root, "sharing")).Stream()}
	secrets := append([]Seed{c.mask, c.self}, c.layer...)
	split := make([][]shamir.Share, len(secrets))
	for i := range secrets {
		var err error
		if split[i], err = shamir.Split(secrets[i], len(circle), cohort.graph.threshold, coins); err != nil {
			return nil, refuse(ErrCohort, "%v", err)
		}
	}
	clear(secrets)
	out := header(kindShares, &cohort.root, len(circle)*boxSize(&c.p))
	plain := make([]byte, 0, plainSize(&c.p))
	for i := range circle {
		n := &circle[i]
		if n.place == place {
			n.mask, n.self = split[0][i].Value, split[1][i].Value
			for _, layer := range split[2:] {
				n.layerShares = append(n.layerShares, layer[i].Value)
			}
			continue
		}
		plain = plain[:0]
		for _, shares := range split {
			plain = shares[i].Value.Append(plain)
		}
		out = sealBox(out, &c.p, &n.agreed, &c.mask, cohort.adverts[n.place], &cohort.root, place, n.place, plain)
	}
	clear(plain)
	for _, shares := range split {
		clear(shares)
	}
	return out, nil
}

// receive opens the shares that others sealed to this client. From then on it can mask.
func (c *Client) receive(message []byte) error {
	if err := c.awaits(waitsForShares); err != nil {
		return err
	}
	r, err := open(message, kindDelivery, &c.cohort.root)
	if err != nil {
		return err
	}
	others := r.set(len(c.circle))
	boxes := r.take(others.count() * boxSize(&c.p))
	if err := r.end(); err != nil {
		return err
	}
	circle := append([]neighbour(nil), c.circle...)
	seal, mask := newAgreementKey(&c.p, &c.context, &c.seal), newAgreementKey(&c.p, &c.context, &c.mask)
	present := 0
	for i := range circle {
		n := &circle[i]
		if others[i] && n.place == c.place {
			return refuse(ErrMalformed, "shares of this client for itself")
		}
		if others[i] {
			box := boxes[:boxSize(&c.p)]
			boxes = boxes[boxSize(&c.p):]
			if err := c.accept(n, seal, mask, box); err != nil {
				return err
			}
		}
		if n.in {
			present++
		}
	}
	if present < c.cohort.graph.threshold {
		return refuse(ErrCohort, "shares of %d holders, the threshold is %d", present, c.cohort.graph.threshold)
	}
	for i := range circle {
		circle[i].agreed.erase()
	}
	clear(c.circle) // the copy before
	c.circle, c.phase = circle, uploads
	return nil
}

// accept keeps the shares in a neighbour's box and agrees on the common mask with it.
func (c *Client) accept(n *neighbour, seal, mask agreementKey, box []byte) error {
	from, root := c.cohort.adverts[n.place], &c.cohort.root
	plain, err := openBox(&c.p, &n.agreed, seal, from, root, c.place, n.place, box)
	if err != nil {
		return err
	}
	defer clear(plain)
	if err := n.keep(plain); err != nil {
		return refuse(err, "from client %s", from.id)
	}
	n.pair, err = pairSeed(&c.p, mask, &c.mask, from, box, root, c.place, n.place)
	return err
}

// keep stores the shares that a neighbour sent.
func (n *neighbour) keep(plain []byte) error {
	values := make([]shamir.Value, len(plain)/shamir.ValueSize)
	for i := range values {
		var err error
		if values[i], err = shamir.ParseValue(plain[i*shamir.ValueSize:][:shamir.ValueSize]); err != nil {
			return refuse(ErrShare, "%v", err)
		}
	}
	n.in, n.mask, n.self, n.layerShares = true, values[0], values[1], values[2:]
	return nil
}

// streamReader makes a stream look like a source of random bytes.
type streamReader struct{ stream *noise.Stream }

func (s streamReader) Read(b []byte) (int, error) {
	whole := len(b) &^ 15
	s.stream.Fill(b[:whole])
	if whole < len(b) {
		var rest [16]byte
		s.stream.Fill(rest[:])
		copy(b[whole:], rest[:])
	}
	return len(b), nil
}
