package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"

	"hubbub/secagg/shamir"
)

// fake is somebody whose sealing and mask key the attacker has.
type fake struct {
	advert     *advert
	seal, mask agreementKey
	secret     Seed // of the mask key
}

// fakes takes over the keys of clients; their adverts were made for the parameters p.
func fakes(p Params, clients []*Client) []*fake {
	context := p.context()
	var taken []*fake
	for _, c := range clients {
		taken = append(taken, &fake{c.advert, newAgreementKey(&p, &context, &c.seal), newAgreementKey(&p, &context, &c.mask), c.mask})
	}
	return taken
}

// besiege surrounds a client with fakes in a round of its own and opens its vector from what they were sent, before it ever agreed to
// unmask anything.
func besiege(t *testing.T, p Params, client *Client, vector []int64, others []*fake) (bool, error) {
	context := p.context()
	adverts := []*advert{client.advert}
	for _, f := range others {
		adverts = append(adverts, f.advert)
	}
	around, levels, err := newCohort(&p, &context, adverts) // sorts adverts by name
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(around.adverts, client.advert)
	sealed, err := client.Handle(around.encodeFor(&p, &context, at, levels))
	if err != nil {
		return false, err
	}

	boxes := sealed[headerSize:]
	came := make(set, len(adverts))
	var back []byte
	var shares []shamir.Share
	u := &Unmasking{root: around.root, context: context, survivors: make(set, len(adverts))}
	u.survivors[at] = true
	for place, a := range around.adverts {
		if place == at {
			continue
		}
		f := others[slices.IndexFunc(others, func(f *fake) bool { return f.advert == a })]
		agreed, err := agree(f.seal.x25519, &client.advert.seal)
		if err != nil {
			t.Fatal(err)
		}
		secret := Seed(agreed)
		box := boxes[:boxSize(&p)]
		boxes = boxes[boxSize(&p):]
		plain, err := openBox(&p, &secret, f.seal, client.advert, &around.root, place, at, box)
		if err != nil {
			t.Fatal(err)
		}
		value, err := shamir.ParseValue(plain[shamir.ValueSize:][:shamir.ValueSize]) // of the self mask
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, shamir.Share{Index: place + 1, Value: value})
		pair, err := pairSeed(&p, f.mask, &f.secret, client.advert, box, &around.root, place, at)
		if err != nil {
			t.Fatal(err)
		}
		u.masks = append(u.masks, signedSeed{pair, adds(at, place)})
		came[place] = true
		back = sealBox(back, &p, &secret, &f.secret, client.advert, &around.root, place, at, make([]byte, plainSize(&p)))
	}
	if _, err := client.Handle(append(came.append(header(kindDelivery, &around.root, 0)), back...)); err != nil {
		return false, err
	}
	chunk, err := client.MaskedChunk(0, vector)
	if err != nil {
		t.Fatal(err)
	}
	self, err := shamir.Combine(shares[:p.Threshold], len(adverts), p.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	u.masks = append(u.masks, signedSeed{self, true})
	sums, err := NewAggregator(p, around.root, len(adverts), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := sums.Add(at, chunk); err != nil {
		t.Fatal(err)
	}
	sum, err := sums.Sum(0, u, nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Equal(sum, vector), nil
}

// replaysOldKeys has the secrets of an earlier round of all others, and their adverts of then.
func replaysOldKeys(t *testing.T) (bool, error) {
	p := stageParams(5)
	old := p
	old.Round = [32]byte{9}
	before := newStage(t, old, Policy{MinSurvivors: 3, Against: Malicious})
	now := newStage(t, p, Policy{MinSurvivors: 3, Against: Malicious})
	return besiege(t, p, now.clients[victim], now.vectors[victim], fakes(old, before.clients[1:]))
}

// forgesKeys makes keys of its own in the name of all others, and signs them with nothing that counts.
func forgesKeys(t *testing.T) (bool, error) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	for _, c := range s.clients[1:] {
		c.advert.signature = [64]byte{1, 2, 3}
	}
	return besiege(t, s.p, s.clients[victim], s.vectors[victim], fakes(s.p, s.clients[1:]))
}

// usesLowOrderKeys is a round whose other members, enrolled ones, have mask keys of low order. It worked if somebody who only
// looks at the round, and has no key at all, opens the victim's vector when the sum is unmasked.
func usesLowOrderKeys(t *testing.T) (bool, error) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	context := s.p.context()
	var points []publicKey
	for point := range lowOrder {
		points = append(points, point)
	}
	slices.SortFunc(points, func(a, b publicKey) int { return bytes.Compare(a[:], b[:]) })
	for i, c := range s.clients[1:] {
		c.advert.mask = points[i]
		c.advert.sign(&s.p, &context, c.key)
	}
	for _, c := range s.clients {
		if err := s.server.Handle(c.advert.id, c.Advertise()); err != nil {
			if !errors.Is(err, ErrKey) {
				t.Fatal(err)
			}
			s.server.adverts[c.advert.id] = c.advert // a server that does not mind
		}
	}
	out, err := s.server.Close(Advertise)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Send {
		place, _ := s.server.Place(m.To)
		answer, err := s.tell(place, m.Body)
		if err != nil {
			return false, err
		}
		if err := s.server.Handle(m.To, answer); err != nil {
			t.Fatal(err)
		}
	}
	s.upTo(Unmask)
	for i := range s.clients {
		messages := make([][]byte, 5)
		for j := range messages {
			messages[j] = append(make([]byte, headerSize), s.server.consents[j]...)
		}
		if err := s.server.Handle(s.clients[i].advert.id, s.ask(i, s.requestMessage(messages))); err != nil {
			t.Fatal(err)
		}
	}
	out, err = s.server.Close(Unmask)
	if err != nil {
		t.Fatal(err)
	}
	u := &Unmasking{root: s.server.cohort.root, context: context, survivors: s.allBut(1, 2, 3, 4)}
	u.masks = append(u.masks, out.Unmasking.masks[victim]) // its own, as it must be revealed
	for i := 1; i < 5; i++ {
		u.masks = append(u.masks, signedSeed{derive(make([]byte, 32), &s.server.cohort.root, "pair", victim, i), adds(victim, i)})
	}
	return slices.Equal(s.sumOf(u.survivors, u), s.vectors[victim]), nil
}

// showsAnotherModel gives the others a model that makes their updates zero, so that the sum is the victim's update alone [Pasquini,
// Francati, Ateniese, Eluding Secure Aggregation in Federated Learning via Model Inconsistency, CCS 2022].
func showsAnotherModel(t *testing.T) (bool, error) {
	p := stageParams(5)
	dead := p
	dead.ModelHash = [32]byte{0xdd}
	s := newStage(t, p, Policy{MinSurvivors: 3, Against: Malicious})
	for i, c := range s.clients {
		if i != victim {
			other, err := NewClient(ClientConfig{Params: dead, Policy: c.policy, Key: c.key, Roster: s.roster}, stageSeeded(uint64(i)))
			if err != nil {
				t.Fatal(err)
			}
			s.clients[i], s.vectors[i] = other, make([]int64, p.Dim)
		}
	}
	context := p.context()
	for _, c := range s.clients {
		relabelled := append([]byte(nil), c.Advertise()...)
		copy(relabelled[1:], context[:])
		a, err := decodeAdvert(&p, &context, relabelled)
		if err != nil {
			t.Fatal(err)
		}
		s.server.adverts[a.id] = a
	}
	out, err := s.server.Close(Advertise)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range out.Send {
		place, _ := s.server.Place(m.To)
		relabelled := append([]byte(nil), m.Body...)
		copy(relabelled[1:], s.clients[place].context[:])
		answer, err := s.tell(place, relabelled)
		if err != nil {
			return false, err
		}
		if err := s.server.Handle(m.To, answer); err != nil {
			t.Fatal(err)
		}
	}
	s.upTo(Unmask)
	messages := make([][]byte, 5)
	for j := range messages {
		messages[j] = append(make([]byte, headerSize), s.server.consents[j]...)
	}
	for i, c := range s.clients {
		if err := s.server.Handle(c.advert.id, s.ask(i, s.requestMessage(messages))); err != nil {
			t.Fatal(err)
		}
	}
	if out, err = s.server.Close(Unmask); err != nil {
		t.Fatal(err)
	}
	return slices.Equal(s.sumOf(s.allBut(), out.Unmasking), s.vectors[victim]), nil
}

// Sybils: whoever enrols clients enrols its own. A pinned roster stops it, and nothing else: the same attack works on a
// client that meets anybody, which is why the claim is then about an honest-but-curious server only.
func TestSybilsAreStoppedByAPinnedRosterAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		pinned bool
		want   error
	}{{"pinned", true, ErrUnknown}, {"anybody", false, nil}} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
			config := ClientConfig{Params: s.p, Policy: Policy{MinSurvivors: 3}, Key: s.clients[victim].key}
			if c.pinned {
				config.Roster, config.Policy.Against = s.roster, Malicious
			}
			client, err := NewClient(config, stageSeeded(50))
			if err != nil {
				t.Fatal(err)
			}
			var sybils []*Client
			for i := range 4 {
				sybil, err := NewClient(ClientConfig{Params: s.p, Policy: Policy{MinSurvivors: 3}, Key: stageKey(100 + i)}, stageSeeded(uint64(60+i)))
				if err != nil {
					t.Fatal(err)
				}
				sybils = append(sybils, sybil)
			}
			worked, err := besiege(t, s.p, client, s.vectors[victim], fakes(s.p, sybils))
			if worked == c.pinned || !errors.Is(err, c.want) {
				t.Errorf("worked %t, error %v", worked, err)
			}
			if adversary, _ := s.p.Claim(c.pinned); (adversary == Malicious) != c.pinned {
				t.Errorf("the claim is %v", adversary)
			}
		})
	}
}

// A lowered threshold lets a server show two halves two sets, each with t honest signatures, and get both secrets of the
// victim. The client's own policy stops it, and nothing else.
func TestALoweredThresholdIsStoppedByThePolicyAlone(t *testing.T) {
	lowered := stageParams(5)
	lowered.Threshold = 2
	for _, c := range []struct {
		name   string
		p      Params
		policy Policy
	}{
		{"threshold", lowered, Policy{MinSurvivors: 3, Against: Malicious}},
		{"minimum of survivors", lowered, Policy{MinSurvivors: 5}},
		{"colluders", stageParams(5), Policy{MinSurvivors: 3, Colluders: 1}},
		{"the policy itself", stageParams(5), Policy{MinSurvivors: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewClient(ClientConfig{Params: c.p, Policy: c.policy, Key: stageKey(0), Roster: Roster{idOf(stageKey(0)): true}}, stageSeeded(1))
			if !errors.Is(err, ErrPolicy) {
				t.Errorf("error %v, want %v", err, ErrPolicy)
			}
		})
	}
	t.Run("without a policy it works", func(t *testing.T) {
		s := newStage(t, lowered, Policy{MinSurvivors: 3})
		s.upTo(Consent)
		first, second := make([][]byte, 5), make([][]byte, 5)
		var selves, masks []shamir.Share
		for _, i := range []int{1, 2} {
			first[i] = s.ask(i, s.survivorsMessage(s.allBut()))
			second[i+2] = s.ask(i+2, s.survivorsMessage(s.allBut(victim)))
		}
		for _, i := range []int{1, 2} {
			selves = append(selves, revealedShare(s.ask(i, s.requestMessage(first)), victim, i))
			masks = append(masks, revealedShare(s.ask(i+2, s.requestMessage(second)), victim, i+2))
		}
		if !s.opensVictim(s.restore(selves), s.restore(masks)) {
			t.Error("the attack does not work: the test shows nothing")
		}
	})
}

// Keys that are there twice, or not the client's own, and clients that are not enrolled.
func TestKeysThatAreNotTheirOwnersAreRefused(t *testing.T) {
	sign := func(s *stage, c *Client) { context := s.p.context(); c.advert.sign(&s.p, &context, c.key) }
	for _, c := range []struct {
		name   string
		change func(s *stage)
		want   error
	}{
		{"one client's mask key is another's", func(s *stage) { s.clients[2].advert.mask = s.clients[1].advert.mask; sign(s, s.clients[2]) }, ErrReplayedKey},
		{"one client's mask key is another's sealing key", func(s *stage) { s.clients[2].advert.mask = s.clients[1].advert.seal; sign(s, s.clients[2]) }, ErrReplayedKey},
		{"one key for both purposes", func(s *stage) { s.clients[2].advert.mask = s.clients[2].advert.seal; sign(s, s.clients[2]) }, ErrReplayedKey},
		{"a key that is not canonical", func(s *stage) { s.clients[2].advert.mask[31] |= 0x80; sign(s, s.clients[2]) }, ErrKey},
		{"the victim's own keys exchanged", func(s *stage) {
			mine := *s.clients[victim].advert
			mine.mask = s.clients[4].advert.mask
			s.server.adverts[mine.id] = &mine
		}, ErrReplayedKey},
		{"a client twice", func(s *stage) { s.clients[2].advert = s.clients[1].advert }, ErrReplayedKey},
		{"a name that is not enrolled", func(s *stage) {
			stranger := ed25519.NewKeyFromSeed(make([]byte, 32))
			s.clients[2].key, s.clients[2].advert.id = stranger, idOf(stranger)
			sign(s, s.clients[2])
		}, ErrUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
			c.change(s)
			context := s.p.context()
			var adverts []*advert
			for i, client := range s.clients {
				if changed := s.server.adverts[client.advert.id]; i == victim && changed != nil {
					adverts = append(adverts, changed)
				} else {
					adverts = append(adverts, client.advert)
				}
			}
			around, levels, err := newCohort(&s.p, &context, adverts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.tell(victim, around.encodeFor(&s.p, &context, 0, levels)); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}
