package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hubbub/secagg/shamir"
)

// stage is a round in which the server is the attacker: it has the protocol's own code to work with, and all messages. Clients
// are numbered by their place in the cohort.
type stage struct {
	t       *testing.T
	p       Params
	roster  Roster
	clients []*Client
	vectors [][]int64
	server  *Server
	chunks  [][]byte // each client's masked vector
}

func stageSeeded(seed uint64) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 0xa7})
}

func stageKey(i int) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte{0xa7, byte(i)})
	return ed25519.NewKeyFromSeed(seed[:])
}

func idOf(key ed25519.PrivateKey) ID { return ID(key.Public().(ed25519.PublicKey)) }

// stageParams is a complete graph with the threshold that a malicious server cannot get round.
func stageParams(n int) Params {
	t := n/2 + 1
	return Params{Round: [32]byte{1}, ModelHash: [32]byte{2}, Cohort: n, Threshold: t, MinSurvivors: max(3, t), Dim: 5, Bits: 32, Chunk: ChunkUnit}
}

func newStage(t *testing.T, p Params, policy Policy) *stage {
	t.Helper()
	s := &stage{t: t, p: p, roster: Roster{}}
	keys := make([]ed25519.PrivateKey, p.Cohort)
	for i := range keys {
		keys[i] = stageKey(i)
		s.roster[idOf(keys[i])] = true
	}
	slices.SortFunc(keys, func(a, b ed25519.PrivateKey) int { // so that numbers are places
		return slices.Compare(a.Public().(ed25519.PublicKey), b.Public().(ed25519.PublicKey))
	})
	for i, key := range keys {
		c, err := NewClient(ClientConfig{Params: p, Policy: policy, Key: key, Roster: s.roster}, stageSeeded(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		s.clients = append(s.clients, c)
		s.vectors = append(s.vectors, []int64{int64(i), int64(100 + i), int64(-i), int64(7 * i), 1})
	}
	var err error
	if s.server, err = NewServer(p, s.roster); err != nil {
		t.Fatal(err)
	}
	return s
}

// tell gives a client a message. A refusal must leave it as it was.
func (s *stage) tell(i int, message []byte) ([]byte, error) {
	before := dump(reflect.ValueOf(s.clients[i]))
	answer, err := s.clients[i].Handle(message)
	if err != nil && dump(reflect.ValueOf(s.clients[i])) != before {
		s.t.Errorf("client %d refused (%v) and changed its state", i, err)
	}
	return answer, err
}

// ask gives a client a message that it must agree to.
func (s *stage) ask(i int, message []byte) []byte {
	s.t.Helper()
	answer, err := s.clients[i].Handle(message)
	if err != nil {
		s.t.Fatalf("client %d: %v", i, err)
	}
	return answer
}

// upTo plays the server honestly until a phase is open.
func (s *stage) upTo(phase Phase) {
	s.t.Helper()
	must := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	for s.server.phase < phase {
		if s.server.phase == Advertise {
			for _, c := range s.clients {
				must(s.server.Handle(c.advert.id, c.Advertise()))
			}
		}
		if s.server.phase == Upload {
			s.upload()
		}
		out, err := s.server.Close(s.server.phase)
		must(err)
		for _, m := range out.Send {
			place, _ := s.server.Place(m.To)
			if s.server.phase == phase && phase != Upload {
				continue // what the attacker sends instead is its own affair
			}
			if answer := s.ask(place, m.Body); answer != nil {
				must(s.server.Handle(m.To, answer))
			}
		}
	}
}

func (s *stage) upload() {
	s.chunks = make([][]byte, len(s.clients))
	for i, c := range s.clients {
		chunk, err := c.MaskedChunk(0, s.vectors[i])
		if err != nil {
			s.t.Fatal(err)
		}
		s.chunks[i] = chunk
		if err := s.server.Uploaded(c.advert.id); err != nil {
			s.t.Fatal(err)
		}
	}
}

// allBut is a set of survivors.
func (s *stage) allBut(gone ...int) set {
	survivors := make(set, len(s.clients))
	for i := range survivors {
		survivors[i] = !slices.Contains(gone, i)
	}
	return survivors
}

func (s *stage) survivorsMessage(survivors set) []byte {
	return survivors.append(header(kindSurvivors, &s.server.cohort.root, 0))
}

// requestMessage carries these clients' consents, which are messages or nil.
func (s *stage) requestMessage(consents [][]byte) []byte {
	signers := make(set, len(s.clients))
	var signatures []byte
	for i, consent := range consents {
		if consent != nil {
			signers[i] = true
			signatures = append(signatures, consent[headerSize:]...)
		}
	}
	return append(signers.append(header(kindRequest, &s.server.cohort.root, 0)), signatures...)
}

// revealedShare takes the share of dealer out of what holder revealed: everybody shared, there are no layers.
func revealedShare(reveal []byte, dealer, holder int) shamir.Share {
	value, err := shamir.ParseValue(reveal[headerSize+dealer*shamir.ValueSize:][:shamir.ValueSize])
	if err != nil {
		panic(err)
	}
	return shamir.Share{Index: holder + 1, Value: value}
}

// restore combines t of the shares that were found.
func (s *stage) restore(shares []shamir.Share) Seed {
	s.t.Helper()
	secret, err := shamir.Combine(shares[:s.p.Threshold], len(s.clients), s.p.Threshold)
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// open unmasks the vectors of some clients from the self masks of these and the mask keys of all others.
func (s *stage) open(members set, self, mask map[int]Seed) []int64 {
	s.t.Helper()
	s.server.survivors = members
	u := &Unmasking{root: s.server.cohort.root, context: s.server.context, survivors: members}
	for i := range members {
		if seed, known := self[i]; members[i] && known {
			u.masks = append(u.masks, signedSeed{seed, true})
		}
		if seed, known := mask[i]; !members[i] && known {
			if err := s.server.takeOut(u, i, &seed); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return s.sumOf(members, u)
}

func (s *stage) sumOf(members set, u *Unmasking) []int64 {
	s.t.Helper()
	sums, err := s.server.Aggregator(0, 1)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range members {
		if members[i] {
			if err := sums.Add(i, s.chunks[i]); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	sum, err := sums.Sum(0, u, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

// plain is the sum of some clients' vectors.
func (s *stage) plain(members set) []int64 {
	sum := make([]int64, s.p.Dim)
	for i := range members {
		if members[i] {
			for j, v := range s.vectors[i] {
				sum[j] += v
			}
		}
	}
	return sum
}

// dump writes down everything that a value holds, however well it hides.
func dump(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		return "&" + dump(v.Elem())
	case reflect.Struct:
		text := "{"
		for i := range v.NumField() {
			text += dump(v.Field(i)) + " "
		}
		return text + "}"
	case reflect.Slice, reflect.Array:
		text := "["
		for i := range v.Len() {
			text += dump(v.Index(i)) + " "
		}
		return text + "]"
	case reflect.Map:
		return fmt.Sprintf("map of %d", v.Len())
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	case reflect.Int:
		return fmt.Sprint(v.Int())
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return fmt.Sprint(v.Uint())
	}
	return v.Kind().String()
}
