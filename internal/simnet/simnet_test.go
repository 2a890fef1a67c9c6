package simnet

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// echo answers every message and remembers what it got.
type echo struct {
	got   []string
	wakes []time.Duration
}

func (e *echo) Receive(now time.Time, from string, body []byte) Output {
	e.got = append(e.got, string(body))
	if len(body) > 0 && body[0] == '?' {
		return Output{Send: []Message{{from, []byte("!" + string(body[1:]))}}}
	}
	return Output{}
}

func (e *echo) Wake(now time.Time) Output {
	e.wakes = append(e.wakes, now.Sub(Start))
	return Output{}
}

// talk adds a node that sends these bodies to b at once, and the node b.
func talk(n *Network, bodies ...string) (a, b *echo) {
	a, b = &echo{}, &echo{}
	n.Add("b", func(time.Time) (Node, Output) { return b, Output{} })
	n.Add("a", func(time.Time) (Node, Output) {
		var out Output
		for _, body := range bodies {
			out.Send = append(out.Send, Message{"b", []byte(body)})
		}
		return a, out
	})
	return a, b
}

func numbered(count int) []string {
	bodies := make([]string, count)
	for i := range bodies {
		bodies[i] = fmt.Sprintf("?%04d", i)
	}
	return bodies
}

func TestAQuietNetworkDeliversEverythingOnce(t *testing.T) {
	n := New(1, Faults{})
	a, b := talk(n, numbered(100)...)
	n.Run(time.Hour, nil)
	slices.Sort(b.got)
	if !slices.Equal(b.got, numbered(100)) || len(a.got) != 100 {
		t.Errorf("b got %d messages, a %d answers", len(b.got), len(a.got))
	}
	if len(n.Counts()) != 0 {
		t.Errorf("faults: %s", n.Counts())
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	run := func(seed uint64) string {
		n := New(seed, Faults{Drop: 0.1, Duplicate: 0.1, Overtaken: 0.1, Truncate: 0.1, Corrupt: 0.1})
		talk(n, numbered(200)...)
		n.CutOff([]string{"a"}, nil, 30*time.Millisecond, 20*time.Millisecond)
		n.CrashNode("b", 60*time.Millisecond, 20*time.Millisecond)
		n.Run(time.Hour, nil)
		return n.Trace() + n.Counts().String()
	}
	first, again, other := run(7), run(7), run(8)
	if first != again {
		t.Error("seed 7 gave two runs")
	}
	if first == other {
		t.Error("seeds 7 and 8 gave one run")
	}
}

// Sample size 10,000 messages at odds of 0.2; a count may be off by 5 standard deviations (200), a false alarm of 6e-7 each.
func TestFaultsHappenAsOftenAsAskedFor(t *testing.T) {
	for kind, faults := range map[Kind]Faults{
		Drop: {Drop: 0.2}, Duplicate: {Duplicate: 0.2}, Overtaken: {Overtaken: 0.2}, Truncate: {Truncate: 0.2}, Corrupt: {Corrupt: 0.2},
	} {
		n := New(3, faults)
		bodies := numbered(10000)
		for i := range bodies {
			bodies[i] = "x" + bodies[i] // no answers
		}
		_, b := talk(n, bodies...)
		n.Run(time.Hour, nil)
		times := n.Counts()[kind]
		if math.Abs(float64(times)-2000) > 200 || len(n.Counts()) != 1 {
			t.Errorf("%s: counted %s, expected about 2000 of it alone", kind, n.Counts())
		}
		whole := 0
		for _, body := range b.got {
			if len(body) == 6 {
				whole++
			}
		}
		arrived := map[Kind]int{Drop: 10000 - times, Duplicate: 10000 + times, Overtaken: 10000, Truncate: 10000, Corrupt: 10000}[kind]
		changed := 0
		for _, body := range b.got {
			if !slices.Contains(bodies[:1], body) && (len(body) != 6 || body[:2] != "x?" || strings.Trim(body[2:], "0123456789") != "") {
				changed++
			}
		}
		if len(b.got) != arrived {
			t.Errorf("%s: %d arrived, want %d", kind, len(b.got), arrived)
		}
		if kind == Truncate && 10000-whole != times {
			t.Errorf("%d truncated, %d shorter", times, 10000-whole)
		}
		if (changed > 0) != (kind == Truncate || kind == Corrupt) {
			t.Errorf("%s: %d bodies changed", kind, changed)
		}
		if inOrder := slices.IsSorted(b.got); inOrder {
			t.Errorf("%s: 10,000 messages with random delays arrived in order", kind)
		}
	}
}

func TestPartitionsAreOneWayAndHeal(t *testing.T) {
	n := New(1, Faults{MinDelay: time.Millisecond, MaxDelay: time.Millisecond})
	a, b := talk(n)
	say := func(from string, at time.Duration) {
		to := map[string]string{"a": "b", "b": "a"}[from]
		n.At(at, func() { n.act(from, n.nodes[from], Output{Send: []Message{{to, []byte(at.String())}}}) })
	}
	n.CutOff([]string{"a"}, []string{"b"}, 10*time.Millisecond, 10*time.Millisecond)
	for _, at := range []time.Duration{5, 15, 25} {
		say("a", at*time.Millisecond)
		say("b", at*time.Millisecond)
	}
	n.Run(time.Second, nil)
	if !slices.Equal(b.got, []string{"5ms", "25ms"}) || len(a.got) != 3 {
		t.Errorf("b got %v, a got %v", b.got, a.got)
	}
	if n.Counts()[Cut] != 1 || n.Counts()[Partition] != 1 {
		t.Errorf("counted %s", n.Counts())
	}
}

// clock asks to be woken and counts its lives.
type clock struct{ echo }

func TestACrashEndsStateTimersAndMessages(t *testing.T) {
	n := New(1, Faults{MinDelay: time.Millisecond, MaxDelay: time.Millisecond})
	var lives []*clock
	n.Add("c", func(now time.Time) (Node, Output) {
		lives = append(lives, &clock{})
		return lives[len(lives)-1], Output{WakeAt: now.Add(50 * time.Millisecond)}
	})
	n.Add("d", func(now time.Time) (Node, Output) { return &echo{}, Output{} })
	n.CrashNode("c", 20*time.Millisecond, 20*time.Millisecond)
	n.CrashNode("d", 20*time.Millisecond, 0)
	n.At(30*time.Millisecond, func() {
		n.act("d", n.nodes["d"], Output{Send: []Message{{"c", []byte("lost")}}})
		n.act("c", n.nodes["c"], Output{Send: []Message{{"d", []byte("lost")}}})
	})
	n.Run(time.Second, nil)
	if len(lives) != 2 || len(lives[0].wakes) != 0 || !slices.Equal(lives[1].wakes, []time.Duration{90 * time.Millisecond}) {
		t.Fatalf("%d lives, wakes %v", len(lives), lives[0].wakes)
	}
	if len(lives[1].got) != 0 || n.Counts()[Down] != 2 || n.Counts()[Crash] != 2 || n.Counts()[Restart] != 1 {
		t.Errorf("got %v, counted %s", lives[1].got, n.Counts())
	}
}

func TestOnlyTheLastWakeAtFires(t *testing.T) {
	n := New(1, Faults{})
	e := &echo{}
	n.Add("e", func(now time.Time) (Node, Output) { return e, Output{WakeAt: now.Add(time.Second)} })
	n.At(time.Millisecond, func() { n.act("e", n.nodes["e"], Output{WakeAt: Start.Add(3 * time.Second)}) })
	n.Run(time.Hour, nil)
	if !slices.Equal(e.wakes, []time.Duration{3 * time.Second}) {
		t.Errorf("woken at %v", e.wakes)
	}
}

func TestBodiesAreNotShared(t *testing.T) {
	n := New(2, Faults{Duplicate: 1})
	var got [][]byte
	mine := []byte("mine")
	n.Add("b", func(time.Time) (Node, Output) { return spoiler{&got}, Output{} })
	n.Add("a", func(time.Time) (Node, Output) { return &echo{}, Output{Send: []Message{{"b", mine}}} })
	copy(mine, "xxxx") // after it was sent
	n.Run(time.Second, nil)
	if len(got) != 2 || !bytes.Equal(got[0], []byte("mine")) || !bytes.Equal(got[1], []byte("mine")) {
		t.Errorf("got %q", got)
	}
}

// spoiler overwrites what it is given.
type spoiler struct{ got *[][]byte }

func (s spoiler) Receive(_ time.Time, _ string, body []byte) Output {
	*s.got = append(*s.got, bytes.Clone(body))
	clear(body)
	return Output{}
}
func (s spoiler) Wake(time.Time) Output { return Output{} }

func TestRunStopsWhenDoneOrOutOfTime(t *testing.T) {
	n := New(1, Faults{})
	_, b := talk(n, numbered(50)...)
	n.Run(time.Hour, func() bool { return len(b.got) == 10 })
	if len(b.got) != 10 {
		t.Errorf("%d messages were handled, want 10", len(b.got))
	}
	if passed := n.Run(50*time.Millisecond, nil); passed > 50*time.Millisecond || len(b.got) == 50 {
		t.Errorf("ran for %v and handled %d", passed, len(b.got))
	}
}

// The child below fails on seed 3 in a process of its own, where a failure is what is looked for.
func TestAFailingSeedPrintsItsReplay(t *testing.T) {
	run := func(environment ...string) string {
		command := exec.Command(os.Args[0], "-test.run=^TestChildFailsOnSeedThree$", "-test.v")
		command.Env = append(os.Environ(), append(environment, "SIMNET_CHILD=1")...)
		out, err := command.CombinedOutput()
		if err == nil {
			t.Fatalf("the child passed:\n%s", out)
		}
		return string(out)
	}
	const replay = "HUBBUB_SEED=3 go test -v -run '^TestChildFailsOnSeedThree$' ."
	if out := run(); !strings.Contains(out, replay) || strings.Count(out, "seed ran") != 4 {
		t.Errorf("printed\n%s\nwithout %s", out, replay)
	}
	if out := run("HUBBUB_SEED=3"); !strings.Contains(out, replay) || strings.Count(out, "seed ran") != 1 {
		t.Errorf("the replay printed\n%s", out)
	}
	if out := run("HUBBUB_SEED=three"); !strings.Contains(out, "is no seed") {
		t.Errorf("a bad seed printed\n%s", out)
	}
}

func TestChildFailsOnSeedThree(t *testing.T) {
	if os.Getenv("SIMNET_CHILD") == "" {
		t.Skip("runs as a child of TestAFailingSeedPrintsItsReplay")
	}
	Seeds(t, 10, func(t *testing.T, seed uint64) {
		t.Log("seed ran")
		if seed == 3 {
			t.Fatal("as asked")
		}
	})
}
