package secagg

import (
	"errors"
	"testing"
)

// attack is a way to cheat that is really carried out. It worked if the attacker learned, or got accepted, what it must not.
type attack struct {
	fault   string // what it does
	check   check  // what stops it
	refusal error  // how
	// carry tries it and reports whether it worked; an error is the refusal that stopped it.
	carry func(t *testing.T) (worked bool, err error)
}

// The attacks of a lying server, of colluding clients and of strangers. attack_unsafe_test.go carries out the same with the check switched off.
var attacks = []attack{
	{"the server asks for both shares of a client, with a second set of survivors", checkOnce, ErrConflict, asksForBothShares},
	{"a second unmask request", checkOnce, ErrUnmasked, asksTwice},
	{"different survivor sets to different clients, for a sum below the minimum", checkConsent, ErrDisagree, splitsTheSurvivors},
	{"forged signatures under a set of survivors", checkConsent, ErrSignature, forgesConsent},
	{"a set of survivors below the minimum", checkMinimum, ErrSurvivors, shrinksTheSurvivors},
	{"a different model to the victim", checkModel, ErrSignature, showsAnotherModel},
	{"keys of an old round, whose secrets leaked, are replayed", checkKeySignature, ErrSignature, replaysOldKeys},
	{"forged keys in the name of all others", checkKeySignature, ErrSignature, forgesKeys},
	{"keys of low order", checkKeyOrder, ErrKey, usesLowOrderKeys},
	{"a corrupt share among exactly t", checkRestored, ErrShare, revealsACorruptShare},
}

func TestAttacksAreRefused(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.fault, func(t *testing.T) {
			worked, err := a.carry(t)
			if worked {
				t.Error("it worked")
			}
			if !errors.Is(err, a.refusal) {
				t.Errorf("refused with %v, want %v", err, a.refusal)
			}
		})
	}
}
