package secagg_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hubbub/internal/simnet"
	"hubbub/noise"
	"hubbub/secagg"
)

// Every seed is a round over a bad network. It must end in the exact sum over the survivors or be abandoned for a reason
// that has a name; and no party may see an error without one.
func TestEverySeedEndsInTheExactSumOrACleanAbort(t *testing.T) {
	ends := runSeeds(t, networkSeeds, few)
	if total := ends["sum"] + ends["abandoned"]; total == networkSeeds && (5*ends["sum"] < total || 20*ends["abandoned"] < total) {
		t.Errorf("a network that is too bad or too good shows nothing: %s", tally(ends))
	}
}

// runSeeds runs rounds of as many clients as clients says, and reports what happened in them.
func runSeeds(t *testing.T, seeds uint64, clients func(*rand.Rand) int) (ends map[string]int) {
	ends = map[string]int{}
	faults, refusals := simnet.Counts{}, map[string]int{}
	var hours time.Duration
	simnet.Seeds(t, seeds, func(t *testing.T, seed uint64) {
		w := newWorld(t, seed, clients)
		hours += w.net.Run(10*time.Minute, func() bool { return w.end != "" })
		faults.Add(w.net.Counts())
		ends[w.end]++
		for name, times := range w.refusals {
			refusals[name] += times
		}
		if w.end != "sum" && w.end != "abandoned" {
			t.Fatalf("seed %d ended in %q after %v\n%s", seed, w.end, w.net.Now().Sub(simnet.Start), w.net.Trace())
		}
	})
	t.Logf("%.1f hours of network time; %s", hours.Hours(), faults)
	t.Logf("ends: %s", tally(ends))
	t.Logf("refusals: %s", tally(refusals))
	return ends
}

// The onlooker would notice a wrong sum: where nothing guards the chunks on their way, flipped bits end up in some.
func TestTheOnlookerNoticesWrongSums(t *testing.T) {
	for _, corrupt := range []float64{0, 0.05} {
		wrong := 0
		for seed := range uint64(20) {
			w := newWorld(t, seed, few)
			w.net = simnet.New(seed, simnet.Faults{Corrupt: corrupt})
			w.unguarded = true
			w.populate(rand.New(rand.NewPCG(seed, 2)))
			w.net.Run(10*time.Minute, func() bool { return w.end != "" })
			if w.end == "a wrong sum" {
				wrong++
			}
		}
		if (wrong > 0) != (corrupt > 0) {
			t.Errorf("%d wrong sums noticed in 20 rounds with %g of all messages damaged", wrong, corrupt)
		}
	}
}

func few(random *rand.Rand) int { return 3 + random.IntN(5) }

func TestASeedReplaysExactly(t *testing.T) {
	for seed := range uint64(5) {
		var traces [2]string
		for i := range traces {
			w := newWorld(t, seed, few)
			w.net.Run(10*time.Minute, func() bool { return w.end != "" })
			traces[i] = w.net.Trace() + w.end
		}
		if traces[0] != traces[1] {
			t.Errorf("seed %d gave two runs", seed)
		}
	}
}

func tally(counts map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(words, ", ")
}

// refusalNames are all errors that a party may see.
var refusalNames = []error{
	secagg.ErrParams, secagg.ErrPolicy, secagg.ErrRandom, secagg.ErrMalformed, secagg.ErrOtherRound, secagg.ErrEarly, secagg.ErrStale,
	secagg.ErrConflict, secagg.ErrUnknown, secagg.ErrKey, secagg.ErrReplayedKey, secagg.ErrSignature, secagg.ErrCohort, secagg.ErrSeal,
	secagg.ErrShare, secagg.ErrSurvivors, secagg.ErrDisagree, secagg.ErrUnmasked, secagg.ErrIncomplete, secagg.ErrAbandoned,
}

// world is one round: its network, its parties, and what an onlooker who sees everything knows.
type world struct {
	t        *testing.T
	net      *simnet.Network
	p        secagg.Params
	roster   secagg.Roster
	names    map[secagg.ID]string
	vectors  map[string][]int64
	layers   map[string][][]int64 // noise that each client added, by layer
	end      string               // "sum", "abandoned", or what must not be
	refusals map[string]int

	unguarded bool // flipped bits in chunks go unnoticed
}

// refused counts an error and makes sure that it has a name.
func (w *world) refused(err error) {
	if err == nil {
		return
	}
	for _, known := range refusalNames {
		if errors.Is(err, known) {
			w.refusals[strings.TrimPrefix(known.Error(), "secagg: ")]++
			return
		}
	}
	w.t.Fatalf("an error without a name: %v\n%s", err, w.net.Trace())
}

// newWorld makes up a round and its misfortunes from a seed.
func newWorld(t *testing.T, seed uint64, clients func(*rand.Rand) int) *world {
	random := rand.New(rand.NewPCG(seed, 1))
	odds := func() float64 {
		if random.IntN(2) == 0 {
			return 0
		}
		return 0.3 * random.Float64()
	}
	n := clients(random)
	w := &world{
		t: t, p: setting(n, 1+random.IntN(300), 1+random.IntN(secagg.MaxBits)), roster: secagg.Roster{}, names: map[secagg.ID]string{},
		vectors: map[string][]int64{}, layers: map[string][][]int64{}, refusals: map[string]int{},
		net: simnet.New(seed, simnet.Faults{Drop: odds(), Duplicate: odds(), Overtaken: odds(), Truncate: odds() / 2, Corrupt: odds() / 4}),
	}
	binary.LittleEndian.PutUint64(w.p.Round[:], seed)
	if n > secagg.CompleteUpTo {
		w.p.Threshold, w.p.MinSurvivors, w.p.Colluders = 0, n/2, n/20
	} else if random.IntN(3) == 0 {
		w.p.Layers = w.p.Cohort
	}
	for i := range n {
		_, id := identity(i)
		w.roster[id], w.names[id] = true, fmt.Sprintf("client%d", i)
	}
	w.populate(random)
	w.misfortunes(random)
	return w
}

// populate puts the parties on the network.
func (w *world) populate(random *rand.Rand) {
	serverLives := 0
	w.net.Add("server", func(now time.Time) (simnet.Node, simnet.Output) {
		if serverLives++; serverLives > 1 { // the state of the round was in memory: it is over
			w.finish("abandoned")
			return deaf{}, simnet.Output{}
		}
		return newServerNode(w, now)
	})
	for i := range w.p.Cohort {
		w.addClient(i, random.Uint64(), random)
	}
}

// misfortunes are crashes and partitions.
func (w *world) misfortunes(random *rand.Rand) {
	soon := func() time.Duration { return time.Duration(random.Int64N(int64(6 * time.Second))) }
	for _, name := range slices.Sorted(maps.Values(w.names)) {
		if random.IntN(4) == 0 {
			w.net.CrashNode(name, soon(), time.Duration(random.IntN(2))*soon())
		}
		if random.IntN(4) == 0 {
			from, to := []string{name}, []string{"server"}
			if random.IntN(2) == 0 {
				from, to = to, from
			}
			w.net.CutOff(from, to, soon(), soon())
		}
	}
	if random.IntN(20) == 0 {
		w.net.CutOff(nil, []string{"server"}, soon(), soon())
	}
	if random.IntN(25) == 0 {
		w.net.CrashNode("server", soon(), time.Second)
	}
}

func (w *world) finish(end string) {
	if w.end != "" && w.end != end {
		w.t.Fatalf("the round ended twice, %s and %s\n%s", w.end, end, w.net.Trace())
	}
	w.end = end
}

type deaf struct{}

func (deaf) Receive(time.Time, string, []byte) simnet.Output { return simnet.Output{} }
func (deaf) Wake(time.Time) simnet.Output                    { return simnet.Output{} }

// Chunks carry a checksum, as the transport of a real client would: a masked vector cannot tell that a bit was flipped. Everything else
// arrives as damaged as it is.
func framed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(append([]byte{'c'}, sum[:]...), body...)
}

func (w *world) unframed(body []byte) ([]byte, bool) {
	if len(body) < 33 || !w.unguarded && sha256.Sum256(body[33:]) != [32]byte(body[1:33]) {
		return nil, false
	}
	return body[33:], true
}

// clientNode is a client and what it needs to try again.
type clientNode struct {
	w        *world
	name     string
	client   *secagg.Client
	chunk    int // whose noise is drawn
	answered bool
	tries    int
}

func (w *world) addClient(i int, seed uint64, random *rand.Rand) {
	key, id := identity(i)
	name := w.names[id]
	vector := make([]int64, w.p.Dim)
	for j := range vector {
		vector[j] = random.Int64() >> 20
	}
	w.vectors[name] = vector
	for range w.p.Layers {
		w.layers[name] = append(w.layers[name], make([]int64, w.p.Dim))
	}
	life := uint64(0)
	w.net.Add(name, func(now time.Time) (simnet.Node, simnet.Output) {
		c := &clientNode{w: w, name: name}
		config := secagg.ClientConfig{Params: w.p, Policy: policy(w.p), Key: key, Roster: w.roster}
		if w.p.Layers > 0 {
			config.Noise = c.noise
		}
		var err error
		if c.client, err = secagg.NewClient(config, seeded(seed+life)); err != nil {
			w.t.Fatal(err)
		}
		life++ // after a crash: fresh keys
		return c, c.Wake(now)
	})
}

// noise is what the layers are made of, on both sides; the client's is written down.
func layerNoise(layer int, seed secagg.Seed, dst []int64) {
	stream := noise.Key(seed).Stream()
	for i := range dst {
		dst[i] += int64(stream.Below(1000)) + int64(layer)
	}
}

func (c *clientNode) noise(layer int, seed secagg.Seed, dst []int64) {
	before := slices.Clone(dst)
	layerNoise(layer, seed, dst)
	at := c.w.layers[c.name][layer-1][c.chunk*c.w.p.ChunkLen(0):]
	for i := range dst {
		at[i] = dst[i] - before[i]
	}
}

// Wake repeats the keys until the server answers.
func (c *clientNode) Wake(now time.Time) simnet.Output {
	if c.tries++; c.answered || c.tries > 30 {
		return simnet.Output{}
	}
	return simnet.Output{
		Send:   []simnet.Message{{To: "server", Body: append([]byte{'m'}, c.client.Advertise()...)}},
		WakeAt: now.Add(400 * time.Millisecond),
	}
}

func (c *clientNode) Receive(now time.Time, from string, body []byte) simnet.Output {
	answer, err := c.client.Handle(body)
	c.w.refused(err)
	if err != nil {
		return simnet.Output{}
	}
	c.answered = true
	if answer != nil {
		return simnet.Output{Send: []simnet.Message{{To: "server", Body: append([]byte{'m'}, answer...)}}}
	}
	var out simnet.Output
	for chunk := range c.w.p.Chunks() { // its shares arrived, or arrived again because a chunk was lost
		c.chunk = chunk
		at := chunk * c.w.p.ChunkLen(0)
		message, err := c.client.MaskedChunk(chunk, c.w.vectors[c.name][at:at+c.w.p.ChunkLen(chunk)])
		c.w.refused(err)
		if err == nil {
			out.Send = append(out.Send, simnet.Message{To: "server", Body: framed(message)})
		}
	}
	return out
}
