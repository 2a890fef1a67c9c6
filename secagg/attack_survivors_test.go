package secagg

import (
	"slices"
	"testing"

	"hubbub/secagg/shamir"
)

// The attacks here are about which shares are revealed. The victim is client 0; both of its secrets together open its vector.
const victim = 0

// asksForBothShares shows everybody but the victim a second set, without the victim, after all signed the first.
func asksForBothShares(t *testing.T) (bool, error) { return secondSet(t, false) }

// asksTwice does the same after the first unmask request was answered, and sends a second.
func asksTwice(t *testing.T) (bool, error) { return secondSet(t, true) }

func secondSet(t *testing.T, afterReveal bool) (bool, error) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	s.upTo(Consent)
	all, rest := s.allBut(), s.allBut(victim)
	consents := make([][]byte, 5)
	for i := range consents {
		consents[i] = s.ask(i, s.survivorsMessage(all))
	}
	var selves, masks []shamir.Share
	unmask := func(i int) {
		selves = append(selves, revealedShare(s.ask(i, s.requestMessage(consents)), victim, i))
	}
	if afterReveal {
		for i := range consents {
			unmask(i)
		}
	}
	second := make([][]byte, 5)
	var refusal error
	for i := 1; i < 5; i++ {
		var err error
		if second[i], err = s.tell(i, s.survivorsMessage(rest)); err != nil {
			refusal = err
		}
	}
	if refusal != nil && !afterReveal {
		for i := range consents { // the round goes on as if nothing had happened
			unmask(i)
		}
		return false, refusal
	}
	if refusal != nil {
		second = [][]byte{1: consents[1], 2: consents[2], 3: consents[3], 4: nil} // the best it has
	}
	for i := 1; i < 5; i++ {
		reveal, err := s.tell(i, s.requestMessage(second))
		if err != nil {
			return false, err
		}
		masks = append(masks, revealedShare(reveal, victim, i))
	}
	if !afterReveal { // the first set again, which they signed too
		for i := 1; i < 5; i++ {
			s.ask(i, s.survivorsMessage(all))
			unmask(i)
		}
	}
	return s.opensVictim(s.restore(selves), s.restore(masks)), nil
}

// opensVictim takes the victim's masks off: its own, and those with all others, which follow from its mask key.
func (s *stage) opensVictim(self, mask Seed) bool {
	u := &Unmasking{root: s.server.cohort.root, context: s.server.context, survivors: s.allBut()}
	for i := range u.survivors {
		u.survivors[i] = i == victim
	}
	s.server.survivors = s.allBut(victim)
	if err := s.server.takeOut(u, victim, &mask); err != nil {
		s.t.Fatal(err)
	}
	for i := range u.masks { // takeOut is about the others' end of each mask
		u.masks[i].subtract = !u.masks[i].subtract
	}
	u.masks = append(u.masks, signedSeed{self, true})
	return slices.Equal(s.sumOf(u.survivors, u), s.vectors[victim])
}

// splitsTheSurvivors wants the sum of clients 0 and 1 alone, where at least 5 of 9 must be in a sum. For that it needs the mask keys of the seven
// others, t = 5 shares of each: 35 shares. Every client may be shown 4 dropouts, so nine clients give 36, if each is
// shown other ones.
func splitsTheSurvivors(t *testing.T) (bool, error) {
	s := newStage(t, stageParams(9), Policy{MinSurvivors: 3, Against: Malicious})
	s.upTo(Consent)
	dropped := dropouts()
	consents := make([][]byte, 9)
	for i := range consents {
		consents[i] = s.ask(i, s.survivorsMessage(s.allBut(dropped[i]...)))
	}
	self, mask := map[int][]shamir.Share{}, map[int][]shamir.Share{}
	for i := range s.clients {
		reveal, err := s.tell(i, s.requestMessage(consents))
		if err != nil { // a server may send only the signatures that it likes: no five of them fit
			return false, err
		}
		for dealer := range s.clients {
			to := self
			if slices.Contains(dropped[i], dealer) {
				to = mask
			}
			to[dealer] = append(to[dealer], revealedShare(reveal, dealer, i))
		}
	}
	pair := s.allBut(2, 3, 4, 5, 6, 7, 8)
	selfSeeds, maskSeeds := map[int]Seed{}, map[int]Seed{}
	for dealer := range s.clients {
		if pair[dealer] {
			selfSeeds[dealer] = s.restore(self[dealer])
		} else {
			maskSeeds[dealer] = s.restore(mask[dealer])
		}
	}
	return slices.Equal(s.open(pair, selfSeeds, maskSeeds), s.plain(pair)), nil
}

// dropouts says which four clients each of nine is shown as gone. Of the ring 2 ... 8 each drops the next four, so that each is dropped
// by four; clients 0 and 1 add the fifth.
func dropouts() [][]int {
	dropped := [][]int{{2, 3, 4, 5}, {6, 7, 8, 2}}
	for i := range 7 {
		dropped = append(dropped, []int{2 + (i+1)%7, 2 + (i+2)%7, 2 + (i+3)%7, 2 + (i+4)%7})
	}
	return dropped
}

// forgesConsent shows half of the clients another set, and makes up the signatures that are missing.
func forgesConsent(t *testing.T) (bool, error) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	s.upTo(Consent)
	consents := make([][]byte, 5)
	consents[4] = s.ask(4, s.survivorsMessage(s.allBut(victim)))
	for i := 1; i < 4; i++ {
		consents[i] = append([]byte(nil), consents[4]...) // not theirs
	}
	secret := s.clients[4].circle[victim].mask
	reveal, err := s.tell(4, s.requestMessage(consents))
	if err != nil {
		return false, err
	}
	return revealedShare(reveal, victim, 4).Value == secret, nil
}

// shrinksTheSurvivors says that only clients 0 and 1 contributed, where a sum must have three. The threshold is 2, as a
// policy against a curious server allows.
func shrinksTheSurvivors(t *testing.T) (bool, error) {
	p := stageParams(5)
	p.Threshold = 2
	s := newStage(t, p, Policy{MinSurvivors: 3})
	s.upTo(Consent)
	pair := s.allBut(2, 3, 4)
	consents := make([][]byte, 5)
	for i := range 2 {
		var err error
		if consents[i], err = s.tell(i, s.survivorsMessage(pair)); err != nil {
			return false, err
		}
	}
	selfSeeds, maskSeeds, shares := map[int]Seed{}, map[int]Seed{}, make([][]shamir.Share, 5)
	for i := range 2 {
		reveal := s.ask(i, s.requestMessage(consents))
		for dealer := range shares {
			shares[dealer] = append(shares[dealer], revealedShare(reveal, dealer, i))
		}
	}
	for dealer := range shares {
		if pair[dealer] {
			selfSeeds[dealer] = s.restore(shares[dealer])
		} else {
			maskSeeds[dealer] = s.restore(shares[dealer])
		}
	}
	return slices.Equal(s.open(pair, selfSeeds, maskSeeds), s.plain(pair)), nil
}

// revealsACorruptShare leaves exactly t clients, one of whom reveals a share with a flipped bit. It worked if a wrong sum comes out.
func revealsACorruptShare(t *testing.T) (bool, error) {
	s := newStage(t, stageParams(5), Policy{MinSurvivors: 3, Against: Malicious})
	s.upTo(Unmask)
	consents := s.server.consents
	for i := range 3 {
		messages := make([][]byte, 5)
		for j := range 3 {
			messages[j] = append(make([]byte, headerSize), consents[j]...)
		}
		reveal := s.ask(i, s.requestMessage(messages))
		if i == 2 {
			reveal[headerSize+3] ^= 4 // of the victim's self mask
		}
		if err := s.server.Handle(s.clients[i].advert.id, reveal); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.server.Close(Unmask)
	if err != nil {
		if s.server.phase != Abandoned {
			t.Error("the round goes on")
		}
		return false, err
	}
	return !slices.Equal(s.sumOf(s.allBut(), out.Unmasking), s.plain(s.allBut())), nil
}
