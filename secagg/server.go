package secagg

import (
	"crypto/sha256"
	"fmt"
)

// Phase is what the server waits for.
type Phase int

const (
	Advertise Phase = iota // for keys
	Share                  // for sealed shares
	Upload                 // for masked vectors
	Consent                // for signatures of the set of survivors
	Unmask                 // for shares
	Done                   // the sum can be unmasked
	Abandoned              // nothing was unmasked, and nothing ever will be
)

func (p Phase) String() string {
	return [...]string{"advertise", "share", "upload", "consent", "unmask", "done", "abandoned"}[p]
}

// Message is for one client.
type Message struct {
	To   ID
	Body []byte
}

// Output is what the end of a phase asks for.
type Output struct {
	// Send, when Consent was closed, holds the unmask requests: whatever has to be durable before a sum is learned must be so before
	// the first of them leaves.
	Send []Message
	// Unmasking opens the sum, when Unmask was closed.
	Unmasking *Unmasking
}

// Server is the server's side of one round. It decides what to send; the vectors themselves go to an [Aggregator].
type Server struct {
	p       Params
	context [32]byte
	roster  Roster
	phase   Phase
	places  map[ID]int // after Advertise

	adverts map[ID]*advert
	keys    map[publicKey]ID // whose they are
	cohort  *cohort
	seen    [Unmask + 1]map[ID][32]byte // hash of what each client sent

	boxes     [][]byte // from each client, for its holders in order; nil: none came
	shared    set      // U2: who shared keys
	uploaded  set      // whose vector came
	survivors set      // U3
	signed    []byte
	consents  [][]byte   // signatures; nil: none
	shares    [][][]byte // from each client: for its circle in order, what it revealed
}

// Format hides the shares that came from every verb.
func (s Server) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "secagg.Server(phase %s)", s.phase) }

// NewServer opens a round. The roster says who may take part; nil: anybody.
func NewServer(p Params, roster Roster) (*Server, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	s := &Server{p: p, context: p.context(), roster: roster, adverts: map[ID]*advert{}, keys: map[publicKey]ID{}}
	for i := range s.seen {
		s.seen[i] = map[ID][32]byte{}
	}
	return s, nil
}

// Phase is what the server waits for now.
func (s *Server) Phase() Phase { return s.phase }

// Arrived is the number of clients that have sent what this phase waits for, and of how many it is waiting for at most.
func (s *Server) Arrived() (arrived, expected int) {
	switch s.phase {
	case Advertise:
		return len(s.adverts), s.p.Cohort
	case Share:
		return len(s.seen[Share]), len(s.places)
	case Upload:
		return s.uploaded.count(), s.shared.count()
	case Consent:
		return len(s.seen[Consent]), s.survivors.count()
	case Unmask:
		return len(s.seen[Unmask]), len(s.seen[Consent])
	}
	return 0, 0
}

// Place is a client's number in the cohort, once keys were advertised.
func (s *Server) Place(id ID) (int, bool) {
	place, ok := s.places[id]
	return place, ok
}

// phaseOf is the phase in which a kind of message is due.
func phaseOf(k kind) (Phase, bool) {
	switch k {
	case kindAdvert:
		return Advertise, true
	case kindShares:
		return Share, true
	case kindConsent:
		return Consent, true
	case kindReveal:
		return Unmask, true
	}
	return 0, false
}

// Handle takes a message of a client; from is what the connection proved. A repeated message is accepted again and changes nothing; chunks go to
// an Aggregator.
func (s *Server) Handle(from ID, message []byte) error {
	if s.phase == Abandoned {
		return ErrAbandoned
	}
	phase, known := phaseOf(kindOf(message))
	if !known {
		return refuse(ErrMalformed, "%d bytes that are no message for the server", len(message))
	}
	if phase > s.phase {
		return refuse(ErrEarly, "a message of phase %s in phase %s", phase, s.phase)
	}
	hash := sha256.Sum256(message)
	if before, twice := s.seen[phase][from]; twice {
		if before == hash {
			return nil
		}
		if phase == s.phase {
			return refuse(ErrConflict, "client %s, phase %s", from, phase)
		}
	}
	if phase < s.phase {
		return refuse(ErrStale, "a message of phase %s in phase %s", phase, s.phase)
	}
	place := 0
	if phase > Advertise {
		var member bool
		if place, member = s.places[from]; !member {
			return refuse(ErrUnknown, "client %s", from)
		}
	}
	var err error
	switch phase {
	case Advertise:
		err = s.advertised(from, message)
	case Share:
		err = s.sharedKeys(place, message)
	case Consent:
		err = s.consented(place, message)
	case Unmask:
		err = s.revealed(place, message)
	}
	if err == nil {
		s.seen[phase][from] = hash
	}
	return err
}

// Uploaded says that every chunk of a client's vector has arrived, wherever the aggregators are.
func (s *Server) Uploaded(from ID) error {
	switch {
	case s.phase == Abandoned:
		return ErrAbandoned
	case s.phase < Upload:
		return ErrEarly
	case s.phase > Upload:
		return ErrStale
	}
	place, member := s.places[from]
	if !member || !s.shared[place] {
		return refuse(ErrUnknown, "client %s shared no keys", from)
	}
	s.uploaded[place] = true
	return nil
}

// Close ends a phase with what has arrived. If that is too little the round is abandoned, and the error says why. Closing a phase that is
// over is ErrStale and changes nothing.
func (s *Server) Close(phase Phase) (Output, error) {
	switch {
	case s.phase == Abandoned:
		return Output{}, ErrAbandoned
	case phase < s.phase:
		return Output{}, refuse(ErrStale, "phase %s is closed", phase)
	case phase > s.phase:
		return Output{}, refuse(ErrEarly, "phase %s is not open", phase)
	}
	var out Output
	var err error
	switch phase {
	case Advertise:
		out.Send, err = s.closeAdvertise()
	case Share:
		out.Send, err = s.closeShare()
	case Upload:
		out.Send, err = s.closeUpload()
	case Consent:
		out.Send, err = s.closeConsent()
	case Unmask:
		out.Unmasking, err = s.closeUnmask()
	default:
		return Output{}, refuse(ErrStale, "phase %s is closed", phase)
	}
	if err != nil {
		s.Abandon()
		return Output{}, fmt.Errorf("%w: %w", ErrAbandoned, err)
	}
	s.phase++
	return out, nil
}

// Abandon ends the round without a sum.
func (s *Server) Abandon() {
	if s.phase != Done {
		s.phase = Abandoned
		s.shares = nil
	}
}
