package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"

	"hubbub/secagg/shamir"
)

// ClientConfig is what a client brings to a round.
type ClientConfig struct {
	Params Params             // as the server proposed them, with the hash of the model that THIS client was sent
	Policy Policy             // what it insists on
	Key    ed25519.PrivateKey // its enrolled name
	Roster Roster             // the names it may meet, known beforehand; nil: anybody, and the claim is honest-but-curious
	Noise  LayerNoise         // needed when Params.Layers is positive
	// Layers is what the layers of noise hang on, for a simulation that must come to the same noise in another way; nil: it is drawn.
	Layers *Seed
}

// Client is one client in one round. What it needs of randomness is drawn when it is made, so the same messages give the same answers, and
// a repeated message the same bytes. It is not safe for concurrent use, except that MaskedChunk may run for different chunks.
type Client struct {
	p       Params
	policy  Policy
	roster  Roster
	noise   LayerNoise
	key     ed25519.PrivateKey
	context [32]byte
	advert  *advert

	// secrets, gone after the unmask request was answered
	seal  Seed   // of the key that shares are sealed with
	mask  Seed   // of the key that pairwise masks come from; shared
	self  Seed   // of the self mask; shared
	layer []Seed // of the layers of noise; shared
	coins Seed   // the randomness of sharing

	cohort    *cohort
	place     int         // in the cohort
	circle    []neighbour // one for each holder, in their order
	uploaded  [][32]byte  // hashes of the chunks that left; zero: not yet
	survivors set
	consented []byte // what was signed

	answers [kindReveal + 1]answer // by kind of the message that was answered
	phase   clientPhase
}

type clientPhase int

const (
	waitsForCohort clientPhase = iota
	waitsForShares
	uploads
	waitsForRequest
	finished
)

// neighbour is what a client knows of one that it shares with (or, in a complete graph, of itself).
type neighbour struct {
	place       int
	in          bool // its shares arrived: it is in the second set of the protocol, U2
	agreed      Seed // X25519 secret of the two sealing keys
	pair        Seed // of the common mask
	mask, self  shamir.Value
	layerShares []shamir.Value
}

// answer makes repeated messages harmless.
type answer struct {
	to  [32]byte // hash of the message
	out []byte
	set bool
}

// Format hides the key from every verb.
func (c ClientConfig) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "secagg.ClientConfig(%v)", c.Params)
}

// Format hides keys, seeds and shares from every verb: fmt would find them in fields that hide themselves only when asked by name.
func (c Client) Format(f fmt.State, _ rune) { io.WriteString(f, "secagg.Client(secret)") }

// NewClient checks the proposal and draws the keys of the round. A generator that fails is an error: there is no fallback.
func NewClient(config ClientConfig, random io.Reader) (*Client, error) {
	p := config.Params
	if err := config.Policy.Check(p, config.Roster != nil); err != nil {
		return nil, err
	}
	if len(config.Key) != ed25519.PrivateKeySize {
		return nil, refuse(ErrParams, "a signing key of %d bytes instead of %d", len(config.Key), ed25519.PrivateKeySize)
	}
	if (p.Layers > 0) != (config.Noise != nil) {
		return nil, refuse(ErrParams, "%d layers of noise: a function that draws them is needed if and only if there are any", p.Layers)
	}
	c := &Client{
		p: p, policy: config.Policy, roster: config.Roster, noise: config.Noise, key: config.Key,
		context: p.context(), uploaded: make([][32]byte, p.Chunks()),
	}
	var layers Seed
	for _, s := range []*Seed{&c.seal, &c.mask, &c.self, &layers, &c.coins} {
		var err error
		if *s, err = newSeed(random); err != nil {
			return nil, err
		}
	}
	id := ID(config.Key.Public().(ed25519.PublicKey))
	c.advert = &advert{id: id, self: commitment(&c.context, &c.self)}
	c.advert.seal, c.advert.sealKEM = newAgreementKey(&p, &c.context, &c.seal).public()
	c.advert.mask, c.advert.maskKEM = newAgreementKey(&p, &c.context, &c.mask).public()
	if config.Layers != nil {
		layers = *config.Layers
	}
	if p.Layers > 0 {
		c.layer, c.advert.layers = layerChain(&c.context, layers, p.Layers)
	}
	c.advert.sign(&p, &c.context, config.Key)
	return c, nil
}

// Advertise gives the client's first message.
func (c *Client) Advertise() []byte {
	return append(header(kindAdvert, &c.context, advertSize(&c.p)), c.advert.encode(&c.p)...)
}

// Handle takes a message of the server and gives the answer, nil if none is due: after the shares arrive it is time for MaskedChunk. A
// refused message changes nothing; what to do then is the caller's decision, and leaving the round is always safe.
func (c *Client) Handle(message []byte) ([]byte, error) {
	k := kindOf(message)
	if k == 0 {
		return nil, refuse(ErrMalformed, "%d bytes that are no message", len(message))
	}
	hash := sha256.Sum256(message)
	if given := &c.answers[k]; given.set {
		switch {
		case given.to == hash:
			return given.out, nil
		case k == kindRequest:
			return nil, ErrUnmasked
		case [32]byte(message[1:headerSize]) != c.tag(k):
			return nil, ErrOtherRound
		}
		return nil, refuse(ErrConflict, "message of kind %d", k)
	}
	var out []byte
	var err error
	switch k {
	case kindCohort:
		out, err = c.share(message)
	case kindDelivery:
		err = c.receive(message)
	case kindSurvivors:
		out, err = c.consent(message)
	case kindRequest:
		out, err = c.reveal(message)
	default:
		err = refuse(ErrMalformed, "a message of kind %d is not for clients", k)
	}
	if err != nil {
		return nil, err
	}
	c.answers[k] = answer{to: hash, out: out, set: true}
	return out, nil
}

// tag is the hash that messages of a kind belong to.
func (c *Client) tag(k kind) [32]byte {
	if k == kindCohort {
		return c.context
	}
	return c.cohort.root
}

// awaits refuses what comes too early or too late.
func (c *Client) awaits(phase clientPhase) error {
	switch {
	case c.phase < phase:
		return ErrEarly
	case c.phase > phase:
		return ErrStale
	}
	return nil
}

// Place is the client's number in the cohort, once that is known.
func (c *Client) Place() (int, bool) { return c.place, c.cohort != nil }

// erase forgets what can no longer be needed.
func (c *Client) erase() {
	for _, s := range []*Seed{&c.seal, &c.mask, &c.self, &c.coins} {
		s.erase()
	}
	clear(c.layer)
	clear(c.circle)
	c.layer, c.circle = nil, nil
}
