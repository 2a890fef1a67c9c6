package secagg

import (
	"crypto/ed25519"

	"hubbub/secagg/shamir"
)

// consentSigned is what a client signs when it agrees to a set of survivors.
func consentSigned(root *[32]byte, survivors set) []byte {
	return survivors.append(append([]byte("hubbub secagg 1 survivors\x00"), root[:]...))
}

// checkSurvivors refuses a set that no round may end with.
func (p *Params) checkSurvivors(survivors set) error {
	if n := survivors.count(); n < p.MinSurvivors {
		return refuse(ErrSurvivors, "%d, at least %d are needed", n, p.MinSurvivors)
	}
	return nil
}

// removed is the first layer of noise that is taken away, or zero if all stay: invited clients that did not contribute took
// their noise with them, and as many layers of the others stay in their place.
func (p *Params) removed(survivors set) int {
	if drops := p.Cohort - survivors.count(); drops < p.Layers {
		return drops + 1
	}
	return 0
}

// consent answers the set of survivors with a signature of it, once.
func (c *Client) consent(message []byte) ([]byte, error) {
	if err := c.awaits(uploads); err != nil {
		return nil, err
	}
	r, err := open(message, kindSurvivors, &c.cohort.root)
	if err != nil {
		return nil, err
	}
	survivors := r.set(len(c.cohort.adverts))
	if err := r.end(); err != nil {
		return nil, err
	}
	if !c.complete() {
		return nil, refuse(ErrEarly, "this client has not sent all chunks")
	}
	if !survivors[c.place] {
		return nil, refuse(ErrSurvivors, "this client contributed and is not among them")
	}
	if err := c.p.checkSurvivors(survivors); err != nil {
		return nil, err
	}
	present := 0
	for i := range c.circle {
		n := &c.circle[i]
		if survivors[n.place] && !n.in {
			return nil, refuse(ErrSurvivors, "client %s contributed without having shared its keys", c.cohort.adverts[n.place].id)
		}
		if survivors[n.place] {
			present++
		}
	}
	if present < c.cohort.graph.threshold {
		return nil, refuse(ErrSurvivors, "%d holders of this client's shares, the threshold is %d", present, c.cohort.graph.threshold)
	}
	c.survivors, c.consented = survivors, consentSigned(&c.cohort.root, survivors)
	c.phase = waitsForRequest
	return append(header(kindConsent, &c.cohort.root, 64), ed25519.Sign(c.key, c.consented)...), nil
}

// reveal answers the unmask request, once: for each client one share of either the self mask or the mask key, never both. The request
// cannot even name them; the set that this client and t holders signed decides.
func (c *Client) reveal(message []byte) ([]byte, error) {
	if err := c.awaits(waitsForRequest); err != nil {
		return nil, err
	}
	r, err := open(message, kindRequest, &c.cohort.root)
	if err != nil {
		return nil, err
	}
	signers := r.set(len(c.circle))
	signatures := r.take(64 * signers.count())
	if err := r.end(); err != nil {
		return nil, err
	}
	if n := signers.count(); n < c.cohort.graph.threshold {
		return nil, refuse(ErrDisagree, "%d signatures, the threshold is %d", n, c.cohort.graph.threshold)
	}
	for i := range c.circle {
		if !signers[i] {
			continue
		}
		n := &c.circle[i]
		signer := c.cohort.adverts[n.place].id
		if !c.survivors[n.place] {
			return nil, refuse(ErrDisagree, "client %s signed and is no survivor", signer)
		}
		if !signer.verify(c.consented, (*[64]byte)(signatures)) {
			return nil, refuse(ErrDisagree, "client %s: %w", signer, ErrSignature)
		}
		signatures = signatures[64:]
	}
	removed := c.p.removed(c.survivors)
	out := header(kindReveal, &c.cohort.root, 2*len(c.circle)*shamir.ValueSize)
	for i := range c.circle {
		n := &c.circle[i]
		switch {
		case !n.in: // nobody masked with it
		case !c.survivors[n.place]:
			out = n.mask.Append(out)
		default:
			out = n.self.Append(out)
			if removed > 0 {
				out = n.layerShares[removed-1].Append(out)
			}
		}
	}
	c.phase = finished
	c.erase()
	return out, nil
}
