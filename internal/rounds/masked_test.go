package rounds

import (
	"slices"
	"strings"
	"testing"

	"hubbub/ledger"
)

// A masked sum is paid for when it is known whose it is, and opened only then.
func TestAMaskedRoundIsChargedBeforeItsSumIsOpened(t *testing.T) {
	e := everyone(t, func(c *Config) { c.Tolerated = func(int) int { return 1 } })
	step(t, e, 0, Begin{})
	refused := func(in Input, want string) {
		t.Helper()
		if _, err := e.Step(start, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%#v: %v, want %q", in, err, want)
		}
	}
	refused(Opened{Round: 1, Sum: []int64{1, 2}}, "was not charged for")
	refused(Survivors{Round: 1, Clients: []int{0, 0}}, "stands twice")
	refused(Survivors{Round: 1, Clients: []int{0, 7}}, "is not awaited")
	refused(Survivors{Round: 2, Clients: []int{0, 1}}, "is not open")
	out := step(t, e, 0, Survivors{Round: 1, Clients: []int{2, 0}})
	if len(out.Charge) != 1 || out.Charge[0].Kind != ledger.Charge || !slices.Equal(out.Charge[0].Costs[0].Clients, []int{0, 2}) || out.Release != nil {
		t.Fatalf("survivors: %+v", out)
	}
	refused(Begin{}, "still open")
	refused(Survivors{Round: 1, Clients: []int{0, 2}}, "is not open")
	refused(Contribution{Round: 1, Clients: []int{1}, Sum: []int64{1, 2}}, "is not open")
	refused(Opened{Round: 1, Sum: []int64{1}}, "the round takes 2")
	out = step(t, e, 0, Opened{Round: 1, Sum: []int64{5, -6}})
	if out.Release == nil || !slices.Equal(out.Release.Sum, []int64{5, -6}) || out.Release.Contributors != 2 || out.Charge != nil {
		t.Fatalf("opened: %+v", out)
	}
	refused(Opened{Round: 1, Sum: []int64{5, -6}}, "was not charged for")

	step(t, e, 0, Begin{})
	out = step(t, e, 0, Survivors{Round: 2, Clients: []int{1}})
	if out.Abandon == nil || !strings.Contains(out.Abandon.Why, "1 of 3 invited clients contributed, the minimum is 2") || out.Charge[0].Kind != ledger.Void {
		t.Fatalf("too many dropouts: %+v", out)
	}
	refused(Opened{Round: 2, Sum: []int64{5, -6}}, "was not charged for")
	if !e.Done() {
		t.Error("the last round is over")
	}
}
