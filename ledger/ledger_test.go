package ledger

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hubbub/accountant"
)

func price(z float64) accountant.About {
	return accountant.About{Adjacency: accountant.ZeroOut, Unit: accountant.Client, Event: accountant.Gaussian{NoiseMultiplier: z}}
}

// book writes: round 1 charged to clients 3 and 5, round 2 voided, round 3 charged to everyone, round 4 left open.
func book(t testing.TB) (*Ledger, []byte) {
	t.Helper()
	l, err := New("run A", nil)
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	for _, e := range []Entry{
		{Kind: Reserve, Round: 1, Costs: []Cost{{"server", []int{3, 5, 7}, price(1)}}},
		{Kind: Charge, Round: 1, Costs: []Cost{{"server", []int{3, 5}, price(1)}}},
		{Kind: Reserve, Round: 2, Costs: []Cost{{"server", []int{3}, price(2)}}},
		{Kind: Void, Round: 2},
		{Kind: Reserve, Round: 3, Costs: []Cost{{"server", nil, price(3)}}},
		{Kind: Charge, Round: 3, Costs: []Cost{{"server", nil, price(3)}, {"public", nil, price(30)}}},
		{Kind: Reserve, Round: 4, Costs: []Cost{{"server", []int{5}, price(4)}}},
	} {
		sealed, err := l.Append(e)
		if err != nil {
			t.Fatal(err)
		}
		line, err := sealed.Line()
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, line...)
	}
	return l, file
}

func TestSpentCountsChargesAndOpenReservationsButNoVoids(t *testing.T) {
	l, _ := book(t)
	for _, c := range []struct {
		against string
		client  int
		want    []accountant.About
	}{
		{"server", 3, []accountant.About{price(1), price(3)}},
		{"server", 5, []accountant.About{price(1), price(3), price(4)}},
		{"server", 7, []accountant.About{price(3)}}, // was invited to round 1 but did not contribute
		{"public", 7, []accountant.About{price(30)}},
		{"clients", 7, nil},
	} {
		if got := l.Spent(c.against, c.client); !reflect.DeepEqual(got, c.want) {
			t.Errorf("client %d against %s: %v, want %v", c.client, c.against, got, c.want)
		}
	}
}

func TestAKeptLedgerIsReadBackWhole(t *testing.T) {
	l, file := book(t)
	entries, torn, err := Read(bytes.NewReader(file))
	if err != nil || torn != 0 || !reflect.DeepEqual(entries, l.Entries()) {
		t.Fatalf("torn %d, error %v\n%+v", torn, err, entries)
	}
	again, err := New("run A", entries)
	if err != nil || again.Head() != l.Head() {
		t.Fatalf("head %s, want %s, error %v", again.Head(), l.Head(), err)
	}
}

func TestATornLastLineIsToldFromABrokenOne(t *testing.T) {
	_, file := book(t)
	entries, torn, err := Read(bytes.NewReader(file[:len(file)-9]))
	if err != nil || len(entries) != 6 || torn == 0 {
		t.Errorf("%d entries, torn %d, error %v", len(entries), torn, err)
	}
}

// Whatever single byte is flipped, cut out or doubled, the ledger is refused, and the message names a line or entry.
func TestEveryChangeIsNoticed(t *testing.T) {
	l, file := book(t)
	verify := func(b []byte) error {
		entries, torn, err := Read(bytes.NewReader(b))
		if err != nil {
			return err
		}
		again, err := New("run A", entries)
		if err == nil && torn == 0 && again.Head() == l.Head() {
			return nil
		}
		if err == nil && len(entries) < len(l.Entries()) {
			return errShorter // a cut at the end is told from outside, by the head that someone else keeps
		}
		return err
	}
	if err := verify(file); err != nil {
		t.Fatal(err)
	}
	for i := range file {
		flipped := bytes.Clone(file)
		flipped[i] ^= 1
		cut := append(bytes.Clone(file[:i]), file[i+1:]...)
		doubled := append(bytes.Clone(file[:i+1]), file[i:]...)
		for name, b := range map[string][]byte{"flipped": flipped, "cut": cut, "doubled": doubled} {
			if err := verify(b); err == nil {
				t.Fatalf("byte %d (%q) %s: nobody noticed", i, file[i], name)
			}
		}
	}
	lines := bytes.SplitAfter(file, []byte("\n"))
	swapped := bytes.Join([][]byte{lines[0], lines[2], lines[1]}, nil)
	if err := verify(swapped); err == nil || !strings.Contains(err.Error(), "entry 2 stands where entry 1 belongs") {
		t.Errorf("swapped lines: %v", err)
	}
	if _, err := New("run B", l.Entries()); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("a ledger of another run: %v", err)
	}
}

var errShorter = json.Unmarshal([]byte("{"), &struct{}{})

func TestUnknownKindsAreNotKept(t *testing.T) {
	l, _ := New("run", nil)
	if _, err := l.Append(Entry{Kind: "refund", Round: 1}); err == nil || len(l.Entries()) != 0 {
		t.Errorf("a refund was kept: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	_, file := book(f)
	f.Add(file)
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"number":0,"kind":"charge","round":1,"costs":[{"against":"x","clients":null,"price":{"compose":[]}}],"before":"","hash":""}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, torn, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			line, err := e.Line()
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, line...)
		}
		if want := b[:len(b)-torn]; !bytes.Equal(again, want) {
			t.Fatalf("read %q, would write %q", want, again)
		}
	})
}
