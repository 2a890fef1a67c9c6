package secagg_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hubbub/secagg"
)

// federation runs a round in one process: real clients, a real server, and a network that the test plays.
type federation struct {
	p       secagg.Params
	keys    []ed25519.PrivateKey
	roster  secagg.Roster
	clients []*secagg.Client // by number of the test, not by place
	vectors [][]int64
	server  *secagg.Server
	sums    *secagg.Aggregator
	noise   secagg.LayerNoise
	byID    map[secagg.ID]int
	ids     []secagg.ID
	gone    []bool // clients that send nothing any more
	sent    []int  // bytes of each client
}

func seeded(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

func identity(i int) (ed25519.PrivateKey, secagg.ID) {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(i)+1000)
	key := ed25519.NewKeyFromSeed(seed[:])
	return key, secagg.ID(key.Public().(ed25519.PublicKey))
}

// setting is n clients with the smallest threshold that a malicious server cannot get round.
func setting(n, dim, bits int) secagg.Params {
	t := n/2 + 1
	return secagg.Params{
		Round: [32]byte{1}, ModelHash: [32]byte{2}, Cohort: n, Threshold: t, MinSurvivors: max(3, t),
		Dim: dim, Bits: bits, Chunk: secagg.ChunkUnit,
	}
}

func policy(p secagg.Params) secagg.Policy {
	return secagg.Policy{MinSurvivors: 3, Colluders: p.Colluders}
}

// federate makes the parties; their randomness and vectors come from the seed.
func federate(t testing.TB, p secagg.Params, noise secagg.LayerNoise, seed uint64) *federation {
	t.Helper()
	f := &federation{p: p, roster: secagg.Roster{}, byID: map[secagg.ID]int{}, noise: noise, gone: make([]bool, p.Cohort), sent: make([]int, p.Cohort)}
	for i := range p.Cohort {
		key, id := identity(i)
		f.keys, f.ids, f.roster[id], f.byID[id] = append(f.keys, key), append(f.ids, id), true, i
	}
	random := rand.New(seeded(seed))
	for i := range p.Cohort {
		c, err := secagg.NewClient(secagg.ClientConfig{Params: p, Policy: policy(p), Key: f.keys[i], Roster: f.roster, Noise: noise}, seeded(random.Uint64()))
		if err != nil {
			t.Fatal(err)
		}
		f.clients = append(f.clients, c)
		vector := make([]int64, p.Dim)
		for j := range vector {
			vector[j] = random.Int64() >> 20
		}
		f.vectors = append(f.vectors, vector)
	}
	var err error
	if f.server, err = secagg.NewServer(p, f.roster); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *federation) id(i int) secagg.ID { return f.ids[i] }

// advertise sends everybody's keys.
func (f *federation) advertise() error {
	for i, c := range f.clients {
		if !f.gone[i] {
			advert := c.Advertise()
			f.sent[i] += len(advert)
			if err := f.server.Handle(f.id(i), advert); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliver hands the server's messages over and the answers back.
func (f *federation) deliver(messages []secagg.Message) error {
	for _, m := range messages {
		i := f.byID[m.To]
		if f.gone[i] {
			continue
		}
		answer, err := f.clients[i].Handle(m.Body)
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		if answer != nil {
			f.sent[i] += len(answer)
			if err := f.server.Handle(m.To, answer); err != nil {
				return fmt.Errorf("server: %w", err)
			}
		}
	}
	return nil
}

// upload sends the masked vectors, chunk by chunk.
func (f *federation) upload() error {
	var err error
	if f.sums, err = f.server.Aggregator(0, f.p.Chunks()); err != nil {
		return err
	}
	for i, c := range f.clients {
		if f.gone[i] {
			continue
		}
		place, ok := f.server.Place(f.id(i))
		if !ok {
			continue
		}
		for chunk := range f.p.Chunks() {
			from := chunk * f.p.ChunkLen(0)
			message, err := c.MaskedChunk(chunk, f.vectors[i][from:from+f.p.ChunkLen(chunk)])
			if err != nil {
				return err
			}
			f.sent[i] += len(message)
			if err := f.sums.Add(place, message); err != nil {
				return err
			}
		}
		if err := f.server.Uploaded(f.id(i)); err != nil {
			return err
		}
	}
	return nil
}

// run goes through all phases; before each, some clients vanish. The sum is nil if the round did not end.
func (f *federation) run(vanish map[secagg.Phase][]int) (*secagg.Unmasking, []int64, error) {
	for phase := secagg.Advertise; phase < secagg.Done; phase++ {
		for _, i := range vanish[phase] {
			f.gone[i] = true
		}
		// answers to the last phase's messages are sent inside deliver
		switch phase {
		case secagg.Advertise:
			if err := f.advertise(); err != nil {
				return nil, nil, err
			}
		case secagg.Upload:
			if err := f.upload(); err != nil {
				return nil, nil, err
			}
		}
		out, err := f.server.Close(phase)
		if err != nil {
			return nil, nil, err
		}
		if out.Unmasking != nil {
			sum, err := f.open(out.Unmasking)
			return out.Unmasking, sum, err
		}
		for _, i := range vanish[phase+1] {
			f.gone[i] = true
		}
		if err := f.deliver(out.Send); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

func (f *federation) open(u *secagg.Unmasking) ([]int64, error) {
	var sum []int64
	for chunk := range f.p.Chunks() {
		part, err := f.sums.Sum(chunk, u, f.noise)
		if err != nil {
			return nil, err
		}
		sum = append(sum, part...)
	}
	return sum, nil
}

// plainSum is the dumb version: the vectors of those who are named, modulo 2^b around zero.
func (f *federation) plainSum(of []int) []int64 {
	sum := make([]int64, f.p.Dim)
	for _, i := range of {
		for j, v := range f.vectors[i] {
			sum[j] += v
		}
	}
	shift := 64 - f.p.Bits
	for j := range sum {
		sum[j] = sum[j] << shift >> shift
	}
	return sum
}

func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func without(list []int, gone ...int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool { return slices.Contains(gone, i) })
}

func TestTheSumIsThatOfTheSurvivors(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		vanish map[secagg.Phase][]int
		in     []int // whose vectors are in the sum
	}{
		{"everybody stays", 5, nil, all(5)},
		{"one never advertises", 5, map[secagg.Phase][]int{secagg.Advertise: {2}}, without(all(5), 2)},
		{"one vanishes before it shares keys", 5, map[secagg.Phase][]int{secagg.Share: {0}}, without(all(5), 0)},
		{"two vanish after they shared keys", 5, map[secagg.Phase][]int{secagg.Upload: {0, 3}}, without(all(5), 0, 3)},
		{"one vanishes before it signs", 5, map[secagg.Phase][]int{secagg.Consent: {4}}, all(5)},
		{"one vanishes between its vector and unmasking", 5, map[secagg.Phase][]int{secagg.Unmask: {1}}, all(5)},
		{"one in each phase", 12, map[secagg.Phase][]int{
			secagg.Advertise: {0}, secagg.Share: {1}, secagg.Upload: {2}, secagg.Consent: {3}, secagg.Unmask: {4},
		}, without(all(12), 0, 1, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, bits := range []int{1, 7, 16, 31, 32, 33, 62} {
				p := setting(c.n, 300, bits)
				p.Hybrid = bits == 16
				f := federate(t, p, nil, 7)
				_, sum, err := f.run(c.vanish)
				if err != nil {
					t.Fatalf("%d bits: %v", bits, err)
				}
				if !slices.Equal(sum, f.plainSum(c.in)) {
					t.Errorf("%d bits: wrong sum", bits)
				}
			}
		})
	}
}

func TestNeighboursAreEnoughInALargeCohort(t *testing.T) {
	const n = 262
	f := federate(t, secagg.Params{Cohort: n, MinSurvivors: n - 8, Dim: 20, Bits: 20}, nil, 3)
	_, sum, err := f.run(map[secagg.Phase][]int{secagg.Advertise: {7}, secagg.Share: {20, 21}, secagg.Upload: {100, 101, 102}, secagg.Unmask: {200, 201}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sum, f.plainSum(without(all(n), 7, 20, 21, 100, 101, 102))) {
		t.Error("wrong sum")
	}
}

// marker is no real noise: a value per layer and seed that shows exactly which layers are left in a sum.
func marker(layer int, seed secagg.Seed, dst []int64) {
	for i := range dst {
		dst[i] += int64(layer)<<16 + int64(seed[i%32])
	}
}

func TestLayersBeyondTheDropoutsAreRemoved(t *testing.T) {
	for drops := range 4 {
		p := setting(8, 200, 40)
		p.Layers, p.MinSurvivors, p.Threshold = 3, 5, 5
		f := federate(t, p, marker, 9)
		gone := all(8)[:drops]
		_, sum, err := f.run(map[secagg.Phase][]int{secagg.Upload: gone, secagg.Unmask: {7}}) // one vanishes with its layers in the sum
		if drops == 3 {
			// five survivors, one of whom is gone: four shares, one too few
			if err == nil {
				t.Fatal("unmasked with fewer shares than the threshold")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		survivors := without(all(8), gone...)
		plain := f.plainSum(survivors)
		for j := range sum {
			left := sum[j] - plain[j]
			// layers 1 to drops of every survivor stay: their numbers in the high bits, seeds in the low ones
			low, want := left, int64(0)
			for layer := 1; layer <= drops; layer++ {
				want += int64(layer) << 16 * int64(len(survivors))
			}
			if low -= want; low < 0 || low > int64(255*drops*len(survivors)) {
				t.Fatalf("%d dropouts, element %d: %d is left, layers 1 to %d of %d survivors are %d and at most 255 for each seed", drops, j, left, drops, len(survivors), want)
			}
			if drops == 0 && left != 0 {
				t.Fatalf("nobody dropped out and %d of the layers is left", left)
			}
		}
	}
}
