package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"hubbub/secagg/shamir"
)

// One test for each claim that the protocol stands on, with the section of [BIKMMPRSS17] (B), [BBGLR20] (L) or [JWC24] (J) that makes it.

// table is a round whose messages the test carries by hand, with access to what the parties hide.
type table struct {
	*testing.T
	p       Params
	server  *Server
	clients []*Client // by place once the cohort is known
	values  [][]int64
	chunks  [][]byte
	sums    *Aggregator
}

// gather makes the parties, with vectors and masked vectors.
func gather(t *testing.T, p Params) *table {
	t.Helper()
	x := seat(t, p, 1)
	random := rand.New(rand.NewPCG(11, 12))
	for _, c := range x.clients {
		values := make([]int64, p.Dim)
		for j := range values {
			values[j] = random.Int64N(1 << min(p.Bits-1, 20))
		}
		chunk, err := c.MaskedChunk(0, values)
		x.must(err)
		x.values, x.chunks = append(x.values, values), append(x.chunks, chunk)
	}
	return x
}

// seat makes the parties and closes Advertise and Share: every client knows its shares and may upload.
func seat(t *testing.T, p Params, seed byte) *table {
	t.Helper()
	x := &table{T: t, p: p}
	var err error
	x.server, err = NewServer(p, nil)
	x.must(err)
	for i := range p.Cohort {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, 32))
		c, err := NewClient(ClientConfig{Params: p, Policy: Policy{MinSurvivors: 3}, Key: key}, rand.NewChaCha8([32]byte{byte(i), seed}))
		x.must(err)
		x.clients = append(x.clients, c)
		x.must(x.server.Handle(c.advert.id, c.Advertise()))
	}
	slices.SortFunc(x.clients, func(a, b *Client) int { return bytes.Compare(a.advert.id[:], b.advert.id[:]) })
	for phase := range Upload {
		out, err := x.server.Close(phase)
		x.must(err)
		for i, m := range out.Send {
			answer, err := x.clients[i].Handle(m.Body)
			x.must(err)
			if answer != nil {
				x.must(x.server.Handle(m.To, answer))
			}
		}
	}
	x.sums, err = x.server.Aggregator(0, p.Chunks())
	x.must(err)
	return x
}

func (x *table) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *table) wants(got, want error) {
	x.Helper()
	if !errors.Is(got, want) {
		x.Fatalf("got error %v, want %v", got, want)
	}
}

func (x *table) survivorsMessage(in ...int) []byte {
	s := make(set, len(x.clients))
	for _, i := range in {
		s[i] = true
	}
	return s.append(header(kindSurvivors, &x.server.cohort.root, 0))
}

// request carries the signatures that were given, by place.
func (x *table) request(signatures map[int][]byte) []byte {
	signers := make(set, len(x.clients))
	var body []byte
	for i := range x.clients {
		if s, ok := signatures[i]; ok {
			signers[i] = true
			body = append(body, s...)
		}
	}
	return append(signers.append(header(kindRequest, &x.server.cohort.root, 0)), body...)
}

// sign shows clients a set of survivors and collects their signatures.
func (x *table) sign(message []byte, who ...int) map[int][]byte {
	x.Helper()
	signatures := map[int][]byte{}
	for _, i := range who {
		answer, err := x.clients[i].Handle(message)
		x.must(err)
		signatures[i] = answer[headerSize:]
	}
	return signatures
}

// vector undoes the packing of a masked chunk.
func (x *table) vector(chunk []byte) []uint32 {
	_, packed, err := decodeChunk(&x.p, &x.server.cohort.root, chunk)
	x.must(err)
	v := make([]uint32, x.p.Dim)
	addPacked(v, packed, x.p.Bits, false)
	return v
}

func (x *table) equals(v []uint32, values []int64) bool {
	for i := range v {
		if (v[i]-uint32(values[i]))<<(32-x.p.Bits) != 0 {
			return false
		}
	}
	return true
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// B section 4: u adds its mask with v and v subtracts it, so that the masks of pairs cancel in the sum of all.
func TestMasksOfPairsCancel(t *testing.T) {
	x := gather(t, Params{Cohort: 5, Threshold: 3, MinSurvivors: 3, Dim: 100, Bits: 32})
	sum, plain := make([]uint32, x.p.Dim), make([]int64, x.p.Dim)
	for i, c := range x.clients {
		v := x.vector(x.chunks[i])
		addMask(v, &c.self, 0, true)
		if x.equals(v, x.values[i]) {
			t.Errorf("client %d: without its own mask the vector is bare", i)
		}
		for j := range sum {
			sum[j] += v[j]
			plain[j] += x.values[i][j]
		}
	}
	if !x.equals(sum, plain) {
		t.Error("the masks of pairs are left in the sum")
	}
}

// B section 4, double masking: a server that restored the mask key of a client, believing it gone, and then receives its vector late, still
// cannot read it, because the client's own mask is on it.
func TestALateVectorStaysCovered(t *testing.T) {
	x := gather(t, Params{Cohort: 5, Threshold: 3, MinSurvivors: 3, Dim: 100, Bits: 32})
	late := x.clients[4]
	v := x.vector(x.chunks[4])
	for i := range late.circle {
		if n := &late.circle[i]; n.place != late.place {
			addMask(v, &n.pair, 0, adds(late.place, n.place)) // what the mask key restores
		}
	}
	if x.equals(v, x.values[4]) {
		t.Fatal("the mask key alone uncovers the vector")
	}
	addMask(v, &late.self, 0, true)
	if !x.equals(v, x.values[4]) {
		t.Fatal("the test itself is wrong: both masks off and the vector is not there")
	}
}

// B section 4 and figure 4: t shares restore a seed, and with t-1 answers nothing is unmasked.
func TestExactlyTheThresholdUnmasks(t *testing.T) {
	for _, answers := range []int{2, 3, 4} {
		x := gather(t, Params{Cohort: 5, Threshold: 3, MinSurvivors: 3, Dim: 10, Bits: 20})
		for _, i := range upTo(4) {
			x.must(x.sums.Add(i, x.chunks[i]))
			x.must(x.server.Uploaded(x.clients[i].advert.id))
		}
		for phase := Upload; phase <= Consent; phase++ {
			out, err := x.server.Close(phase)
			x.must(err)
			for i, m := range out.Send {
				answer, err := x.clients[i].Handle(m.Body)
				x.must(err)
				if phase < Consent || i < answers {
					x.must(x.server.Handle(m.To, answer))
				}
			}
		}
		out, err := x.server.Close(Unmask)
		if answers < 3 {
			x.wants(err, ErrShare)
			x.wants(err, ErrAbandoned)
			if out.Unmasking != nil || x.server.Phase() != Abandoned {
				t.Error("abandoned, and something was unmasked")
			}
			continue
		}
		x.must(err)
		_, err = x.sums.Sum(0, out.Unmasking, nil)
		x.must(err)
	}
}

// B figure 4, round 1: a client aborts unless enough others are there, their keys differ and their signatures hold.
func TestAClientLooksAtTheCohort(t *testing.T) {
	p := Params{Cohort: 5, Threshold: 3, MinSurvivors: 3, Dim: 10, Bits: 20}
	context := p.context()
	var keys []ed25519.PrivateKey
	advertOf := func(p Params, i int, seal, mask byte) *advert {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, 32))
		keys = append(keys, key)
		a := &advert{id: ID(key.Public().(ed25519.PublicKey))}
		a.seal[0], a.mask[0] = seal, mask
		c := p.context()
		a.sign(&p, &c, key)
		return a
	}
	honest := func() []*advert {
		var list []*advert
		for i := range 3 {
			list = append(list, advertOf(p, i+1, byte(10+2*i), byte(11+2*i)))
		}
		return list
	}
	otherModel := p
	otherModel.ModelHash[0] = 9
	for _, c := range []struct {
		name   string
		change func(others []*advert, own *advert) []*advert
		want   error
	}{
		{"an honest cohort is answered", nil, nil},
		{"too few clients", func(o []*advert, own *advert) []*advert { return o[:1] }, ErrCohort},
		{"one client has another's sealing key", func(o []*advert, own *advert) []*advert { return append(o[:2], advertOf(p, 7, 10, 77)) }, ErrReplayedKey},
		{"one client has another's mask key", func(o []*advert, own *advert) []*advert { return append(o[:2], advertOf(p, 7, 76, 11)) }, ErrReplayedKey},
		{"one key for both purposes", func(o []*advert, own *advert) []*advert { return append(o, advertOf(p, 7, 76, 76)) }, ErrReplayedKey},
		{"a client is there twice", func(o []*advert, own *advert) []*advert { return append(o[:3], o[1]) }, ErrReplayedKey},
		{"a forged signature", func(o []*advert, own *advert) []*advert { o[1].signature[3]++; return o }, ErrSignature},
		{"keys signed for another model", func(o []*advert, own *advert) []*advert { return append(o[:2], advertOf(otherModel, 3, 16, 17)) }, ErrSignature},
		{"a key of low order", func(o []*advert, own *advert) []*advert { return append(o[:2], advertOf(p, 3, 1, 17)) }, ErrKey},
		{"a stranger", func(o []*advert, own *advert) []*advert { return append(o, advertOf(p, 99, 50, 51)) }, ErrUnknown},
		{"other keys of this client", func(o []*advert, own *advert) []*advert {
			own.seal[5]++
			own.sign(&p, &context, keys[0])
			return o
		}, ErrReplayedKey},
		{"this client is missing", func(o []*advert, own *advert) []*advert { own.id = advertOf(p, 8, 60, 61).id; return o }, ErrUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys = keys[:0]
			advertOf(p, 0, 0, 0)
			roster := Roster{}
			others := honest()
			for _, i := range []int{1, 2, 3, 4, 8, 9} {
				roster[advertOf(p, i-1, 0, 0).id] = true
			}
			client, err := NewClient(ClientConfig{Params: p, Policy: Policy{MinSurvivors: 3}, Key: keys[0], Roster: roster}, rand.NewChaCha8([32]byte{3}))
			if err != nil {
				t.Fatal(err)
			}
			own := *client.advert
			if c.change != nil {
				others = c.change(others, &own)
			}
			cohort, _, err := newCohort(&p, &context, append(others, &own))
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Handle(cohort.encodeFor(&p, &context, 0, nil))
			if !errors.Is(err, c.want) {
				t.Fatalf("got error %v, want %v", err, c.want)
			}
			if err != nil { // it is where it was
				right, _, err := newCohort(&p, &context, append(honest(), client.advert))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.Handle(right.encodeFor(&p, &context, 0, nil)); err != nil {
					t.Errorf("after the refusal the right cohort is refused: %v", err)
				}
			}
		})
	}
}

// B figure 4, round 3: the survivors are a subset of those who shared keys, contain the client, and are enough.
func TestAClientLooksAtTheSurvivors(t *testing.T) {
	p := Params{Cohort: 6, Threshold: 4, MinSurvivors: 4, Dim: 10, Bits: 20}
	x := gather(t, p)
	c := x.clients[1]
	_, err := c.Handle(x.survivorsMessage(0, 1, 2))
	x.wants(err, ErrSurvivors)
	_, err = c.Handle(x.survivorsMessage(0, 2, 3, 4))
	x.wants(err, ErrSurvivors)
	_, err = c.Handle(x.survivorsMessage(0, 1, 2, 3))
	x.must(err)
	// one set only: two signed sets are what the attack of section 6 needs
	_, err = c.Handle(x.survivorsMessage(0, 1, 2, 3, 4))
	x.wants(err, ErrConflict)

	stranger := x.clients[0]
	for i := range stranger.circle {
		stranger.circle[i].in = stranger.circle[i].place != 5 // as if client 5 had shared no keys
	}
	_, err = stranger.Handle(x.survivorsMessage(0, 1, 2, 3, 5))
	x.wants(err, ErrSurvivors)
}

// B figure 4, round 4: a client reveals only after t valid signatures of the set that it signed itself, by survivors.
func TestAClientLooksAtTheSignatures(t *testing.T) {
	x := gather(t, Params{Cohort: 6, Threshold: 4, MinSurvivors: 4, Dim: 10, Bits: 20})
	signatures := x.sign(x.survivorsMessage(0, 1, 2, 3, 4), upTo(4)...)
	other := x.sign(x.survivorsMessage(0, 1, 2, 3, 4, 5), 4)
	c := x.clients[0]
	_, err := c.Handle(x.request(map[int][]byte{0: signatures[0], 1: signatures[1], 2: signatures[2]}))
	x.wants(err, ErrDisagree)
	_, err = c.Handle(x.request(map[int][]byte{0: signatures[0], 1: signatures[1], 2: signatures[2], 4: other[4]}))
	x.wants(err, ErrDisagree)
	x.wants(err, ErrSignature)
	_, err = c.Handle(x.request(map[int][]byte{0: signatures[0], 1: signatures[1], 2: signatures[2], 5: signatures[3]}))
	x.wants(err, ErrDisagree)
	answer, err := c.Handle(x.request(signatures))
	x.must(err)
	// five survivors and one who is gone: one share of each
	if want := headerSize + 6*shamir.ValueSize; len(answer) != want {
		t.Errorf("%d bytes were revealed, one share of each of six clients are %d", len(answer), want)
	}
	again, err := c.Handle(x.request(signatures))
	x.must(err)
	if !bytes.Equal(answer, again) {
		t.Error("the repeated request was answered with other bytes")
	}
	_, err = c.Handle(x.request(map[int][]byte{0: signatures[0], 1: signatures[1], 2: signatures[2], 3: signatures[0]}))
	x.wants(err, ErrUnmasked)
	if c.mask != (Seed{}) || c.self != (Seed{}) || c.seal != (Seed{}) || c.circle != nil {
		t.Error("secrets are still there after the last answer")
	}
}

// B section 6: against a malicious server 2t > n + c is needed, for else it tells half of the clients that a client is gone and the other half
// that it is not, and so gets both of its secrets. The attack is carried out: below the bound it reads a client's vector, above it is refused.
func TestTwoTruthsNeedTwoQuorums(t *testing.T) {
	for _, c := range []struct {
		threshold int
		works     bool
	}{{3, true}, {4, false}} {
		x := gather(t, Params{Cohort: 7, Threshold: c.threshold, MinSurvivors: 4, Dim: 50, Bits: 32})
		if got, _ := x.p.Claim(true); (got == HonestButCurious) != c.works {
			t.Errorf("threshold %d: the claim is %v", c.threshold, got)
		}
		const target = 6
		stays := x.sign(x.survivorsMessage(upTo(7)...), 0, 1, 2)
		gone := x.sign(x.survivorsMessage(upTo(6)...), 3, 4, 5)
		self, mask := map[int]shamir.Value{}, map[int]shamir.Value{}
		reveal := func(i int, signatures map[int][]byte, into map[int]shamir.Value) {
			answer, err := x.clients[i].Handle(x.request(signatures))
			if !c.works {
				x.wants(err, ErrDisagree)
				return
			}
			x.must(err)
			value, err := shamir.ParseValue(answer[len(answer)-shamir.ValueSize:]) // of the last client
			x.must(err)
			into[i] = value
		}
		for _, i := range []int{0, 1, 2} {
			reveal(i, stays, self)
		}
		for _, i := range []int{3, 4, 5} {
			reveal(i, gone, mask)
		}
		if !c.works {
			continue
		}
		combine := func(values map[int]shamir.Value) Seed {
			var shares []shamir.Share
			for i, v := range values {
				shares = append(shares, shamir.Share{Index: i + 1, Value: v})
			}
			secret, err := shamir.Combine(shares, 7, 3)
			x.must(err)
			return secret
		}
		selfSeed, maskSeed := combine(self), combine(mask)
		key := newAgreementKey(&x.p, &x.server.context, &maskSeed)
		v := x.vector(x.chunks[target])
		addMask(v, &selfSeed, 0, true)
		for i := range 6 {
			pair, err := pairSeed(&x.p, key, &maskSeed, x.server.cohort.adverts[i], nil, &x.server.cohort.root, target, i)
			x.must(err)
			addMask(v, &pair, 0, adds(target, i))
		}
		if !x.equals(v, x.values[target]) {
			t.Error("the attack below the bound does not read the vector: the test shows nothing")
		}
	}
}

// L section 3: a client has a few dozen neighbours, so what it sends and receives grows with log n and not with n.
func TestALargeCohortCostsAClientLittle(t *testing.T) {
	x := converseLarge(t)
	plan, err := x.p.plan(x.p.Cohort)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Degree > 60 {
		t.Fatalf("%d neighbours among %d clients", plan.Degree, x.p.Cohort)
	}
	if got, want := len(x.answers[Share]), headerSize+plan.Degree*boxSize(&x.p); got != want {
		t.Errorf("%d bytes of shares for %d neighbours, want %d", got, plan.Degree, want)
	}
	if got, most := len(x.outputs[Advertise].Send[0].Body), headerSize+4+(plan.Degree+1)*(4+advertSize(&x.p)+9*32); got > most {
		t.Errorf("%d bytes of keys for %d neighbours, at most %d", got, plan.Degree, most)
	}
}

// J section 4: the seeds of removable layers are shared like the others, so that a client that vanishes after its vector came cannot keep
// noise in the sum; and what is revealed for |D| dropouts tells nothing of the layers that stay.
func TestRevealedLayersLeadForwardOnly(t *testing.T) {
	var context [32]byte
	seeds, end := layerChain(&context, Seed{1}, 5)
	for k := 1; k <= 5; k++ {
		got, ok := layersFrom(&context, k, 5, seeds[k-1], &end)
		if !ok || !slices.Equal(got, seeds[k-1:]) {
			t.Errorf("the seed of layer %d does not give layers %d to 5", k, k)
		}
		for _, earlier := range seeds[:k-1] {
			if slices.Contains(got, earlier) {
				t.Errorf("the seed of layer %d gives an earlier one", k)
			}
		}
		wrong := seeds[k-1]
		wrong[7] ^= 1
		if _, ok := layersFrom(&context, k, 5, wrong, &end); ok {
			t.Error("a wrong seed leads to the end of the chain")
		}
	}
}
