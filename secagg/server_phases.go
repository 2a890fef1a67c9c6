package secagg

import "hubbub/secagg/shamir"

func (s *Server) advertised(from ID, message []byte) error {
	a, err := decodeAdvert(&s.p, &s.context, message)
	if err != nil {
		return err
	}
	if a.id != from {
		return refuse(ErrUnknown, "client %s advertises keys of %s", from, a.id)
	}
	if err := a.check(&s.p, &s.context, s.roster); err != nil {
		return err
	}
	for _, k := range []publicKey{a.seal, a.mask} {
		if owner, taken := s.keys[k]; taken {
			return refuse(ErrReplayedKey, "client %s has a key of %s", a.id, owner)
		}
	}
	if len(s.adverts) == s.p.Cohort {
		return refuse(ErrUnknown, "client %s: the cohort of %d is full", from, s.p.Cohort)
	}
	s.adverts[from], s.keys[a.seal], s.keys[a.mask] = a, from, from
	return nil
}

func decodeAdvert(p *Params, context *[32]byte, message []byte) (*advert, error) {
	r, err := open(message, kindAdvert, context)
	if err != nil {
		return nil, err
	}
	a := r.advert(p)
	return a, r.end()
}

func (s *Server) closeAdvertise() ([]Message, error) {
	n := len(s.adverts)
	if n < s.p.MinSurvivors {
		return nil, refuse(ErrCohort, "%d clients advertised keys, at least %d are needed", n, s.p.MinSurvivors)
	}
	adverts := make([]*advert, 0, n)
	for _, a := range s.adverts {
		adverts = append(adverts, a)
	}
	cohort, levels, err := newCohort(&s.p, &s.context, adverts)
	if err != nil {
		return nil, err
	}
	s.cohort = cohort
	s.places = make(map[ID]int, n)
	for i, a := range cohort.adverts {
		s.places[a.id] = i
	}
	s.boxes, s.shared, s.uploaded = make([][]byte, n), make(set, n), make(set, n)
	s.consents, s.shares = make([][]byte, n), make([][][]byte, n)
	send := make([]Message, n)
	for i, a := range cohort.adverts {
		if i > 0 && cohort.graph.complete { // all are sent the same
			send[i] = Message{a.id, send[0].Body}
			continue
		}
		send[i] = Message{a.id, cohort.encodeFor(&s.p, &s.context, i, levels)}
	}
	return send, nil
}

// others is the number of holders of a client's shares without itself.
func (s *Server) others(place int) int {
	n := len(s.cohort.graph.holders(place))
	if s.cohort.graph.complete {
		n--
	}
	return n
}

func (s *Server) sharedKeys(place int, message []byte) error {
	r, err := open(message, kindShares, &s.cohort.root)
	if err != nil {
		return err
	}
	boxes := r.take(s.others(place) * boxSize(&s.p))
	if err := r.end(); err != nil {
		return err
	}
	s.boxes[place], s.shared[place] = append([]byte(nil), boxes...), true
	return nil
}

// box is what dealer sealed to holder.
func (s *Server) box(dealer, holder int) []byte {
	at := s.cohort.graph.index(dealer, holder) - 1
	if s.cohort.graph.complete && holder > dealer { // none to itself
		at--
	}
	return s.boxes[dealer][at*boxSize(&s.p):][:boxSize(&s.p)]
}

// reachable refuses a set of clients that, if they stay, cannot restore the secret of somebody who shared keys.
func (s *Server) reachable(staying set, kind error) error {
	for dealer := range s.shared {
		if !s.shared[dealer] {
			continue
		}
		if n := s.within(dealer, staying); n < s.cohort.graph.threshold {
			return refuse(kind, "%d holders of the shares of client %s are left, the threshold is %d",
				n, s.cohort.adverts[dealer].id, s.cohort.graph.threshold)
		}
	}
	return nil
}

// within counts a client's holders in a set.
func (s *Server) within(place int, members set) int {
	n := 0
	for _, h := range s.cohort.graph.holders(place) {
		if members[h] {
			n++
		}
	}
	return n
}

func (s *Server) closeShare() ([]Message, error) {
	if n := s.shared.count(); n < s.p.MinSurvivors {
		return nil, refuse(ErrCohort, "%d clients shared keys, at least %d are needed", n, s.p.MinSurvivors)
	}
	if err := s.reachable(s.shared, ErrCohort); err != nil {
		return nil, err
	}
	var send []Message
	for i, a := range s.cohort.adverts {
		if !s.shared[i] {
			continue
		}
		holders := s.cohort.graph.holders(i)
		from := make(set, len(holders))
		for j, dealer := range holders {
			from[j] = dealer != i && s.shared[dealer]
		}
		body := from.append(header(kindDelivery, &s.cohort.root, len(holders)/8+1+len(holders)*boxSize(&s.p)))
		for j, dealer := range holders {
			if from[j] {
				body = append(body, s.box(dealer, i)...)
			}
		}
		send = append(send, Message{a.id, body})
	}
	return send, nil
}

func (s *Server) closeUpload() ([]Message, error) {
	survivors := append(set(nil), s.uploaded...)
	if err := s.p.checkSurvivors(survivors); err != nil {
		return nil, err
	}
	if err := s.reachable(survivors, ErrSurvivors); err != nil {
		return nil, err
	}
	s.survivors, s.signed = survivors, consentSigned(&s.cohort.root, survivors)
	body := survivors.append(header(kindSurvivors, &s.cohort.root, len(survivors)/8+1))
	var send []Message
	for i, a := range s.cohort.adverts {
		if survivors[i] {
			send = append(send, Message{a.id, body})
		}
	}
	return send, nil
}

func (s *Server) consented(place int, message []byte) error {
	r, err := open(message, kindConsent, &s.cohort.root)
	if err != nil {
		return err
	}
	signature := r.take(64)
	if err := r.end(); err != nil {
		return err
	}
	id := s.cohort.adverts[place].id
	if !s.survivors[place] {
		return refuse(ErrUnknown, "client %s is no survivor", id)
	}
	if !id.verify(s.signed, (*[64]byte)(signature)) {
		return refuse(ErrSignature, "survivors, client %s", id)
	}
	s.consents[place] = append([]byte(nil), signature...)
	return nil
}

// closeConsent sends everybody who signed the signatures of t of its holders: as many as it wants to see.
func (s *Server) closeConsent() ([]Message, error) {
	signed := make(set, len(s.consents))
	for i := range signed {
		signed[i] = s.consents[i] != nil
	}
	if n := signed.count(); n < s.cohort.graph.threshold {
		return nil, refuse(ErrDisagree, "%d signatures, the threshold is %d", n, s.cohort.graph.threshold)
	}
	if err := s.reachable(signed, ErrDisagree); err != nil {
		return nil, err
	}
	var send []Message
	for i, a := range s.cohort.adverts {
		if !signed[i] {
			continue
		}
		holders := s.cohort.graph.holders(i)
		signers := make(set, len(holders))
		var signatures []byte
		for j, h := range holders {
			if signed[h] && len(signatures) < 64*s.cohort.graph.threshold {
				signers[j] = true
				signatures = append(signatures, s.consents[h]...)
			}
		}
		body := signers.append(header(kindRequest, &s.cohort.root, len(holders)/8+1+len(signatures)))
		send = append(send, Message{a.id, append(body, signatures...)})
	}
	return send, nil
}

// revealed keeps what a client reveals, dealer by dealer.
func (s *Server) revealed(place int, message []byte) error {
	if s.consents[place] == nil {
		return refuse(ErrUnknown, "client %s was not asked", s.cohort.adverts[place].id)
	}
	r, err := open(message, kindReveal, &s.cohort.root)
	if err != nil {
		return err
	}
	holders := s.cohort.graph.holders(place) // whose shares it holds: neighbours are mutual
	shares := make([][]byte, len(holders))
	removed := s.p.removed(s.survivors)
	for j, dealer := range holders {
		switch {
		case !s.shared[dealer]:
		case s.survivors[dealer] && removed > 0:
			shares[j] = r.take(2 * shamir.ValueSize)
		default:
			shares[j] = r.take(shamir.ValueSize)
		}
	}
	if err := r.end(); err != nil {
		return err
	}
	for j := range shares {
		for at := 0; at < len(shares[j]); at += shamir.ValueSize {
			if _, err := shamir.ParseValue(shares[j][at:][:shamir.ValueSize]); err != nil {
				return refuse(ErrShare, "of client %s from %s: %v", s.cohort.adverts[holders[j]].id, s.cohort.adverts[place].id, err)
			}
		}
		shares[j] = append([]byte(nil), shares[j]...)
	}
	s.shares[place] = shares
	return nil
}
