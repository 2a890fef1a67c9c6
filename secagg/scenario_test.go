package secagg_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hubbub/secagg"
)

var update = flag.Bool("update", false, "rewrite the scenarios in testdata with what happens now")

// A scenario is a file of commands, each behind "> ", and below each what it must print:
//
//	clients 5 threshold 3 survivors 3 [layers 2] [bits 16] [dim 200] [hybrid]
//	drop 3          client 3 sends and receives nothing any more
//	lose 3          what client 3 sends next is lost
//	repeat          from now on every message arrives twice
//	late 3          what client 3 lost last arrives now
//	restart 3       client 3 begins anew, with fresh keys
//	partial 3       client 3 sends only its first chunk
//	collect         clients send what is due in this phase
//	close PHASE     the server closes it and its messages are delivered
//	remove 3        the chunks of an incomplete upload are taken out
//	sum             the sum is opened and compared with the dumb one
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s: another transcript (see -update):\n%s", file, got)
			}
		})
	}
}

// stage is a federation and the faults of its network.
type stage struct {
	*federation
	out      bytes.Buffer
	lose     map[int]bool
	lost     map[int][]byte
	twice    bool
	pending  map[int][]byte // answers that wait to be collected
	stored   map[int][]byte // chunks of incomplete uploads
	part     map[int]bool
	unmasked *secagg.Unmasking
}

func play(t *testing.T, script string) string {
	var s *stage
	var out strings.Builder
	for line := range strings.Lines(script) {
		command, isCommand := strings.CutPrefix(line, "> ")
		if !isCommand {
			if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
				out.WriteString(line)
			}
			continue
		}
		out.WriteString(line)
		words := strings.Fields(command)
		if words[0] == "clients" {
			s = newStage(t, words)
		}
		s.do(t, words)
		out.WriteString(s.out.String())
		s.out.Reset()
	}
	return out.String()
}

func newStage(t *testing.T, words []string) *stage {
	p := secagg.Params{Dim: 200, Bits: 16, Chunk: secagg.ChunkUnit}
	for i := 0; i < len(words); i += 2 {
		if words[i] == "hybrid" {
			p.Hybrid = true
			i--
			continue
		}
		n, err := strconv.Atoi(words[i+1])
		if err != nil {
			t.Fatal(err)
		}
		*map[string]*int{
			"clients": &p.Cohort, "threshold": &p.Threshold, "survivors": &p.MinSurvivors, "layers": &p.Layers, "bits": &p.Bits, "dim": &p.Dim,
		}[words[i]] = n
	}
	var noise secagg.LayerNoise
	if p.Layers > 0 {
		noise = marker
	}
	s := &stage{federation: federate(t, p, noise, 42), lose: map[int]bool{}, lost: map[int][]byte{}, pending: map[int][]byte{}, part: map[int]bool{}, stored: map[int][]byte{}}
	for i, c := range s.clients {
		s.pending[i] = c.Advertise()
	}
	return s
}

func (s *stage) do(t *testing.T, words []string) {
	client := func() int {
		n, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	switch words[0] {
	case "clients":
		claim, _ := s.p.Claim(true)
		fmt.Fprintf(&s.out, "%v; %v\n", s.p, claim)
	case "drop":
		s.gone[client()] = true
	case "lose":
		s.lose[client()] = true
	case "partial":
		s.part[client()] = true
	case "restart":
		s.restart(t, client())
	case "repeat":
		s.twice = true
	case "late":
		s.report(client(), s.server.Handle(s.id(client()), s.lost[client()]))
	case "collect":
		s.collect(t)
	case "close":
		s.close(words[1])
	case "remove":
		place, _ := s.server.Place(s.id(client()))
		s.report(client(), s.sums.Remove(place, s.stored[client()]))
	case "sum":
		s.sum()
	default:
		t.Fatalf("unknown command %q", words[0])
	}
}

// restart is a client that lost its state: it draws fresh keys and advertises them.
func (s *stage) restart(t *testing.T, i int) {
	config := secagg.ClientConfig{Params: s.p, Policy: policy(s.p), Key: s.keys[i], Roster: s.roster, Noise: s.noise}
	c, err := secagg.NewClient(config, seeded(uint64(1000+i)))
	if err != nil {
		t.Fatal(err)
	}
	s.clients[i] = c
	delete(s.pending, i)
	s.report(i, s.server.Handle(s.id(i), c.Advertise()))
}

// report prints an error by its kind, so that a transcript does not hang on wording.
func (s *stage) report(client int, err error) {
	if err != nil {
		fmt.Fprintf(&s.out, "client %d: %s\n", client, kinds(err))
	}
}

func kinds(err error) string {
	var names []string
	for name, kind := range map[string]error{
		"ErrStale": secagg.ErrStale, "ErrEarly": secagg.ErrEarly, "ErrConflict": secagg.ErrConflict, "ErrCohort": secagg.ErrCohort, "ErrShare": secagg.ErrShare,
		"ErrSurvivors": secagg.ErrSurvivors, "ErrDisagree": secagg.ErrDisagree, "ErrAbandoned": secagg.ErrAbandoned, "ErrIncomplete": secagg.ErrIncomplete,
		"ErrUnknown": secagg.ErrUnknown, "ErrMalformed": secagg.ErrMalformed, "ErrReplayedKey": secagg.ErrReplayedKey,
	} {
		if errors.Is(err, kind) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return err.Error()
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// collect lets clients send what is due.
func (s *stage) collect(t *testing.T) {
	phase := s.server.Phase()
	if phase == secagg.Upload {
		s.collectVectors(t)
	} else {
		for i := range s.clients {
			message, due := s.pending[i]
			if delete(s.pending, i); !due || s.gone[i] {
				continue
			}
			if s.lose[i] {
				delete(s.lose, i)
				s.lost[i] = message
				continue
			}
			for range s.times() {
				s.report(i, s.server.Handle(s.id(i), message))
			}
		}
	}
	arrived, expected := s.server.Arrived()
	fmt.Fprintf(&s.out, "%s: %d of %d arrived\n", phase, arrived, expected)
}

func (s *stage) times() int {
	if s.twice {
		return 2
	}
	return 1
}

func (s *stage) collectVectors(t *testing.T) {
	var err error
	if s.sums, err = s.server.Aggregator(0, s.p.Chunks()); err != nil {
		t.Fatal(err)
	}
	for i, c := range s.clients {
		place, member := s.server.Place(s.id(i))
		if s.gone[i] || !member {
			continue
		}
		for range s.times() {
			for chunk := range s.p.Chunks() {
				if chunk > 0 && s.part[i] {
					break
				}
				from := chunk * s.p.ChunkLen(0)
				message, err := c.MaskedChunk(chunk, s.vectors[i][from:from+s.p.ChunkLen(chunk)])
				if err != nil {
					s.report(i, err)
					break
				}
				s.stored[i] = message
				s.report(i, s.sums.Add(place, message))
			}
			if s.sums.Has(place) {
				s.report(i, s.server.Uploaded(s.id(i)))
			}
		}
	}
}

func (s *stage) close(name string) {
	phase := secagg.Advertise
	for phase.String() != name {
		phase++
	}
	out, err := s.server.Close(phase)
	if err != nil {
		fmt.Fprintf(&s.out, "refused: %s; the round is in phase %s\n", kinds(err), s.server.Phase())
		return
	}
	bytes, answered := 0, 0
	for _, m := range out.Send {
		bytes += len(m.Body)
		i := s.byID[m.To]
		if s.gone[i] {
			continue
		}
		for range s.times() {
			answer, err := s.clients[i].Handle(m.Body)
			s.report(i, err)
			if answer != nil {
				s.pending[i] = answer
			}
		}
		answered++
	}
	if s.unmasked = out.Unmasking; s.unmasked != nil {
		fmt.Fprintf(&s.out, "the sum of %d can be opened\n", len(s.names()))
		return
	}
	fmt.Fprintf(&s.out, "%d messages of %d bytes, %d clients are there\n", len(out.Send), bytes/len(out.Send), answered)
}

// names lists the clients in the sum by the numbers of the scenario.
func (s *stage) names() []int {
	var in []int
	for i := range s.clients {
		if place, ok := s.server.Place(s.id(i)); ok && s.unmasked.Survivors()[place] {
			in = append(in, i)
		}
	}
	return in
}

func (s *stage) sum() {
	if s.unmasked == nil {
		fmt.Fprintln(&s.out, "there is none")
		return
	}
	sum, err := s.open(s.unmasked)
	switch {
	case err != nil:
		fmt.Fprintf(&s.out, "refused: %s\n", kinds(err))
	case s.p.Layers > 0:
		kept := (sum[0] - s.plainSum(s.names())[0]) >> 16
		fmt.Fprintf(&s.out, "the sum of %v, with layers that add up to %d\n", s.names(), kept)
	case slices.Equal(sum, s.plainSum(s.names())):
		fmt.Fprintf(&s.out, "the exact sum of %v\n", s.names())
	default:
		fmt.Fprintln(&s.out, "WRONG SUM")
	}
}
