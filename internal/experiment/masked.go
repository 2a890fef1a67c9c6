package experiment

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"

	"hubbub/internal/rounds"
	"hubbub/mechanism"
	"hubbub/noise"
	"hubbub/secagg"
	"hubbub/secagg/graph"
)

// secaggParams is what the protocol of secure aggregation is run with.
func (f *Federation) secaggParams(round int, model []float32, cohort int) (secagg.Params, error) {
	p := secagg.Params{
		Round: f.key.Derive("round", uint64(round)), ModelHash: modelHash(model), Cohort: cohort, Colluders: graph.AtMost(f.Config.Secagg.MaxColluders, cohort),
		MinSurvivors: max(fewest, cohort-f.tolerated(cohort)), Dim: f.width(), Bits: f.way.server.BitsPerWeight(),
		Hybrid: f.Config.Secagg.Hybrid,
	}
	if !f.Config.Privacy.Mechanism.kind().shares {
		p.MinSurvivors = cohort          // all of them make the noise together
		p.Bits += bits.Len(uint(cohort)) // a contribution fills its bits: the sum needs more
	}
	if f.Facts.Layered {
		p.Layers = cohort - p.MinSurvivors
	}
	if cohort <= secagg.CompleteUpTo {
		// Against a malicious server 2t > n + c; where that many may not survive, the most that do, against a curious one.
		p.Threshold = min(p.MinSurvivors, (cohort+p.Colluders)/2+1)
	}
	return p, p.Check()
}

// aggregate states what adding up shows, and to whom.
func (f *Federation) aggregate() {
	s := f.Config.Secagg
	f.Facts.Aggregated, f.Facts.Masked, f.Facts.Colluders = s.Kind != "none", s.Kind == "masked", s.MaxColluders
	if f.Facts.Masked && f.largestCohort() > secagg.CompleteUpTo {
		f.Facts.Failure = 0x1p-40 // that the graph is a bad one
	}
	if s.Noise == "minimum" && s.MaxColluders > 0 && f.Facts.Poisson {
		f.Facts.Failure += rareCohort // that more collude than the shares were sized for
	}
}

// Aggregation is how the contributions of an expected cohort are added up.
type Aggregation struct {
	Setting string `json:"setting"` // who shares with whom, and how many shares restore a secret
	Claim   string `json:"claim"`   // what is proved for it
}

// aggregation describes the protocol, if it is run.
func (f *Federation) aggregation() (*Aggregation, error) {
	if !f.Facts.Masked {
		return nil, nil
	}
	p, err := f.secaggParams(1, nil, int(f.Config.Cohort.Size))
	if err != nil {
		return nil, f.Config.refuse("secagg", "cannot be run: %v", err)
	}
	against, claim := p.Claim(true)
	// Cohorts differ in size: what is not claimed for a large one is not claimed.
	large, err := f.secaggParams(1, nil, f.largestCohort())
	if err != nil {
		return nil, f.Config.refuse("secagg", "cannot be run for a cohort of %d, which may be drawn: %v", f.largestCohort(), err)
	}
	if other, weaker := large.Claim(true); other < against {
		claim = weaker
	}
	return &Aggregation{p.String(), claim}, nil
}

// maskingSeconds estimates what the protocol takes in a round, by running it with a few clients: its cost is that of pairs.
func (f *Federation) maskingSeconds(model []float32, cohort []int) float64 {
	few := min(len(cohort), 8)
	if !f.Facts.Masked || few < fewest {
		return 0
	}
	began := time.Now()
	p, err := f.openProtocol(1, model, cohort[:few])
	if err != nil {
		return 0 // the run itself will say so
	}
	w := &worker{sum: make([]int64, f.width())}
	if err := p.upload(w, 1, cohort[0]); err != nil {
		return 0
	}
	one := time.Since(began).Seconds() / float64(few*(few-1))
	whole, err := f.secaggParams(1, model, len(cohort))
	if err != nil {
		return 0
	}
	return one * float64(len(cohort)*whole.Neighbours())
}

// signer is a client's enrolled key.
func (f *Federation) signer(client int) (ed25519.PrivateKey, secagg.ID) {
	seed := f.key.Derive("enrolled", uint64(client))
	key := ed25519.NewKeyFromSeed(seed[:])
	return key, secagg.ID(key.Public().(ed25519.PublicKey))
}

// protocol is one round of secure aggregation: all parties in this process, every message as bytes.
type protocol struct {
	f       *Federation
	round   int
	params  secagg.Params
	server  *secagg.Server
	sums    *secagg.Aggregator
	noise   secagg.LayerNoise
	layered *layeredRound // nil: noise is not in layers
	parties map[int]*secagg.Client
	ids     map[int]secagg.ID
	byID    map[secagg.ID]int
	adding  sync.Mutex
}

// openProtocol makes the parties of a round and lets them share their keys.
func (f *Federation) openProtocol(round int, model []float32, cohort []int) (*protocol, error) {
	p := &protocol{f: f, round: round, parties: map[int]*secagg.Client{}, ids: map[int]secagg.ID{}, byID: map[secagg.ID]int{}}
	var err error
	if p.params, err = f.secaggParams(round, model, len(cohort)); err != nil {
		return nil, err
	}
	if f.Facts.Layered {
		if p.layered, err = f.inLayers(p.params, p.params.Layers+1); err != nil {
			return nil, err
		}
		if p.params.Layers > 0 {
			p.noise = layerNoise(p.layered.layers)
		}
	}
	roster := secagg.Roster{}
	for _, c := range cohort {
		_, id := f.signer(c)
		roster[id], p.byID[id], p.ids[c] = true, c, id
	}
	policy := secagg.Policy{MinSurvivors: fewest, Colluders: p.params.Colluders}
	for _, c := range cohort {
		config := secagg.ClientConfig{Params: p.params, Policy: policy, Roster: roster, Noise: p.noise}
		config.Key, _ = f.signer(c)
		if p.layered != nil {
			first := p.layered.first(round, c)
			config.Layers = &first
		}
		if p.parties[c], err = secagg.NewClient(config, streamed{f.clientKey(round, c).Derive("masks").Stream()}); err != nil {
			return nil, err
		}
	}
	if p.server, err = secagg.NewServer(p.params, roster); err != nil {
		return nil, err
	}
	for _, c := range cohort {
		if err := p.server.Handle(p.ids[c], p.parties[c].Advertise()); err != nil {
			return nil, err
		}
	}
	for _, phase := range []secagg.Phase{secagg.Advertise, secagg.Share} {
		if err := p.close(phase); err != nil {
			return nil, err
		}
	}
	p.sums, err = p.server.Aggregator(0, p.params.Chunks())
	return p, err
}

// layerNoise draws a layer from its seed alone.
func layerNoise(layers *mechanism.Layers) secagg.LayerNoise {
	return func(layer int, seed secagg.Seed, dst []int64) { layers.Add(dst, layer, noise.Key(seed).Stream()) }
}

// close ends a phase and carries the server's messages to the clients that are still there, and their answers back.
func (p *protocol) close(phase secagg.Phase) error {
	out, err := p.server.Close(phase)
	if err != nil {
		return err
	}
	for _, m := range out.Send {
		party, there := p.parties[p.byID[m.To]]
		if !there {
			continue
		}
		answer, err := party.Handle(m.Body)
		if err != nil {
			return err
		}
		if answer != nil {
			if err := p.server.Handle(m.To, answer); err != nil {
				return err
			}
		}
	}
	return nil
}

// upload masks what is in the worker's sum and hands it over.
func (p *protocol) upload(w *worker, round, client int) error {
	if p.layered != nil {
		p.layered.base(w, round, client)
	}
	place, _ := p.server.Place(p.ids[client])
	for chunk := range p.params.Chunks() {
		from := chunk * p.params.ChunkLen(0)
		message, err := p.parties[client].MaskedChunk(chunk, w.sum[from:from+p.params.ChunkLen(chunk)])
		if err != nil {
			return err
		}
		p.adding.Lock()
		err = p.sums.Add(place, message)
		p.adding.Unlock()
		if err != nil {
			return err
		}
	}
	clear(w.sum)
	p.adding.Lock()
	defer p.adding.Unlock()
	return p.server.Uploaded(p.ids[client])
}

// open lets the survivors agree on who they are and unmasks their sum.
func (p *protocol) open() ([]int64, error) {
	for _, phase := range []secagg.Phase{secagg.Upload, secagg.Consent} {
		if err := p.close(phase); err != nil {
			return nil, err
		}
	}
	out, err := p.server.Close(secagg.Unmask)
	if err != nil {
		return nil, err
	}
	defer out.Unmasking.Erase()
	sum := make([]int64, 0, p.params.Dim)
	for chunk := range p.params.Chunks() {
		part, err := p.sums.Sum(chunk, out.Unmasking, p.noise)
		if err != nil {
			return nil, err
		}
		sum = append(sum, part...)
	}
	return sum, nil
}

// gatherMasked runs the protocol over the open round. Charges are durable before the sum is unmasked.
func (r *run) gatherMasked(ctx context.Context, round int, survivors, dropped []int) (rounds.Output, error) {
	if len(survivors) < max(fewest, len(survivors)+len(dropped)-r.f.tolerated(len(survivors)+len(dropped))) {
		return r.step(rounds.Survivors{Round: round, Clients: survivors}) // abandoned, without a protocol that would say the same
	}
	p, err := r.f.openProtocol(round, r.last.model, append(append([]int{}, survivors...), dropped...))
	if err != nil {
		return rounds.Output{}, fmt.Errorf("round %d: %w", round, err)
	}
	for _, c := range dropped {
		delete(p.parties, c)
	}
	if _, err := r.crew.contributions(ctx, r.way.client, round, r.last.model, survivors, p.upload); err != nil {
		return rounds.Output{}, err
	}
	out, err := r.step(rounds.Survivors{Round: round, Clients: survivors})
	if err != nil || out.Abandon != nil {
		return out, err
	}
	sum, err := p.open()
	if err != nil {
		return out, fmt.Errorf("round %d: %w", round, err)
	}
	return r.step(rounds.Opened{Round: round, Sum: sum})
}

// modelHash names the model that a round starts from: a client that was sent another one takes no part.
func modelHash(model []float32) [32]byte {
	bytes := make([]byte, 0, 4*len(model))
	for _, x := range model {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	return sha256.Sum256(bytes)
}

// streamed lets a simulated client read its randomness from its key.
type streamed struct{ stream *noise.Stream }

func (s streamed) Read(p []byte) (int, error) {
	s.stream.Fill(p)
	return len(p), nil
}
