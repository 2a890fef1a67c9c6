// Package rounds runs a federation as a state machine: who is invited, what has come, when a round closes, what it costs.
//
// It knows no model and no transport: contributions are integer vectors, and what it releases is their sum and its hash.
// The machine decides, the caller acts, in the order in which [Output]'s fields are written. There is no clock, lock or
// goroutine inside: the same inputs give the same outputs, so any failure replays.
package rounds

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"hubbub/ledger"
)

// Config describes a federation.
type Config struct {
	Sampling     Sampling
	Rounds       int           // how many rounds are run
	First        int           // the first one, from 1; above 1 when a run is taken up again
	Dimension    int           // length of a contribution
	MinSurvivors int           // a round that fewer contributed to is abandoned; 0: released whoever came
	Deadline     time.Duration // how long a round waits for its cohort; 0: until all came or dropped out

	// Tolerated is how many of a cohort of this size may drop out before the round is abandoned; nil: any number.
	Tolerated func(cohort int) int
	// Costs says what a round costs this cohort, per adversary.
	Costs func(round int, cohort []int) []ledger.Cost
	// ServerNoise adds the server's own noise to a round's sum; nil if the clients add theirs.
	ServerNoise func(round int, sum []int64)
}

// Input is what happened: [Begin], [Contribution], [Dropout], [Tick]; or, where contributions are masked, [Survivors] and [Opened].
type Input interface{ input() }

// Begin asks for the next round.
type Begin struct{}

// Contribution is what some clients of the cohort sent, already added up: usually one client's vector.
type Contribution struct {
	Round   int
	Clients []int
	Sum     []int64
}

// Dropout says that a client of the cohort will not contribute. It never says why.
type Dropout struct{ Round, Client int }

// Survivors says whose masked contributions arrived, all at once: nobody else's will. The round is charged, or abandoned. Only then may
// the sum be unmasked.
type Survivors struct {
	Round   int
	Clients []int
}

// Opened is the unmasked sum of the survivors.
type Opened struct {
	Round int
	Sum   []int64
}

// Tick says that time has passed.
type Tick struct{}

func (Begin) input()        {}
func (Contribution) input() {}
func (Dropout) input()      {}
func (Survivors) input()    {}
func (Opened) input()       {}
func (Tick) input()         {}

// Output is what must be done now, in this order.
type Output struct {
	Charge  []ledger.Entry // durable BEFORE anything below leaves this process
	Send    []Message
	Release *Release  // once; never re-noised
	Abandon *Abandon  // the round ended without a release
	WakeAt  time.Time // zero: nothing to wait for
}

// Message invites a client to a round.
type Message struct{ Round, Client int }

// Release is the protected sum of a round.
type Release struct {
	Round        int
	Sum          []int64
	Contributors int    // for the caller's books; cohort sizes are not published
	Hash         string // SHA-256 over round and sum
}

// Abandon says why a round gave nothing.
type Abandon struct {
	Round int
	Why   string
}

// Engine is the state of a federation.
type Engine struct {
	config   Config
	round    int          // the round that is open, or the last one that closed
	waiting  map[int]bool // invited, neither contributed nor dropped; nil between rounds
	invited  int
	arrived  []int
	sum      []int64
	deadline time.Time
	masked   bool // charged for a sum that is still masked
}

// New checks the configuration; past here nothing re-checks.
func New(c Config) (*Engine, error) {
	if err := c.Sampling.check(); err != nil {
		return nil, err
	}
	switch {
	case c.Rounds < 1:
		return nil, fmt.Errorf("rounds: %d rounds: must be at least 1", c.Rounds)
	case c.First < 1:
		return nil, fmt.Errorf("rounds: first round %d: counts from 1", c.First)
	case c.Dimension < 1:
		return nil, fmt.Errorf("rounds: contributions of %d numbers: must be at least 1", c.Dimension)
	case c.MinSurvivors < 0 || c.MinSurvivors > c.Sampling.Clients:
		return nil, fmt.Errorf("rounds: minimum of %d survivors outside 0 to %d, the clients there are", c.MinSurvivors, c.Sampling.Clients)
	case c.Deadline < 0:
		return nil, fmt.Errorf("rounds: deadline %v is negative", c.Deadline)
	}
	return &Engine{config: c, round: c.First - 1}, nil
}

// Done reports whether the last round has closed.
func (e *Engine) Done() bool { return e.waiting == nil && !e.masked && e.round >= e.config.Rounds }

// Step takes what happened and says what to do. After an error the state is as before.
func (e *Engine) Step(now time.Time, in Input) (Output, error) {
	switch in := in.(type) {
	case Begin:
		return e.begin(now)
	case Contribution:
		return e.contribution(in)
	case Dropout:
		if err := e.expects(in.Round, in.Client); err != nil {
			return Output{}, err
		}
		delete(e.waiting, in.Client)
		return e.closeIfComplete(), nil
	case Survivors:
		return e.survivors(in)
	case Opened:
		return e.opened(in)
	case Tick:
		if e.waiting == nil || e.deadline.IsZero() || now.Before(e.deadline) {
			return Output{WakeAt: e.deadline}, nil
		}
		return e.close(), nil
	default:
		return Output{}, fmt.Errorf("rounds: input %T is unknown", in)
	}
}

func (e *Engine) begin(now time.Time) (Output, error) {
	if e.waiting != nil || e.masked {
		return Output{}, fmt.Errorf("rounds: round %d is still open", e.round)
	}
	if e.Done() {
		return Output{}, fmt.Errorf("rounds: all %d rounds have been run", e.config.Rounds)
	}
	e.round++
	cohort := e.config.Sampling.Cohort(e.round)
	e.waiting = make(map[int]bool, len(cohort))
	e.invited, e.arrived = len(cohort), nil
	e.sum = make([]int64, e.config.Dimension)
	out := Output{Charge: []ledger.Entry{{Kind: ledger.Reserve, Round: e.round, Costs: e.config.Costs(e.round, cohort)}}}
	for _, c := range cohort {
		e.waiting[c] = true
		out.Send = append(out.Send, Message{Round: e.round, Client: c})
	}
	if len(cohort) == 0 { // nobody to wait for: the round closes as it opens
		closed := e.close()
		closed.Charge = append(out.Charge, closed.Charge...)
		return closed, nil
	}
	if e.config.Deadline > 0 {
		e.deadline = now.Add(e.config.Deadline)
		out.WakeAt = e.deadline
	}
	return out, nil
}

func (e *Engine) contribution(in Contribution) (Output, error) {
	if len(in.Sum) != e.config.Dimension {
		return Output{}, fmt.Errorf("rounds: a contribution of %d numbers, the round takes %d", len(in.Sum), e.config.Dimension)
	}
	if err := e.allExpected(in.Round, in.Clients); err != nil {
		return Output{}, err
	}
	for _, c := range in.Clients {
		delete(e.waiting, c)
	}
	e.arrived = append(e.arrived, in.Clients...)
	for i, v := range in.Sum {
		e.sum[i] += v
	}
	return e.closeIfComplete(), nil
}

// expects refuses what is late, uninvited or repeated.
func (e *Engine) expects(round, client int) error {
	if e.waiting == nil || round != e.round {
		return fmt.Errorf("rounds: client %d speaks of round %d, which is not open", client, round)
	}
	if !e.waiting[client] {
		return fmt.Errorf("rounds: client %d is not awaited in round %d: not invited, or already heard", client, round)
	}
	return nil
}

// closeIfComplete ends the round once everyone invited has spoken.
func (e *Engine) closeIfComplete() Output {
	if len(e.waiting) > 0 {
		return Output{WakeAt: e.deadline}
	}
	return e.close()
}

// close ends the waiting: the round is charged and released, or abandoned.
func (e *Engine) close() Output {
	out := e.charge()
	if out.Abandon == nil {
		out.Release = e.release()
	}
	return out
}

// charge pays for the contributions that arrived, or abandons the round if they are too few.
func (e *Engine) charge() Output {
	e.waiting, e.deadline = nil, time.Time{}
	least := e.config.MinSurvivors
	if e.config.Tolerated != nil {
		least = max(least, e.invited-e.config.Tolerated(e.invited))
	}
	if len(e.arrived) < least {
		return Output{
			Charge:  []ledger.Entry{{Kind: ledger.Void, Round: e.round}},
			Abandon: &Abandon{Round: e.round, Why: fmt.Sprintf("%d of %d invited clients contributed, the minimum is %d", len(e.arrived), e.invited, least)},
		}
	}
	slices.Sort(e.arrived) // who came first is nobody's business, and would make the ledger differ from run to run
	return Output{Charge: []ledger.Entry{{Kind: ledger.Charge, Round: e.round, Costs: e.config.Costs(e.round, e.arrived)}}}
}

// release hands the sum out, once.
func (e *Engine) release() *Release {
	if e.config.ServerNoise != nil {
		e.config.ServerNoise(e.round, e.sum)
	}
	release := &Release{Round: e.round, Sum: e.sum, Contributors: len(e.arrived), Hash: hashSum(e.round, e.sum)}
	e.sum = nil
	return release
}

func (e *Engine) survivors(in Survivors) (Output, error) {
	if e.waiting == nil || in.Round != e.round || len(e.arrived) > 0 {
		return Output{}, fmt.Errorf("rounds: survivors of round %d, which is not open, or has contributions in the clear", in.Round)
	}
	if err := e.allExpected(in.Round, in.Clients); err != nil {
		return Output{}, err
	}
	e.arrived = slices.Clone(in.Clients)
	out := e.charge()
	e.masked = out.Abandon == nil
	return out, nil
}

func (e *Engine) opened(in Opened) (Output, error) {
	if !e.masked || in.Round != e.round {
		return Output{}, fmt.Errorf("rounds: a sum of round %d, which was not charged for", in.Round)
	}
	if len(in.Sum) != e.config.Dimension {
		return Output{}, fmt.Errorf("rounds: a sum of %d numbers, the round takes %d", len(in.Sum), e.config.Dimension)
	}
	e.masked = false
	copy(e.sum, in.Sum)
	return Output{Release: e.release()}, nil
}

// allExpected refuses lists with a client that is not awaited, or stands there twice.
func (e *Engine) allExpected(round int, clients []int) error {
	seen := make(map[int]bool, len(clients))
	for _, c := range clients {
		if err := e.expects(round, c); err != nil {
			return err
		}
		if seen[c] {
			return fmt.Errorf("rounds: client %d stands twice in one contribution", c)
		}
		seen[c] = true
	}
	return nil
}

func hashSum(round int, sum []int64) string {
	h := sha256.New()
	buffer := binary.BigEndian.AppendUint64(make([]byte, 0, 8*1024), uint64(round))
	for _, v := range sum {
		if len(buffer) == cap(buffer) {
			h.Write(buffer)
			buffer = buffer[:0]
		}
		buffer = binary.BigEndian.AppendUint64(buffer, uint64(v))
	}
	h.Write(buffer)
	return hex.EncodeToString(h.Sum(nil))
}
